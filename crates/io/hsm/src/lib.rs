//! Names and settings of HSMs and other devices with a PKCS#11 module. Internal to Oarlock: the interface changes without
//! notice.
#![forbid(unsafe_code)]

mod settings;
mod uri;

pub use settings::{HsmSettings, HsmSettingsError, MAX_SESSIONS};
pub use uri::{MAX_URI_LEN, Pkcs11Uri, UriClass, UriError};
