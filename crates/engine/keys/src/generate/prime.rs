//! Random primes, by Baillie's test. <https://doi.org/10.1090/mcom/3616>

use std::num::NonZeroU32;

use crypto_bigint::{BoxedUint, Resize};
use crypto_primes::hazmat::SmallFactorsSieve;
use crypto_primes::{Flavor, is_prime};
use zeroize::Zeroizing;

use crate::KeyError;
use crate::rsa::integer::{Secret, precision};
use crate::rsa::safe;

/// Generates a prime whose two highest bits are set, so that the product of two has twice as many bits.
///
/// `progress` is called with the number of candidates so far that no small prime divides.
pub(super) fn prime(flavor: Flavor, bits: u32, mut progress: impl FnMut(u64)) -> Result<Secret, KeyError> {
    let failed = KeyError::Machine { what: "looking for a prime" };
    let mut candidates = 0;
    loop {
        let start = start(bits)?;
        let length = NonZeroU32::new(bits).ok_or(failed.clone())?;
        // For a safe prime p, the sieve also removes candidates if a small prime divides (p - 1) / 2.
        let sieve =
            SmallFactorsSieve::new(start, length, flavor == Flavor::Safe).map_err(|_| failed.clone())?;
        // The sieve ends at 2^bits. The search then starts at another random place.
        for candidate in sieve.map(Zeroizing::new) {
            candidates += 1;
            progress(candidates);
            if is_prime(flavor, &*candidate) {
                return Ok(candidate);
            }
        }
    }
}

/// Returns the start of the search: random, with the two highest bits set.
fn start(bits: u32) -> Result<BoxedUint, KeyError> {
    let width = precision(bits);
    let random = safe::random(width)?;
    let low = random.wrapping_shr_vartime(width - bits + 2);
    let top = BoxedUint::from(3_u64).resize(width).wrapping_shl_vartime(bits - 2);
    Ok(low | top)
}
