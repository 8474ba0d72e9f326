//! Errors of a device, of its login and of its keys.

use std::path::PathBuf;

use oarlock::JobError;
use oarlock::keys::KeyError;

use crate::HsmSettingsError;

/// An error of a device or of one of its keys. No message contains a PIN.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum HsmError {
    #[error(transparent)]
    Settings(#[from] HsmSettingsError),
    #[error("module: cannot load {}: {reason}", path.display())]
    Load { path: PathBuf, reason: String },
    #[error("module: {} does not start: {reason}", path.display())]
    Initialize { path: PathBuf, reason: String },
    #[error("token: {} has no {wanted}; found {found}", module.display())]
    NoToken { module: PathBuf, wanted: String, found: String },
    #[error("token: {found} tokens have the label {label:?}; name one by `slot`: {slots}")]
    SeveralTokens { label: String, found: usize, slots: String },
    #[error("token: {token} is not initialised")]
    TokenEmpty { token: String },
    #[error("pin_file: {}: {reason}", path.display())]
    PinFile { path: PathBuf, reason: String },
    #[error("pin_file: {token} wants a PIN; name the file that has it")]
    NoPin { token: String },
    #[error(
        "pin_file: {token} refuses the PIN ({code}); it is not tried again until the file has another one, \
         because tokens lock"
    )]
    WrongPin { token: String, code: String },
    #[error("{token} has locked its PIN after wrong ones; its security officer can unlock it")]
    PinLocked { token: String },
    #[error(
        "{token} allows one more wrong PIN before it locks; log in with another tool once, then start again"
    )]
    PinFinalTry { token: String },
    #[error("{token} has no user PIN yet; its security officer sets it")]
    PinUnset { token: String },
    #[error("{token} has an expired PIN; set another one")]
    PinExpired { token: String },
    #[error("{token} is not the token of {wanted}")]
    OtherToken { token: String, wanted: String },
    #[error("no object of {token} is {wanted}")]
    NoObject { token: String, wanted: String },
    #[error("{found} objects of {token} are {wanted}; name one by its `id` too")]
    SeveralObjects { token: String, wanted: String, found: usize },
    #[error("the name of a key is `pkcs11:` with `object` or `id`, found {found}")]
    KeyName { found: String },
    #[error("{key}: the token does not allow this key to {purpose}")]
    NotAllowed { key: String, purpose: &'static str },
    #[error("{key}: the token wants its PIN for each use of this key, which is not supported")]
    AlwaysAuthenticate { key: String },
    #[error(
        "{key}: the token has no public key and no certificate with the same `id`, and the private key does not tell"
    )]
    NoPublicHalf { key: String },
    #[error("{key}: {reason}")]
    PublicHalf { key: String, reason: KeyError },
    #[error(
        "the public key or certificate does not belong to the private key, or the module signs wrongly: {what}"
    )]
    Pair { what: String },
    #[error("{key}: {token} has another key of this name")]
    OtherKey { key: String, token: String },
    #[error("{key}: keys of this type are not supported: {found}")]
    KeyType { key: String, found: String },
    #[error("{token} does not offer {mechanism}")]
    Mechanism { token: String, mechanism: String },
    #[error("{token} has no free session")]
    SessionLimit { token: String },
    #[error("{token} was removed: {code}")]
    Removed { token: String, code: String },
    #[error("the module did not return within {patience_ms} ms")]
    Hung { patience_ms: u64 },
    #[error("{threads} threads hang in the module; they end when it returns or the process ends")]
    TooManyHung { threads: usize },
    #[error("the module fails: {code}")]
    Failed { code: String },
    #[error("the module gave a wrong answer: {what}")]
    Wrong { what: String },
    #[error("the module refuses: {code}")]
    Refused { code: String },
    #[error(transparent)]
    Job(#[from] JobError),
    #[error("the device is in quarantine: {reason}")]
    Quarantined { reason: String },
    #[error("the process has forked, and the sessions belong to its parent")]
    Forked,
    #[error("the device is closed")]
    Closed,
    #[error("no device of the settings has the token of {wanted}")]
    NoDevice { wanted: String },
    #[error("the process of the device does not start: {reason}")]
    NoProcess { reason: String },
    #[error("the process of the device has ended: {how}; it starts again")]
    ProcessEnded { how: String },
    #[error("{reason}")]
    Device {
        reason: String,
        /// As [`is_refusal`](Self::is_refusal) said in the process of the device.
        is_refusal: bool,
    },
    #[error("the system gives no thread: {reason}")]
    NoThread { reason: String },
}

impl HsmError {
    /// True if the caller can do something about it. All other errors are faults of the device, and another device or a
    /// later call may succeed.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Device { is_refusal, .. } => *is_refusal,
            Self::NoDevice { .. }
            | Self::OtherToken { .. }
            | Self::NoObject { .. }
            | Self::SeveralObjects { .. }
            | Self::KeyName { .. }
            | Self::NotAllowed { .. }
            | Self::AlwaysAuthenticate { .. }
            | Self::OtherKey { .. }
            | Self::KeyType { .. }
            | Self::Mechanism { .. }
            | Self::Refused { .. } => true,
            _ => false,
        }
    }

    /// Returns the error of a job at the holder `holder`.
    pub(crate) fn into_job_error(self, holder: &str) -> JobError {
        let holder = holder.to_owned();
        match self {
            Self::Job(error) => error,
            error if error.is_refusal() => JobError::HolderRefused { holder, reason: error.to_string() },
            error => JobError::HolderFailed { holder, reason: error.to_string() },
        }
    }
}
