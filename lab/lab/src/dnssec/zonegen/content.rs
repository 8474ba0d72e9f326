//! Apex and delegations of a made-up top-level domain, in presentation format.

use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use oarlock_dnssec::{DigestType, DnssecAlgorithm, DomainName};

use super::names::{SeededNumbers, write_label};

/// The share of delegations with a DS is a whole number of these.
const PARTS: u64 = 1_000_000;
/// One of so many delegations has name servers that others use.
const PER_PROVIDER: u64 = 1000;
/// Providers outside the zone.
const OUTSIDERS: u64 = 2000;
/// Separates the seeds of outsiders' names from those of delegations.
const OUTSIDE: u64 = 0x006f_7574_7369_6465;
const DIGEST_LEN: usize = 32;

/// A zone that is written piece by piece and is never in memory as a whole.
#[derive(Debug)]
pub(super) struct ZoneContent {
    /// The zone, with a dot at the end.
    pub(super) origin: String,
    pub(super) delegations: u64,
    ds_parts: u64,
    seed: u64,
    /// In-zone providers are the first delegations.
    providers: u64,
    /// A reserved top-level domain (RFC 6761 6.2, 6.4) that is not the zone's own.
    outside: &'static str,
}

/// The owner of a delegation's name servers.
enum DelegationServers {
    Own,
    /// Of another delegation, which brings their addresses.
    Inside(u64),
    Outside(u64),
}

impl ZoneContent {
    pub(super) fn new(origin: DomainName<'_>, delegations: u64, ds_share: f64, seed: u64) -> Self {
        let is_test = origin.last_labels(1).as_bytes() == b"\x04test\0";
        Self {
            origin: origin.to_string(),
            delegations,
            ds_parts: (ds_share * PARTS as f64).round() as u64,
            seed,
            providers: delegations.div_ceil(PER_PROVIDER),
            outside: if is_test { "invalid" } else { "test" },
        }
    }

    /// True for exactly as many delegations as the share says.
    pub(super) fn has_ds(&self, index: u64) -> bool {
        let count = |index: u64| u128::from(index) * u128::from(self.ds_parts) / u128::from(PARTS);
        count(index + 1) > count(index)
    }

    /// Appends SOA, NS and their hosts, and returns the number of records.
    pub(super) fn write_apex(&self, out: &mut Vec<u8>) -> u64 {
        let lines = [
            "@ IN SOA a.nic hostmaster.nic 1 1800 900 604800 86400",
            "@ IN NS a.nic",
            "@ IN NS b.nic",
            "a.nic IN A 198.18.0.1",
            "a.nic IN AAAA 2001:db8::1",
            "b.nic IN A 198.18.0.2",
        ];
        out.extend_from_slice(format!("$ORIGIN {}\n$TTL 172800\n", self.origin).as_bytes());
        for line in lines {
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
        lines.len() as u64
    }

    /// Appends a delegation, and returns the number of records.
    pub(super) fn write_delegation(&self, index: u64, out: &mut Vec<u8>) -> u64 {
        let mut numbers = SeededNumbers::new(self.seed, index);
        let mut label = Vec::with_capacity(64);
        write_label(self.seed, index, &mut label);
        let mut records = match self.servers(index, &mut numbers) {
            DelegationServers::Own => self.write_own(&label, &mut numbers, out),
            DelegationServers::Inside(provider) => {
                let mut host = Vec::with_capacity(64);
                write_label(self.seed, provider, &mut host);
                write_servers(&label, 2, &host, out)
            }
            DelegationServers::Outside(provider) => {
                let mut host = Vec::with_capacity(64);
                write_label(self.seed ^ OUTSIDE, provider, &mut host);
                host.push(b'.');
                host.extend_from_slice(self.outside.as_bytes());
                host.push(b'.');
                write_servers(&label, server_count(&mut numbers), &host, out)
            }
        };
        if self.has_ds(index) {
            records += write_ds(&label, &mut numbers, out);
        }
        records
    }

    fn servers(&self, index: u64, numbers: &mut SeededNumbers) -> DelegationServers {
        match numbers.below(10) {
            _ if index < self.providers => DelegationServers::Own,
            0 => DelegationServers::Own,
            1 | 2 => DelegationServers::Inside(numbers.below(self.providers)),
            _ => DelegationServers::Outside(numbers.below(OUTSIDERS)),
        }
    }

    /// Two servers below the delegation, with their addresses.
    fn write_own(&self, label: &[u8], numbers: &mut SeededNumbers, out: &mut Vec<u8>) -> u64 {
        let mut records = write_servers(label, 2, label, out);
        for host in 1..=2 {
            write_line(out, &[server(host), label, b" IN A "]);
            let number = numbers.next();
            let address = Ipv4Addr::from_bits(0xc612_0000 | (number & 0x1_ffff) as u32);
            records += end_line(out, &address);
            if number >> 32 & 3 == 0 {
                write_line(out, &[server(host), label, b" IN AAAA "]);
                let address = Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(numbers.next()));
                records += end_line(out, &address);
            }
        }
        records
    }
}

/// Two servers are usual, three or four are not rare.
fn server_count(numbers: &mut SeededNumbers) -> u8 {
    match numbers.below(20) {
        0 => 4,
        1 | 2 => 3,
        _ => 2,
    }
}

fn server(host: u8) -> &'static [u8] {
    [&b"ns1."[..], b"ns2.", b"ns3.", b"ns4."][usize::from(host - 1) & 3]
}

fn write_servers(label: &[u8], count: u8, host: &[u8], out: &mut Vec<u8>) -> u64 {
    for at in 1..=count {
        write_line(out, &[label, b" IN NS ", server(at), host, b"\n"]);
    }
    count.into()
}

/// One DS, or two of a key that is being changed.
fn write_ds(label: &[u8], numbers: &mut SeededNumbers, out: &mut Vec<u8>) -> u64 {
    let count = if numbers.below(20) == 0 { 2 } else { 1 };
    let algorithm =
        if numbers.below(5) < 2 { DnssecAlgorithm::RSASHA256 } else { DnssecAlgorithm::ECDSAP256SHA256 };
    for _ in 0..count {
        write_line(out, &[label, b" 86400 IN DS "]);
        let tag = numbers.next() as u16;
        let head = format_args!("{tag} {} {} ", algorithm.0, DigestType::SHA256.0).to_string();
        out.extend_from_slice(head.as_bytes());
        for _ in 0..DIGEST_LEN / 8 {
            write_hex(numbers.next(), out);
        }
        out.push(b'\n');
    }
    count
}

fn write_hex(number: u64, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for at in (0..16).rev() {
        out.push(DIGITS[(number >> (4 * at) & 15) as usize]);
    }
}

fn write_line(out: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// One record more.
fn end_line(out: &mut Vec<u8>, address: &dyn std::fmt::Display) -> u64 {
    // Writing to memory does not fail.
    let _ = writeln!(out, "{address}");
    1
}
