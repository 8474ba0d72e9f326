//! ECDH over the NIST curves.

use oarlock_core::{Operation, Status};

use crate::ecdsa::private_key;
use crate::ffi::EcPoint;
use crate::op_error::OpError;

/// The first byte of an uncompressed point. SEC 1 2.3.3.
const UNCOMPRESSED: u8 = 4;

/// Writes the x-coordinate of the product of key and peer. NIST SP 800-56A 5.7.1.2.
pub(crate) fn derive(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let (parts, key) = private_key(operation)?;
    // Checked here because AWS-LC takes the hybrid form too, which has the same length.
    if operation.input.first() != Some(&UNCOMPRESSED) {
        return Err(Status::OutOfRange.into());
    }
    // NIST SP 800-56A 5.6.2.3.4: coordinates below p, and a point on the curve. The form excludes infinity.
    let peer = EcPoint::new(parts.curve, operation.input).map_err(OpError::from_peer_error)?;
    Ok(key.derive(&peer, out)?)
}
