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
        let tr = ml_dsa::public_hash(&key.public);
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
