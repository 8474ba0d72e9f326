//! Faults of keys as return codes.

use oarlock::keys::KeyError;

use crate::constants::ReturnCode;

/// Returns the return code of values that are not a key.
pub(super) fn from_key_error(error: KeyError) -> ReturnCode {
    match error {
        KeyError::Machine { .. } => ReturnCode::FunctionFailed,
        KeyError::UnsupportedCurve { .. } => ReturnCode::CurveNotSupported,
        _ => ReturnCode::AttributeValueInvalid,
    }
}
