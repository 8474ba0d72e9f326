//! Faults of calls, and their meaning for the session, the token and the job.

use cryptoki::error::{Error, RvError};

use crate::HsmError;

/// The result of a call that failed.
#[derive(Debug)]
pub(crate) enum CallFault {
    /// The login is lost: log in again and repeat.
    LoginLost,
    /// The session is lost: open another one and repeat.
    SessionLost,
    /// The handle of an object is not valid any more: find the object again and repeat.
    ObjectLost,
    /// The token is not there: connect again and repeat.
    TokenLost(String),
    /// The token has no free session.
    SessionLimit,
    /// The answer is wrong.
    Wrong(String),
    /// The job or the call has this error. Repeating it does not help.
    Final(HsmError),
}

impl From<HsmError> for CallFault {
    fn from(error: HsmError) -> Self {
        Self::Final(error)
    }
}

impl From<oarlock::JobError> for CallFault {
    fn from(error: oarlock::JobError) -> Self {
        Self::Final(error.into())
    }
}

impl From<Error> for CallFault {
    fn from(error: Error) -> Self {
        let code = error.to_string();
        let Error::Pkcs11(value, _) = error else { return Self::Final(HsmError::Failed { code }) };
        match value {
            RvError::UserNotLoggedIn => Self::LoginLost,
            // A session with an unfinished operation, which an earlier error left behind, is useless too.
            RvError::SessionHandleInvalid | RvError::SessionClosed | RvError::OperationActive => {
                Self::SessionLost
            }
            RvError::KeyHandleInvalid | RvError::ObjectHandleInvalid => Self::ObjectLost,
            RvError::DeviceRemoved
            | RvError::TokenNotPresent
            | RvError::SlotIdInvalid
            | RvError::CryptokiNotInitialized => Self::TokenLost(code),
            RvError::SessionCount => Self::SessionLimit,
            RvError::ArgumentsBad
            | RvError::ActionProhibited
            | RvError::DataInvalid
            | RvError::DataLenRange
            | RvError::EncryptedDataInvalid
            | RvError::EncryptedDataLenRange
            | RvError::FunctionNotSupported
            | RvError::CurveNotSupported
            | RvError::KeySizeRange
            | RvError::KeyTypeInconsistent
            | RvError::KeyFunctionNotPermitted
            | RvError::MechanismInvalid
            | RvError::MechanismParamInvalid
            | RvError::AttributeValueInvalid
            | RvError::TemplateInconsistent
            | RvError::PublicKeyInvalid
            | RvError::FunctionRejected => Self::Final(HsmError::Refused { code }),
            _ => Self::Final(HsmError::Failed { code }),
        }
    }
}
