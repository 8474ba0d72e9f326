//! Shares of RSA keys: dealing, files, and what is refused. The keys in `data/threshold` are of safe primes.

use oarlock_core::{Key, KeyKind, KeyParts, SecretBytes};
use oarlock_keys::export::{self, Protection};
use oarlock_keys::threshold::{MAX_SHARES, Share, ThresholdKey, split};
use oarlock_keys::{KeyError, Passphrase, generate, rsa};

use crate::support::{fixture, key};

fn safe512() -> Key {
    key("threshold/safe512.pem")
}

fn deal(threshold: u8, shares: u8) -> (ThresholdKey, Vec<Share>) {
    split(&safe512(), threshold, shares).unwrap()
}

fn secret(share: &Share) -> &SecretBytes {
    let Some(KeyParts::ModExp(parts)) = share.key().parts() else { panic!("no exponent") };
    &parts.exponent
}

#[test]
fn a_split_key_has_its_public_half_and_as_many_shares_as_asked_for() {
    for (threshold, count) in [(2, 2), (2, 3), (3, 5), (2, 16), (16, 16)] {
        let (public, shares) = deal(threshold, count);
        assert_eq!((public.threshold(), public.shares()), (threshold, count));
        assert_eq!(public.public().fingerprint(), safe512().fingerprint());
        assert_eq!(public.public().kind(), KeyKind::RsaPublic(512));
        assert!(shares.iter().map(Share::index).eq(1..=count));
        for share in &shares {
            assert_eq!(share.key().kind(), KeyKind::ModExp { bits: 512, exponent_bits: 512 });
            assert_eq!(share.public().to_der().unwrap(), public.to_der().unwrap());
            assert_eq!(public.verification_key(share.index()).unwrap().len(), 64);
        }
        assert!(public.verification_key(0).is_none() && public.verification_key(count + 1).is_none());
    }
}

#[test]
fn every_split_is_another() {
    let ((one, shares), (other, others)) = (deal(2, 3), deal(2, 3));
    assert_ne!(one.verification_base(), other.verification_base());
    assert!(shares.iter().zip(&others).all(|(one, other)| secret(one) != secret(other)));
}

#[test]
fn counts_out_of_range_are_refused() {
    for (threshold, shares) in [(0, 3), (1, 3), (4, 3), (2, 1), (2, 0), (2, 17), (17, 17), (255, 255)] {
        let refused = split(&safe512(), threshold, shares).unwrap_err();
        let shares = usize::from(shares);
        assert_eq!(refused, KeyError::ShareCounts { max: MAX_SHARES, threshold, shares });
    }
}

#[test]
fn a_key_without_safe_primes_is_refused_with_the_remedy() {
    let refused = split(&key("rsa1024.pem"), 2, 3).unwrap_err();
    assert!(matches!(refused, KeyError::NotSafePrime { .. }));
    assert!(refused.to_string().contains("generate::rsa_safe"));
}

#[test]
fn keys_of_other_kinds_are_refused() {
    let public = rsa::public(&safe512().rsa_public().unwrap().n, &[1, 0, 1]).unwrap();
    for wrong in [public, key("p256.pem"), generate::secret(16).unwrap()] {
        assert!(matches!(split(&wrong, 2, 3), Err(KeyError::NotShareable { .. })));
    }
}

/// 3 divides 3!, so with it nothing could be combined.
#[test]
fn a_public_exponent_within_the_number_of_shares_is_refused() {
    let small = key("rsa2048-e3.pem");
    assert_eq!(split(&small, 2, 3).unwrap_err(), KeyError::ShareExponent { shares: 3, found: 3 });
    // With two shares 3 is a prime above them: what is refused then is that the primes are not safe.
    assert!(matches!(split(&small, 2, 2), Err(KeyError::NotSafePrime { .. })));
}

#[test]
fn files_come_back_as_they_were() {
    let (public, shares) = deal(2, 3);
    let text = public.to_pem().unwrap();
    assert!(text.starts_with("-----BEGIN OARLOCK RSA THRESHOLD KEY-----\n"));
    assert_eq!(ThresholdKey::from_pem(text.as_bytes()).unwrap().to_pem().unwrap(), text);
    for share in &shares {
        let text = share.to_pem().unwrap();
        assert!(text.starts_with("-----BEGIN OARLOCK RSA SHARE-----\n"));
        let again = Share::from_pem(text.as_bytes(), None).unwrap();
        assert_eq!((again.index(), secret(&again)), (share.index(), secret(share)));
        assert_eq!(again.to_der().unwrap(), share.to_der().unwrap());
    }
}

#[test]
fn an_encrypted_share_opens_with_its_passphrase_alone() {
    let (passphrase, wrong) = (Passphrase::new(b"right".to_vec()), Passphrase::new(b"wrong".to_vec()));
    let share = deal(2, 2).1.remove(0);
    let protection = Protection::Scrypt { log_n: 4, r: 8, p: 1 };
    let text = share.to_encrypted_pem(&passphrase, protection).unwrap();
    assert!(text.starts_with("-----BEGIN OARLOCK ENCRYPTED RSA SHARE-----\n"));
    let again = Share::from_pem(text.as_bytes(), Some(&passphrase)).unwrap();
    assert_eq!(again.to_der().unwrap(), share.to_der().unwrap());
    assert_eq!(Share::from_pem(text.as_bytes(), Some(&wrong)).unwrap_err(), KeyError::Decryption);
    assert_eq!(Share::from_pem(text.as_bytes(), None).unwrap_err(), KeyError::PassphraseMissing);
}

