use super::*;
use crate::Accelerator;

const GROUPS: [Group; 6] = [
    Group::X25519,
    Group::SecP256r1,
    Group::SecP384r1,
    Group::X25519MlKem768,
    Group::SecP256r1MlKem768,
    Group::SecP384r1MlKem1024,
];

const HYBRIDS: [Group; 3] = [Group::X25519MlKem768, Group::SecP256r1MlKem768, Group::SecP384r1MlKem1024];

struct Exchange {
    accelerator: Accelerator,
}

impl Exchange {
    fn new() -> Self {
        Self { accelerator: Accelerator::builder().engines(["scalar"]).lazy().build().unwrap() }
    }

    fn run(&self, jobs: &[Job<'_>]) -> Result<Zeroizing<Vec<u8>>, JobError> {
        self.accelerator.run_all(jobs).joined()
    }

    fn client(&self, group: Group) -> (ClientKey, Vec<u8>) {
        let key = ClientKey::generate(group).unwrap();
        let share = key.share(&self.run(&key.share_jobs()).unwrap()).unwrap();
        (key, share)
    }

    fn answer(&self, group: Group, share: &[u8]) -> Result<ServerAnswer, ShareError> {
        let client = ClientShare::read(group, share)?;
        let server = ServerKey::generate(&client)?;
        Ok(server.finish(&self.run(&server.jobs()).unwrap()).unwrap())
    }

    fn secret(&self, key: &ClientKey, share: &[u8]) -> Result<Zeroizing<Vec<u8>>, JobError> {
        key.secret(&self.run(&key.secret_jobs(share).unwrap())?)
    }
}

/// RFC 8446 4.2.8.2; RFC 10024 section 4, tables of lengths.
#[test]
fn shares_and_secrets_have_the_lengths_of_the_standards() {
    let lens = GROUPS.map(|group| (group.client_share_len(), group.server_share_len(), group.secret_len()));
    assert_eq!(lens[..3], [(32, 32, 32), (65, 65, 32), (97, 97, 48)]);
    assert_eq!(lens[3..], [(1216, 1120, 64), (1249, 1153, 64), (1665, 1665, 80)]);
}

#[test]
fn both_sides_agree_and_the_halves_stand_in_the_order_of_the_standard() {
    let exchange = Exchange::new();
    for group in GROUPS {
        let (client, share) = exchange.client(group);
        assert_eq!(share.len(), group.client_share_len());
        let answer = exchange.answer(group, &share).unwrap();
        assert_eq!(answer.share.len(), group.server_share_len());
        let secret = exchange.secret(&client, &answer.share).unwrap();
        assert_eq!((secret.len(), &secret), (group.secret_len(), &answer.secret), "{group:?}");
        // An uncompressed point begins with 4.
        assert!(group.nist_curve().is_none() || share[0] == 4 && answer.share[0] == 4, "{group:?}");
        let (ciphertext, of_curve) = group.split_server_share(&answer.share).unwrap();
        let of_curve = exchange.secret(&client.clone().into_curve_key(), of_curve).unwrap();
        let of_ml_kem = client.ml_kem.iter().map(|key| Job::decapsulate(key, ciphertext));
        let of_ml_kem = exchange.run(&of_ml_kem.collect::<Vec<_>>()).unwrap();
        let expected = match group {
            Group::X25519MlKem768 => [&of_ml_kem[..], &of_curve].concat(),
            _ => [&of_curve[..], &of_ml_kem].concat(),
        };
        assert_eq!(*secret, expected, "{group:?}");
    }
}

#[test]
fn shares_of_another_length_are_named() {
    let exchange = Exchange::new();
    for group in GROUPS {
        let (client, share) = exchange.client(group);
        let answer = exchange.answer(group, &share).unwrap().share;
        for share in [&share, &answer] {
            for wrong in [&share[1..], &share[..share.len() - 1], &[], &[&share[..], &[0]].concat()] {
                let error =
                    |expected| ShareError::Length { group: group.name(), expected, found: wrong.len() };
                let found = ClientShare::read(group, wrong).unwrap_err();
                assert_eq!(found, error(group.client_share_len()));
                let found = client.secret_jobs(wrong).unwrap_err();
                assert_eq!(found, error(group.server_share_len()));
            }
        }
    }
}

/// The other half is valid in every case.
#[test]
fn one_invalid_half_is_enough() {
    let exchange = Exchange::new();
    for group in HYBRIDS {
        let (client, share) = exchange.client(group);
        let (ml_kem, of_curve) = group.split_client_share(&share).unwrap();
        let zeros = vec![0; of_curve.len()];
        let error = ClientShare::read(group, &group.join(ml_kem, &zeros)).unwrap_err();
        assert_eq!(error == ShareError::SmallOrder, group.nist_curve().is_none(), "{error}");
        // The first coefficient is 4095, above q.
        let mut beyond = ml_kem.to_vec();
        beyond[..2].copy_from_slice(&[0xFF, 0x0F]);
        let error = ClientShare::read(group, &group.join(&beyond, of_curve)).unwrap_err();
        assert!(matches!(error, ShareError::PublicKey(KeyError::EncapsulationKey { .. })), "{error}");

        let answer = exchange.answer(group, &share).unwrap();
        let (ciphertext, of_curve) = group.split_server_share(&answer.share).unwrap();
        let error = exchange.secret(&client, &group.join(ciphertext, &zeros)).unwrap_err();
        assert!(matches!(error, JobError::SmallOrderPeer | JobError::PeerNotOnCurve), "{error}");
        // Every ciphertext gives a secret, which is not the other side's. FIPS 203 6.3.
        let mut changed = ciphertext.to_vec();
        changed[7] ^= 1;
        let other = exchange.secret(&client, &group.join(&changed, of_curve)).unwrap();
        assert_ne!(other, answer.secret, "{group:?}");
    }
}

/// q itself is the smallest coefficient that is refused, and q - 1 the largest that passes. FIPS 203 7.2.
#[test]
fn coefficients_of_the_encapsulation_key_are_below_q() {
    let (_, share) = Exchange::new().client(Group::X25519MlKem768);
    for (coefficient, is_valid) in [(3_328_u16, true), (3_329, false)] {
        // The last of 768: its 12 bits are the upper half of a byte, and the byte behind it.
        let mut share = share.clone();
        let end = MlKemSet::MlKem768.public_len() - 32;
        let [high, low] = (coefficient << 4).to_be_bytes();
        share[end - 2] = share[end - 2] & 0x0F | low;
        share[end - 1] = high;
        assert_eq!(ClientShare::read(Group::X25519MlKem768, &share).is_ok(), is_valid, "{coefficient}");
    }
}

#[test]
fn points_off_the_curve_are_refused() {
    let exchange = Exchange::new();
    for group in [Group::SecP256r1, Group::SecP384r1MlKem1024] {
        let (_, share) = exchange.client(group);
        let (ml_kem, point) = group.split_client_share(&share).unwrap();
        for change in [0, 1, point.len() - 1] {
            let mut point = point.to_vec();
            point[change] ^= 1;
            let error = ClientShare::read(group, &group.join(ml_kem, &point)).unwrap_err();
            assert!(matches!(error, ShareError::PublicKey(_)), "byte {change}: {error}");
        }
    }
}

#[test]
fn answers_of_other_jobs_make_no_secret() {
    let exchange = Exchange::new();
    for group in GROUPS {
        let (client, share) = exchange.client(group);
        let share = ClientShare::read(group, &share).unwrap();
        let server = ServerKey::generate(&share).unwrap();
        let answers = exchange.run(&server.jobs()).unwrap();
        for wrong in [&answers[1..], &[&answers[..], &[0]].concat(), &[]] {
            assert_eq!(server.finish(wrong).unwrap_err(), WRONG_ANSWERS, "{group:?}");
            assert_eq!(client.secret(wrong).unwrap_err(), WRONG_ANSWERS, "{group:?}");
        }
    }
}

#[test]
fn points_of_small_order_are_those_that_the_engine_refuses() {
    let exchange = Exchange::new();
    let key = ephemeral_curve_key(Group::X25519).unwrap();
    let is_refused = |u: &[u8]| exchange.run(&[Job::agree(&key, u)]).is_err();
    let mut encodings = vec![BASE_U, [0x55; 32]];
    for first in 0..=4 {
        let mut small = [0; 32];
        small[0] = first;
        let mut large = [0xFF; 32];
        large[0] = 0xEA + first;
        large[31] = 0x7F;
        encodings.extend([small, large]);
    }
    for base in [
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    ] {
        let byte = |at: usize| u8::from_str_radix(&base[2 * at..2 * at + 2], 16).unwrap();
        let point = std::array::from_fn(byte);
        let mut beside: [u8; 32] = point;
        beside[3] ^= 1;
        encodings.extend([point, beside]);
    }
    for mut u in encodings {
        for _ in 0..2 {
            assert_eq!(is_of_small_order(&u), is_refused(&u), "{u:02x?}");
            u[31] ^= 0x80;
        }
    }
}
