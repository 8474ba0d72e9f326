//! One raw operation that owns its inputs.

use oarlock_core::{Key, NonceInput, Operation, SecondInput, Shape};

use crate::seams::reproducible;

/// A key with inputs for it.
#[derive(Clone, Debug)]
pub struct OperationCase {
    /// A key that serves the shape.
    pub key: Key,
    /// The input at the shape's length.
    pub input: Vec<u8>,
    /// For verifications.
    pub signature: Vec<u8>,
    /// What hedges the nonce of a signature.
    pub nonce: [u8; 32],
}

impl OperationCase {
    /// The operation; ECDSA signs with the nonce of RFC 6979, so that results can be compared.
    #[must_use]
    pub fn operation(&self, shape: Shape) -> Operation<'_> {
        let extra = match shape {
            Shape::EcdsaSign { .. } => SecondInput::NonceInput(NonceInput::Hedged(&self.nonce)),
            _ if shape.signature_len().is_some() => SecondInput::Signature(&self.signature),
            _ => SecondInput::None,
        };
        reproducible(Operation { key: &self.key, input: &self.input, extra })
    }
}