#[test]
fn every_prefix_and_every_longer_file_is_refused() {
    let (public, shares) = deal(2, 3);
    let (public, share) = (public.to_der().unwrap(), shares[0].to_der().unwrap());
    for len in 0..public.len() {
        assert!(ThresholdKey::from_der(&public[..len]).is_err(), "{len}");
    }
    for len in 0..share.len() {
        assert!(Share::from_der(&share[..len]).is_err(), "{len}");
    }
    assert!(ThresholdKey::from_der(&[&public[..], &[0]].concat()).is_err());
    assert!(Share::from_der(&[&share[..], &[0]].concat()).is_err());
}

/// A flipped bit in the secret of a share is always found, because the secret is checked against the verification key.
/// A flipped bit in the public part may give another well-formed key, which then contains the changed bytes.
#[test]
fn no_flipped_bit_panics_and_none_in_a_share_passes_for_the_same() {
    let (public, shares) = deal(2, 3);
    let (public, share) = (public.to_der().unwrap(), shares[1].to_der().unwrap());
    for bit in 0..share.len() * 8 {
        let mut changed = share.to_vec();
        changed[bit / 8] ^= 0x80 >> (bit % 8);
        if let Ok(found) = Share::from_der(&changed) {
            assert_eq!(found.to_der().unwrap().as_slice(), changed, "bit {bit}");
            assert_eq!(secret(&found), secret(&shares[1]), "bit {bit}");
        }
    }
    for bit in 0..public.len() * 8 {
        let mut changed = public.clone();
        changed[bit / 8] ^= 0x80 >> (bit % 8);
        if let Ok(found) = ThresholdKey::from_der(&changed) {
            assert_eq!(found.to_der().unwrap(), changed, "bit {bit}");
        }
    }
}

#[test]
fn other_versions_and_labels_are_named() {
    let (public, shares) = deal(2, 2);
    let mut der = public.to_der().unwrap();
    let at = der.windows(3).position(|bytes| bytes == [2, 1, 1]).unwrap();
    der[at + 2] = 2;
    let wanted = KeyError::Version { structure: "ThresholdKey", expected: 1, found: 2 };
    assert_eq!(ThresholdKey::from_der(&der).unwrap_err(), wanted);
    let share = shares[0].to_pem().unwrap();
    let found = ThresholdKey::from_pem(share.as_bytes()).unwrap_err();
    assert!(matches!(found, KeyError::PemLabel { found, .. } if found == "OARLOCK RSA SHARE"));
    let found = oarlock_keys::import::any(share.as_bytes(), None).unwrap_err();
    assert!(matches!(found, KeyError::PemLabel { .. }));
}

#[test]
fn a_share_under_another_index_or_of_another_key_is_refused() {
    let (shares, others) = (deal(2, 3).1, deal(2, 3).1);
    let mut der = shares[0].to_der().unwrap().to_vec();
    let at = der.len() - 64 - 2 - 1;
    assert_eq!(der[at], 1);
    for (index, wanted) in [(2, None), (0, Some(0)), (4, Some(4))] {
        der[at] = index;
        let found = Share::from_der(&der).unwrap_err();
        match wanted {
            Some(found_index) => assert_eq!(found, KeyError::ShareIndex { shares: 3, found: found_index }),
            None => assert!(matches!(found, KeyError::Inconsistent { .. })),
        }
    }
    der[at] = 1;
    let other = others[0].to_der().unwrap();
    der[at + 3..].copy_from_slice(&other[other.len() - 64..]);
    assert!(matches!(Share::from_der(&der), Err(KeyError::Inconsistent { .. })));
}

#[test]
fn debug_shows_no_secret() {
    let share = deal(2, 2).1.remove(0);
    let shown = format!("{share:?}");
    assert!(shown.contains("ModExp") && !shown.contains(&format!("{:?}", secret(&share).expose())));
}

#[test]
fn a_key_of_safe_primes_can_be_made_split_and_exported() {
    let (mut calls, mut last) = (0_u64, None);
    let made = generate::rsa_safe(512, |progress| (calls, last) = (calls + 1, Some(progress))).unwrap();
    assert_eq!(made.kind(), KeyKind::RsaPrivate(512));
    assert!(calls >= 3 && last.is_some_and(|last| last.found == 2));
    assert_eq!(split(&made, 2, 3).unwrap().1.len(), 3);
    assert!(export::private_pkcs8_pem(&made).is_ok());
    for bits in [510, 513, 4098, 0, u16::MAX] {
        assert!(matches!(generate::rsa_safe(bits, |_| ()), Err(KeyError::CannotGenerate { .. })));
    }
}

/// Files of version 1 stay readable.
#[test]
fn the_kept_files_are_read() {
    let public = ThresholdKey::from_pem(&fixture("threshold/key512.pem")).unwrap();
    let share = Share::from_pem(&fixture("threshold/share512.pem"), None).unwrap();
    assert_eq!((public.threshold(), public.shares(), share.index()), (2, 3, 1));
    assert_eq!(public.public().fingerprint(), safe512().fingerprint());
    assert_eq!(share.public().to_der().unwrap(), public.to_der().unwrap());
}

/// Deals the kept files anew.
#[test]
#[ignore = "writes the kept files"]
fn deal_the_kept_files() {
    let (public, shares) = deal(2, 3);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/threshold");
    std::fs::write(format!("{folder}/key512.pem"), public.to_pem().unwrap()).unwrap();
    std::fs::write(format!("{folder}/share512.pem"), shares[0].to_pem().unwrap()).unwrap();
}

#[test]
fn text_without_a_block_is_refused() {
    for text in [&b""[..], b"no key", &fixture("rsa1024.pem")] {
        assert!(matches!(Share::from_pem(text, None), Err(KeyError::PemLabel { .. })));
        assert!(matches!(ThresholdKey::from_pem(text), Err(KeyError::PemLabel { .. })));
    }
}
