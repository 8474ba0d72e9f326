//! A raw operation that owns its inputs.

use oarlock_core::{Key, NonceInput, Operation, SecondInput, Shape};

use crate::seams::with_fixed_nonce;

/// A key with inputs for it.
#[derive(Clone, Debug)]
pub struct OperationCase {
    /// A key of the shape.
    pub key: Key,
    /// The input, which has the length of the shape.
    pub input: Vec<u8>,
    /// The signature of a verification; empty for other operations.
    pub signature: Vec<u8>,
    /// The random bytes that hedge the nonce of a signature.
    pub nonce: [u8; 32],
}

impl OperationCase {
    /// Returns the operation. ECDSA signs with the nonce of RFC 6979, so that results can be compared.
    #[must_use]
    pub fn operation(&self, shape: Shape) -> Operation<'_> {
        let extra = match shape {
            Shape::EcdsaSign { .. } => SecondInput::NonceInput(NonceInput::Hedged(&self.nonce)),
            _ if shape.signature_len().is_some() => SecondInput::Signature(&self.signature),
            _ => SecondInput::None,
        };
        with_fixed_nonce(Operation { key: &self.key, input: &self.input, extra })
    }
}
