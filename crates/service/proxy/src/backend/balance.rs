//! The choice among the endpoints of a backend.

use std::net::IpAddr;

use crate::config::BalanceRule;

/// The properties of an endpoint that a choice looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct BalanceInput {
    /// The number of the endpoint's open connections.
    pub(super) open: usize,
    /// A number of the endpoint that is the same in every process.
    pub(super) seed: u64,
}

/// Returns the index of the chosen endpoint, None if there is none. `turn` is the number of the connection.
pub(super) fn choose_endpoint(
    rule: BalanceRule,
    inputs: &[BalanceInput],
    turn: usize,
    client: Option<IpAddr>,
) -> Option<usize> {
    let first = turn.checked_rem(inputs.len())?;
    match (rule, client) {
        (BalanceRule::SourceHash, Some(client)) => {
            let client = client_number(client);
            (0..inputs.len()).max_by_key(|index| mix(inputs[*index].seed ^ client))
        }
        // Among equals each one in turn.
        (BalanceRule::LeastConnections, _) => {
            let rotated = (first..inputs.len()).chain(0..first);
            rotated.min_by_key(|index| inputs[*index].open)
        }
        // Clients of a UNIX socket have no address.
        (BalanceRule::RoundRobin | BalanceRule::SourceHash, _) => Some(first),
    }
}

/// Returns a number for an address. IPv4 addresses that are mapped into IPv6 are those of IPv4.
fn client_number(client: IpAddr) -> u64 {
    let bits = match client.to_canonical() {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    };
    mix(mix((bits >> 64) as u64) ^ bits as u64)
}

/// Returns a number for an address of an endpoint, by FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv.
pub(super) fn endpoint_seed(address: &str) -> u64 {
    mix(address
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)))
}

/// Mixes the bits of a number. Equal in all processes and versions, so that several proxies choose alike. The finaliser
/// of SplitMix64, from https://doi.org/10.1145/2714064.2660195.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoints(addresses: &[&str]) -> Vec<BalanceInput> {
        let input = |address: &&str| BalanceInput { open: 0, seed: endpoint_seed(address) };
        addresses.iter().map(input).collect()
    }

    fn clients() -> impl Iterator<Item = IpAddr> {
        (0..10_000_u32).map(|number| IpAddr::from((0x0a00_0000 + number).to_be_bytes()))
    }

    #[test]
    fn turns_are_taken_one_after_the_other() {
        let inputs = endpoints(&["a:1", "b:1", "c:1"]);
        let turns = (0..6).map(|turn| choose_endpoint(BalanceRule::RoundRobin, &inputs, turn, None).unwrap());
        assert_eq!(turns.collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
        assert_eq!(choose_endpoint(BalanceRule::RoundRobin, &[], 0, None), None);
    }

    #[test]
    fn the_fewest_connections_count_and_equals_take_turns() {
        let mut inputs = endpoints(&["a:1", "b:1", "c:1"]);
        for turn in 0..99 {
            let chosen = choose_endpoint(BalanceRule::LeastConnections, &inputs, turn, None).unwrap();
            inputs[chosen].open += 1;
        }
        assert!(inputs.iter().all(|input| input.open == 33), "{inputs:?}");
        inputs[1].open = 30;
        assert_eq!(choose_endpoint(BalanceRule::LeastConnections, &inputs, 0, None), Some(1));
    }

    #[test]
    fn a_lost_endpoint_moves_its_own_clients_only() {
        let all = endpoints(&["a:1", "b:1", "c:1", "d:1"]);
        let choose = |inputs: &[BalanceInput], client| {
            choose_endpoint(BalanceRule::SourceHash, inputs, 0, Some(client)).unwrap()
        };
        let mut moved_to = [0; 4];
        for client in clients() {
            let before = choose(&all, client);
            let after = choose(&all[..3], client);
            if before == 3 {
                moved_to[after] += 1;
            } else {
                assert_eq!(before, after);
            }
        }
        // The clients of the lost one are spread over the others: a quarter of 10,000 in three parts.
        assert!(moved_to[..3].iter().all(|&moved| (700..1_000).contains(&moved)), "{moved_to:?}");
    }

    #[test]
    fn clients_are_spread_evenly_and_mapped_addresses_are_equal() {
        let inputs = endpoints(&["10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"]);
        let mut counts = [0; 3];
        for client in clients() {
            let rule = BalanceRule::SourceHash;
            let chosen = choose_endpoint(rule, &inputs, 7, Some(client)).unwrap();
            counts[chosen] += 1;
            let IpAddr::V4(address) = client else { unreachable!() };
            let mapped = IpAddr::from(address.to_ipv6_mapped());
            assert_eq!(choose_endpoint(rule, &inputs, 8, Some(mapped)), Some(chosen));
        }
        assert!(counts.iter().all(|&count| (3_000..3_700).contains(&count)), "{counts:?}");
        // Every version has to choose alike: sessions of applications depend on it.
        assert_eq!(endpoint_seed("10.0.0.1:80"), PUBLISHED_SEED);
    }

    /// Computed by hand from the definitions of both functions.
    const PUBLISHED_SEED: u64 = 0xdf1d_561f_bd00_135a;
}
