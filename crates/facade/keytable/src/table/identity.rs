//! Identities that show which keys are the same, for callers that must not compare the keys.

use std::fmt;

use aws_lc_rs::hmac;
use oarlock_core::ForkSafeCell;
use oarlock_keys::KeyError;

/// An identity that keys of the same bytes share within one process.
///
/// It is a code of the bytes under a secret that each process draws anew, so nobody finds a short key by trial.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyIdentity([u8; 32]);

impl KeyIdentity {
    pub(super) fn from_secret(secret: &[u8]) -> Result<Self, KeyError> {
        let mut identity = [0; 32];
        identity.copy_from_slice(hmac::sign(own_secret()?, secret).as_ref());
        Ok(Self(identity))
    }
}

fn own_secret() -> Result<&'static hmac::Key, KeyError> {
    static OWN: ForkSafeCell<hmac::Key> = ForkSafeCell::new();
    // The first secret wins, and all threads use it.
    OWN.get_or_try_make(|| {
        let drawn = hmac::Key::generate(hmac::HMAC_SHA256, &aws_lc_rs::rand::SystemRandom::new());
        drawn.map_err(|_| KeyError::Machine { what: "drawing random bytes" })
    })
}

/// Shows nothing, because an identity reveals which keys are the same.
impl fmt::Debug for KeyIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyIdentity(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_have_the_same_identity_and_no_others() {
        let of = |bytes: &[u8]| KeyIdentity::from_secret(bytes).unwrap();
        assert_eq!(of(b"one"), of(b"one"));
        assert_ne!(of(b"one"), of(b"two"));
        assert_eq!(format!("{:?}", of(b"one")), "KeyIdentity(..)");
    }
}
