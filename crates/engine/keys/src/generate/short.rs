//! RSA keys that are shorter than AWS-LC generates and FIPS 186-4 allows. Apart from the length, the method is that of
//! FIPS 186-4 B.3.3.

use crypto_bigint::{BoxedUint, Gcd, Resize};
use crypto_primes::Flavor;
use oarlock_core::Key;
use zeroize::Zeroizing;

use super::prime::prime;
use crate::KeyError;
use crate::rsa;
use crate::rsa::integer::{Secret, divide, less_one, product, write};

const PUBLIC_EXPONENT: u32 = 65_537;

/// Generates a key whose modulus has `bits` bits, an even number.
pub(super) fn key(bits: u32) -> Result<Key, KeyError> {
    loop {
        let (p, q) = (any_prime(bits / 2)?, any_prime(bits / 2)?);
        if are_apart(&p, &q, bits / 2)
            && let Some(d) = private_exponent(&p, &q)
            // FIPS 186-4 B.3.1 criterion 3(a). Wiener's attack finds a d that is much shorter than n.
            && d.bits() > bits / 2
        {
            let n = write(&product(&p, &q));
            return rsa::private_without_crt(n.expose(), &PUBLIC_EXPONENT.to_be_bytes(), write(&d).expose());
        }
    }
}

fn any_prime(bits: u32) -> Result<Secret, KeyError> {
    prime(Flavor::Any, bits, |_| {})
}

/// Checks `|p - q| > 2^(bits - 100)`, step 5.4 of B.3.3. Fermat's method finds close primes.
fn are_apart(p: &BoxedUint, q: &BoxedUint, bits: u32) -> bool {
    let (more, less) = if p > q { (p, q) } else { (q, p) };
    Zeroizing::new(more.wrapping_sub(less)).bits() > bits - 100 + 1
}

/// Computes `d = e^-1 mod lcm(p - 1, q - 1)`. Returns None if e has a factor in common with the modulus. FIPS 186-4
/// B.3.1 criterion 3.
fn private_exponent(p: &BoxedUint, q: &BoxedUint) -> Option<Secret> {
    let (p, q) = (less_one(p), less_one(q));
    let common = Zeroizing::new(p.gcd(&q));
    let (lcm, _) = divide(&product(&p, &q), &common)?;
    let e = BoxedUint::from(PUBLIC_EXPONENT).resize_unchecked(lcm.bits_precision());
    e.invert_mod(lcm.as_nz_vartime()?).into_option().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use oarlock_core::KeyKind;

    use super::*;
    use crate::rsa::integer::{read, remainder};

    fn number(bytes: &[u8]) -> Secret {
        read(bytes, bytes.len() as u32 * 8).unwrap()
    }

    #[test]
    fn keys_are_of_their_length_and_differ() {
        let keys = [key(1024).unwrap(), key(1024).unwrap()];
        assert!(keys.iter().all(|key| key.kind() == KeyKind::RsaPrivate(1024)), "{keys:?}");
        assert_ne!(keys[0].fingerprint(), keys[1].fingerprint());
        assert_eq!(keys[0].rsa_public().unwrap().e, [1, 0, 1]);
        assert_eq!(key(512).unwrap().kind(), KeyKind::RsaPrivate(512));
    }

    #[test]
    fn primes_that_are_close_are_drawn_again() {
        let p = number(&[0xFF; 64]);
        let near = Zeroizing::new(p.wrapping_sub(BoxedUint::one()));
        assert!(!are_apart(&p, &near, 512) && !are_apart(&near, &p, 512) && !are_apart(&p, &p, 512));
        let mut far = [0xFF; 64];
        far[0] = 0xFE;
        let far = number(&far);
        assert!(are_apart(&p, &far, 512) && are_apart(&far, &p, 512));
    }

    /// 786433 = 12 * 65536 + 1 suits; 786445 = 12 * 65537 + 1 does not, prime or not.
    #[test]
    fn a_prime_that_takes_the_inverse_away_is_drawn_again() {
        let of = |value: u64| number(&value.to_be_bytes());
        let d = private_exponent(&of(786_433), &of(97)).unwrap();
        assert!(remainder(&product(&d, &of(65_537)), &of(786_432)).unwrap().is_one().to_bool());
        assert!(private_exponent(&of(786_445), &of(97)).is_none());
    }
}
