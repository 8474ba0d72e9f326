//! RSA keys to time with. They are published with the source and worth nothing (see `published/README.md`).

use oarlock::Key;
use oarlock::keys::{KeyError, generate, import};

/// The number of published keys of each size.
pub(super) const PER_SIZE: usize = 2;

const PUBLISHED: [(u16, [&[u8]; PER_SIZE]); 4] = [
    (1024, [include_bytes!("published/rsa1024-1.pem"), include_bytes!("published/rsa1024-2.pem")]),
    (2048, [include_bytes!("published/rsa2048-1.pem"), include_bytes!("published/rsa2048-2.pem")]),
    (3072, [include_bytes!("published/rsa3072-1.pem"), include_bytes!("published/rsa3072-2.pem")]),
    (4096, [include_bytes!("published/rsa4096-1.pem"), include_bytes!("published/rsa4096-2.pem")]),
];

/// Returns `count` keys of a size. Keys beyond the published ones are generated now, which is slow.
pub(super) fn rsa_keys(bits: u16, count: usize) -> Result<Vec<Key>, KeyError> {
    let published = PUBLISHED.iter().filter(|(size, _)| *size == bits).flat_map(|(_, keys)| keys);
    let imported = published.map(|pem| import::pkcs8_pem(pem));
    imported.chain(std::iter::repeat_with(|| generate::rsa(bits))).take(count).collect()
}

#[cfg(test)]
mod tests {
    use oarlock::KeyKind;

    use super::*;

    #[test]
    fn published_keys_are_of_their_size_and_differ() {
        for (bits, _) in PUBLISHED {
            let keys = rsa_keys(bits, PER_SIZE).unwrap();
            assert!(keys.iter().all(|key| key.kind() == KeyKind::RsaPrivate(bits)), "{bits}: {keys:?}");
            assert_ne!(keys[0].fingerprint(), keys[1].fingerprint());
        }
    }

    #[test]
    fn a_third_small_key_is_made() {
        assert_eq!(rsa_keys(1024, 3).unwrap()[2].kind(), KeyKind::RsaPrivate(1024));
    }
}
