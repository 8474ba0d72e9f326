//! Public arithmetic modulo n. Its time may depend on the values, because they are public.

use crypto_bigint::BoxedUint;
use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use oarlock_core::JobError;
use oarlock_keys::threshold::ThresholdKey;

/// The integers modulo n.
pub(super) struct RsaRing {
    params: BoxedMontyParams,
    /// Bytes of n.
    len: usize,
}

/// An integer modulo n, in Montgomery form.
pub(super) type Residue = BoxedMontyForm;

impl RsaRing {
    pub(super) fn from_key(key: &ThresholdKey) -> Result<Self, JobError> {
        let (n, len) = (key.modulus(), key.modulus_len());
        let n = BoxedUint::from_be_slice(n, precision(len)).map_err(|_| out_of_range("modulus"))?;
        // Montgomery's form needs an odd modulus.
        let n = n.into_odd().into_option().ok_or(out_of_range("modulus"))?;
        Ok(Self { params: BoxedMontyParams::new_vartime(n), len })
    }

    /// Reads an integer below n of n's width.
    pub(super) fn read(&self, bytes: &[u8]) -> Result<Residue, JobError> {
        let value =
            BoxedUint::from_be_slice(bytes, precision(self.len)).map_err(|_| out_of_range("integer"))?;
        if value >= **self.params.modulus() {
            return Err(out_of_range("integer"));
        }
        Ok(BoxedMontyForm::new(value, &self.params))
    }

    /// Big-endian, at n's width.
    pub(super) fn write(&self, residue: &Residue) -> Vec<u8> {
        let bytes = residue.retrieve().to_be_bytes();
        // The precision is in whole limbs, so there may be zeros in front.
        bytes[bytes.len() - self.len..].to_vec()
    }

    pub(super) fn one(&self) -> Residue {
        BoxedMontyForm::one(&self.params)
    }

    /// `base^exponent`, in as many steps as the exponent has bits.
    pub(super) fn power(&self, base: &Residue, exponent: u128) -> Residue {
        base.pow_bounded_exp(&BoxedUint::from(exponent), u128::BITS - exponent.leading_zeros())
    }

    /// Returns the inverse, or `None` if the residue shares a factor with n.
    pub(super) fn inverse(&self, residue: &Residue) -> Option<Residue> {
        residue.invert_vartime().into_option()
    }
}

/// Whole limbs.
fn precision(len: usize) -> u32 {
    // unreachable saturation because a modulus has at most 1024 bytes
    u32::try_from(len * 8).unwrap_or(u32::MAX).next_multiple_of(64)
}

fn out_of_range(what: &'static str) -> JobError {
    JobError::OutOfRange { what }
}
