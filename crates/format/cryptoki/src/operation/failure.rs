//! Errors of the facade as return codes.

use oarlock::JobError;

use crate::constants::ReturnCode;

/// The return codes of one function for faults of its input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailureRule {
    /// The answer is no, or the ciphertext is bad.
    pub(crate) rejection: ReturnCode,
    /// The length does not fit.
    pub(crate) length: ReturnCode,
}

impl FailureRule {
    pub(crate) const SIGN: Self =
        Self { rejection: ReturnCode::FunctionFailed, length: ReturnCode::DataLenRange };
    pub(crate) const VERIFY: Self =
        Self { rejection: ReturnCode::SignatureInvalid, length: ReturnCode::DataLenRange };
    pub(crate) const ENCRYPT: Self =
        Self { rejection: ReturnCode::FunctionFailed, length: ReturnCode::DataLenRange };
    pub(crate) const DECRYPT: Self =
        Self { rejection: ReturnCode::EncryptedDataInvalid, length: ReturnCode::EncryptedDataLenRange };
    pub(crate) const AEAD_DECRYPT: Self =
        Self { rejection: ReturnCode::AeadDecryptFailed, length: ReturnCode::EncryptedDataLenRange };
    pub(crate) const DECAPSULATE: Self =
        Self { rejection: ReturnCode::WrappedKeyInvalid, length: ReturnCode::WrappedKeyInvalid };
    pub(crate) const DERIVE: Self =
        Self { rejection: ReturnCode::MechanismParamInvalid, length: ReturnCode::MechanismParamInvalid };
}

/// Returns the return code of an error.
pub(crate) fn to_return_code(error: &JobError, rule: FailureRule) -> ReturnCode {
    match error {
        JobError::Rejected => rule.rejection,
        JobError::Length { .. } => rule.length,
        JobError::OutOfRange { .. } => ReturnCode::DataInvalid,
        JobError::KeyType { .. } => ReturnCode::KeyTypeInconsistent,
        JobError::UnusableKey { .. } => ReturnCode::KeySizeRange,
        JobError::Unsupported { .. } => ReturnCode::MechanismInvalid,
        JobError::Refused { .. } | JobError::HolderRefused { .. } => ReturnCode::KeyFunctionNotPermitted,
        JobError::Digest { .. } | JobError::SmallOrderPeer | JobError::PeerNotOnCurve => {
            ReturnCode::MechanismParamInvalid
        }
        JobError::Cancelled => ReturnCode::FunctionCanceled,
        JobError::Overloaded { .. } => ReturnCode::TokenResourceExceeded,
        JobError::HolderFailed { .. } | JobError::EngineFailed { .. } | JobError::DeadlineExceeded => {
            ReturnCode::DeviceError
        }
        JobError::NoThreads { .. } => ReturnCode::HostMemory,
        _ => ReturnCode::FunctionFailed,
    }
}
