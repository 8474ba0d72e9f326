//! Truncated and corrupted files on a stable toolchain: what the fuzz targets do at random is done here in full for
//! every fixture. Nothing panics, nothing truncated passes, and no corrupted RSA key is taken for another.

use oarlock_core::{Key, KeyKind};
use oarlock_keys::{KeyError, Passphrase, WorkLimits, import};

use crate::support::{der, fixtures, passphrase};

/// Enough for the fixtures with PBKDF2; scrypt is parsed and refused.
fn cheap() -> Passphrase {
    let limits =
        WorkLimits { pbkdf2_iterations: 2048, scrypt_memory_bytes: 1 << 16, scrypt_work_bytes: 1 << 16 };
    passphrase().with_limits(limits)
}

/// Decrypts nothing: for tests of the text around.
fn idle() -> Passphrase {
    passphrase().with_limits(WorkLimits {
        pbkdf2_iterations: 0,
        scrypt_memory_bytes: 0,
        scrypt_work_bytes: 0,
    })
}

/// The structures as DER. What is PEM alone is left out, and for time what only repeats others at greater cost.
fn structures() -> impl Iterator<Item = (String, Vec<u8>)> {
    let left_out = [
        "rsa2048-legacy-encrypted.pem",
        "rsa4096.pem",
        "rsa8192.pem",
        "rsa2048-pbes2-default.pem",
        "p256-pbes2-sha384-aes256.pem",
        "p256-pbes2-sha512-aes192.pem",
    ];
    let names = fixtures().into_iter().map(|(name, _)| name);
    names.filter(move |name| !left_out.contains(&name.as_str())).map(|name| (name.clone(), der(&name)))
}

fn every_import(bytes: &[u8], passphrase: &Passphrase) -> Vec<Result<Key, KeyError>> {
    vec![
        import::any(bytes, Some(passphrase)),
        import::pkcs8_der(bytes),
        import::encrypted_pkcs8_der(bytes, passphrase),
        import::pkcs1_private_der(bytes),
        import::pkcs1_public_der(bytes),
        import::sec1_der(bytes),
        import::spki_der(bytes),
    ]
}

#[test]
fn every_prefix_is_refused() {
    let passphrase = cheap();
    for (name, whole) in structures() {
        for len in 0..whole.len() {
            let results = every_import(&whole[..len], &passphrase);
            assert!(results.iter().all(Result::is_err), "{len} bytes of {name}");
        }
    }
}

#[test]
fn every_prefix_of_text_is_refused() {
    let passphrase = idle();
    for (name, text) in fixtures() {
        let end = text.trim_ascii_end().len();
        // The text may end with a block that no key is in: the key is whole before it.
        let last_needed = text.windows(9).rposition(|window| window == b"-----END ").unwrap_or(end);
        for len in 0..last_needed.min(end) {
            assert!(import::any(&text[..len], Some(&passphrase)).is_err(), "{len} bytes of {name}");
        }
    }
}

#[test]
fn no_corrupted_byte_panics_or_makes_another_rsa_key() {
    let passphrase = cheap();
    for (name, whole) in structures() {
        let unchanged = import::any(&whole, Some(&passphrase));
        let mut changed = whole.clone();
        for at in 0..whole.len() {
            for flip in [0x01, 0x20, 0x80, 0xff] {
                changed[at] = whole[at] ^ flip;
                let found = import::any(&changed, Some(&passphrase));
                if let (Ok(found), Ok(unchanged)) = (found, &unchanged)
                    && matches!(unchanged.kind(), KeyKind::RsaPrivate(_))
                {
                    assert_eq!(found.fingerprint(), unchanged.fingerprint(), "byte {at} of {name}");
                }
            }
            changed[at] = whole[at];
        }
    }
}

#[test]
fn no_corrupted_character_panics() {
    let passphrase = idle();
    for (name, whole) in fixtures().into_iter().filter(|(_, text)| text.len() < 2000) {
        let mut changed = whole.clone();
        for at in 0..whole.len() {
            for byte in [b'\n', b'-', b'A', b' ', 0, 0xff] {
                changed[at] = byte;
                if let Err(error) = import::any(&changed, Some(&passphrase)) {
                    assert!(!error.to_string().is_empty(), "byte {at} of {name}");
                }
            }
            changed[at] = whole[at];
        }
    }
}

/// Lengths that DER cannot keep: each length byte in turn says more than there is.
#[test]
fn lying_lengths_are_refused() {
    let whole = der("rsa1024.pem");
    for at in 1..8 {
        for lie in [0x7f, 0x80, 0x84, 0x88, 0xff] {
            let mut changed = whole.clone();
            changed[at] = lie;
            if changed != whole {
                assert!(import::any(&changed, None).is_err(), "byte {at} = {lie:#x}");
            }
        }
    }
}
