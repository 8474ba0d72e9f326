//! A raw operation that owns its inputs.

use oarlock_core::{JobError, Key, NonceInput, Operation, SecondInput, Shape};

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
    /// Returns the operation. ECDSA signs with the nonce of RFC 6979, so that results can be compared. ML-DSA and
    /// SLH-DSA sign with the random bytes.
    ///
    /// # Errors
    /// The key or a length does not fit the shape.
    pub fn operation(&self, shape: Shape) -> Result<Operation<'_>, JobError> {
        let extra = match shape {
            Shape::EcdsaSign { .. } | Shape::MlDsaSign { .. } | Shape::SlhDsaSign { .. } => {
                SecondInput::NonceInput(NonceInput::Hedged(&self.nonce))
            }
            Shape::HssVerify | Shape::XmssVerify => SecondInput::Signature(&self.signature),
            _ if shape.signature_len().is_some() => SecondInput::Signature(&self.signature),
            _ => SecondInput::None,
        };
        Operation::new(shape, &self.key, &self.input, with_fixed_nonce(shape, extra))
    }

    /// Returns the operations of cases of one shape.
    ///
    /// # Errors
    /// The key or a length of a case does not fit the shape.
    pub fn operations(cases: &[Self], shape: Shape) -> Result<Vec<Operation<'_>>, JobError> {
        cases.iter().map(|case| case.operation(shape)).collect()
    }

    /// Takes over the result of signing. If it was refused, the signature is zeros, so that the case still fits the
    /// verification shape.
    pub fn set_signature(&mut self, signature: Vec<u8>, verifying: Shape) {
        self.signature = signature;
        self.signature.resize(verifying.signature_len().unwrap_or(0), 0);
    }
}
