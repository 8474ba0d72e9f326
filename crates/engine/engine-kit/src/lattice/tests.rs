use super::*;
use oarlock_core::{MlDsaSet, MlKemSet};

#[test]
fn a_secret_comes_back_and_a_changed_ciphertext_gives_another() {
    for set in MlKemSet::ALL {
        let key = ml_kem::expand(set, &[7; 64]).unwrap();
        assert!(ml_kem::is_public(set, &key.public) && ml_kem::is_expanded(set, &key.private));
        assert_eq!(ml_kem::public_part(set, &key.private), key.public);
        let mut out = vec![0; set.ciphertext_len() + 32];
        ml_kem::encapsulate(set, &key.public, &[9; 32], &mut out).unwrap();
        let (ciphertext, secret) = out.split_at_mut(set.ciphertext_len());
        let mut found = [0; 32];
        ml_kem::decapsulate(set, &key.private, ciphertext, &mut found).unwrap();
        assert_eq!(found, *secret);
        ciphertext[3] ^= 1;
        ml_kem::decapsulate(set, &key.private, ciphertext, &mut found).unwrap();
        assert_ne!(found, *secret);
    }
}

#[test]
fn damaged_keys_are_found() {
    for set in MlKemSet::ALL {
        let key = ml_kem::expand(set, &[1; 64]).unwrap();
        // A coefficient of 0xfff, which is above q.
        let mut public = key.public.clone();
        public[..2].fill(0xff);
        assert!(!ml_kem::is_public(set, &public));
        let mut private = key.private.to_vec();
        let hash = set.expanded_len() - 64;
        private[hash] ^= 1;
        assert!(!ml_kem::is_expanded(set, &private));
        assert!(!ml_kem::is_expanded(set, &key.private[1..]));
    }
    for set in MlDsaSet::ALL {
        let key = ml_dsa::expand(set, &[1; 32]).unwrap();
        assert_eq!(ml_dsa::public_of(set, &key.private).as_ref(), Some(&key.public));
        // The first coefficients of s1, all ones: beyond eta.
        let mut private = key.private.to_vec();
        private[128..132].fill(0xff);
        assert_eq!(ml_dsa::public_of(set, &private), None);
        assert_eq!(ml_dsa::public_of(set, &key.private[1..]), None);
    }
}

#[test]
fn a_signature_follows_from_its_random_bytes_and_verifies() {
    for set in MlDsaSet::ALL {
        let key = ml_dsa::expand(set, &[3; 32]).unwrap();
        let tr = ml_dsa::public_hash(&key.public).unwrap();
        let mu = ml_dsa::message_mu(&tr, b"context", b"message").unwrap();
        let sign = |random| {
            let mut signature = vec![0; set.signature_len()];
            ml_dsa::sign(set, &key.private, &mu, &random, &mut signature).unwrap();
            signature
        };
        assert!(sign([0; 32]) == sign([0; 32]) && sign([1; 32]) != sign([0; 32]));
        let mut signature = sign([1; 32]);
        assert!(ml_dsa::verify(set, &key.public, &mu, &signature));
        let other = ml_dsa::message_mu(&tr, b"", b"message").unwrap();
        assert!(!ml_dsa::verify(set, &key.public, &other, &signature));
        signature[5] ^= 1;
        assert!(!ml_dsa::verify(set, &key.public, &mu, &signature));
    }
}

#[test]
fn digests_have_their_published_values() {
    // FIPS 180-4 and FIPS 202 examples of the empty message.
    let first = |digest| pre_hash(digest, b"").unwrap()[..4].to_vec();
    assert_eq!(first(PreHash::Sha256), [0xe3, 0xb0, 0xc4, 0x42]);
    assert_eq!(first(PreHash::Sha512_256), [0xc6, 0x72, 0xb8, 0xd1]);
    assert_eq!(first(PreHash::Sha3_512), [0xa6, 0x9f, 0x73, 0xcc]);
    assert_eq!(first(PreHash::Shake128), [0x7f, 0x9c, 0x2b, 0xa4]);
    assert_eq!(first(PreHash::Shake256), [0x46, 0xb9, 0xdd, 0x2b]);
    for digest in PreHash::ALL {
        assert_eq!(pre_hash(digest, b"abc").unwrap().len(), digest.output_len(), "{digest}");
    }
}
