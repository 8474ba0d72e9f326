//! Random bytes.

use aws_lc_rs::rand;

use crate::KeyError;

/// Draws bytes from the generator of AWS-LC.
pub(crate) fn draw_bytes<const N: usize>() -> Result<[u8; N], KeyError> {
    let mut bytes = [0; N];
    rand::fill(&mut bytes).map_err(|_| KeyError::Machine { what: "drawing random bytes" })?;
    Ok(bytes)
}
