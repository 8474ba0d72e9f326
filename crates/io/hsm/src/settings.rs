//! The settings of a device.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Pkcs11Uri;

/// The settings of one device: a section `[[hsm]]` of the services.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HsmSettings {
    /// The path of the device's PKCS#11 module, a shared library.
    pub module: PathBuf,
    /// The label of the token. Either this or `slot` is required.
    pub token: Option<String>,
    /// The number of the token's slot.
    pub slot: Option<u64>,
    /// The file with the user's PIN in its first line, which other users may not read. Without it the device asks for
    /// the PIN on a keypad of its own, or needs none.
    pub pin_file: Option<PathBuf>,
    /// The maximum number of sessions, 1 to 256. Each has a thread, and each computes one operation at a time.
    #[serde(default = "sessions")]
    pub sessions: usize,
    /// The time in milliseconds, 10 to 600,000, after which a call of the module that does not return is abandoned.
    #[serde(default = "patience_ms")]
    pub patience_ms: u64,
    /// The name for logs and metrics. Default: the label of the token, or `slot-N`.
    pub name: Option<String>,
    /// True if the module runs in a process of its own, so that a crash of it ends no other work. The process is a
    /// private cryptoserver.
    #[serde(default = "isolate")]
    pub isolate: bool,
    /// The share of agreements and decapsulations, 0 to 1, that another device with the key, or the same key in this
    /// process, computes again. Everything else is verified with the public half, always.
    #[serde(default = "cross_check")]
    pub cross_check: f64,
    /// The program of that process. Default: this program, which must be `oarlock`.
    pub program: Option<PathBuf>,
}

/// An error of the settings of a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum HsmSettingsError {
    #[error("module: expected an absolute path, found {}", found.display())]
    Module { found: PathBuf },
    #[error("token: expected either the label of a token or `slot`, found {found}")]
    Token { found: &'static str },
    #[error("token: expected a label of 1 to 32 bytes, found {found} bytes")]
    Label { found: usize },
    #[error("pin_file: expected an absolute path, found {}", found.display())]
    PinFile { found: PathBuf },
    #[error("program: expected an absolute path, found {}", found.display())]
    Program { found: PathBuf },
    #[error("cross_check: expected 0 to 1, found {found}")]
    CrossCheck { found: f64 },
    #[error("name: expected different names, and two devices are called {name:?}")]
    SameName { name: String },
    #[error("sessions: expected 1 to {MAX_SESSIONS}, found {found}")]
    Sessions { found: usize },
    #[error("patience_ms: expected 10 to 600000, found {found}")]
    Patience { found: u64 },
    #[error("{attribute}: expected in the URI of a device without settings")]
    Attribute { attribute: &'static str },
}

/// The holder of the keys that are in the devices of a service.
pub const HSM_HOLDER: &str = "hsm";

/// The maximum number of sessions of a device.
pub const MAX_SESSIONS: usize = 256;

/// The maximum length of a label, `CK_TOKEN_INFO.label`.
const MAX_LABEL_LEN: usize = 32;

const PATIENCE_RANGE_MS: std::ops::RangeInclusive<u64> = 10..=600_000;

/// Few devices compute more than four operations at a time, and each session costs a thread.
fn sessions() -> usize {
    4
}

/// A network HSM that fails over answers within seconds.
fn patience_ms() -> u64 {
    5_000
}

/// An error of one result in a hundred shows soon, at a hundredth of the cost.
fn cross_check() -> f64 {
    0.01
}

fn isolate() -> bool {
    true
}

impl HsmSettings {
    /// Returns the settings that a URI contains: its module, its token and its PIN file.
    ///
    /// # Errors
    /// [`HsmSettingsError::Attribute`] if the URI names no module, else the errors of [`check`](Self::check).
    pub fn from_uri(uri: &Pkcs11Uri) -> Result<Self, HsmSettingsError> {
        let module =
            uri.module_path.as_ref().ok_or(HsmSettingsError::Attribute { attribute: "module-path" })?;
        let settings = Self {
            module: module.into(),
            token: uri.token.clone(),
            // A label and a number of one URI would both have to match. The label stays when slots are renumbered.
            slot: uri.slot_id.filter(|_| uri.token.is_none()),
            pin_file: uri.pin_source.as_ref().map(PathBuf::from),
            sessions: sessions(),
            patience_ms: patience_ms(),
            name: None,
            // A device without settings is that of a command, which a crash may end.
            isolate: false,
            cross_check: cross_check(),
            program: None,
        };
        settings.check()?;
        Ok(settings)
    }

    /// Checks the settings without touching files or the device.
    ///
    /// # Errors
    /// A setting is out of its range. The error names it.
    pub fn check(&self) -> Result<(), HsmSettingsError> {
        // A bare name would make the loader search directories that others may write to.
        if !self.module.is_absolute() {
            return Err(HsmSettingsError::Module { found: self.module.clone() });
        }
        match (&self.token, self.slot) {
            (None, None) => return Err(HsmSettingsError::Token { found: "neither" }),
            (Some(_), Some(_)) => return Err(HsmSettingsError::Token { found: "both" }),
            (Some(label), None) if !(1..=MAX_LABEL_LEN).contains(&label.len()) => {
                return Err(HsmSettingsError::Label { found: label.len() });
            }
            _ => {}
        }
        if let Some(found) = self.program.as_ref().filter(|path| !path.is_absolute()) {
            return Err(HsmSettingsError::Program { found: found.clone() });
        }
        if let Some(found) = self.pin_file.as_ref().filter(|path| !path.is_absolute()) {
            return Err(HsmSettingsError::PinFile { found: found.clone() });
        }
        if !(1..=MAX_SESSIONS).contains(&self.sessions) {
            return Err(HsmSettingsError::Sessions { found: self.sessions });
        }
        if !(0.0..=1.0).contains(&self.cross_check) {
            return Err(HsmSettingsError::CrossCheck { found: self.cross_check });
        }
        if !PATIENCE_RANGE_MS.contains(&self.patience_ms) {
            return Err(HsmSettingsError::Patience { found: self.patience_ms });
        }
        Ok(())
    }

    /// Checks the settings of several devices.
    ///
    /// # Errors
    /// As for [`check`](Self::check), and [`HsmSettingsError::SameName`].
    pub fn check_all(devices: &[Self]) -> Result<(), HsmSettingsError> {
        let mut names = BTreeSet::new();
        for device in devices {
            device.check()?;
            let name = device.device_name();
            if !names.insert(name.clone()) {
                return Err(HsmSettingsError::SameName { name });
            }
        }
        Ok(())
    }

    /// Returns the name for logs and metrics.
    #[must_use]
    pub fn device_name(&self) -> String {
        let default = || match (&self.token, self.slot) {
            (Some(label), _) => label.clone(),
            (None, slot) => format!("slot-{}", slot.unwrap_or_default()),
        };
        self.name.clone().unwrap_or_else(default)
    }

    /// False if a URI names another token or module. What the settings do not tell, the token decides.
    #[must_use]
    pub fn may_be_named_by(&self, uri: &Pkcs11Uri) -> bool {
        fn fits<T: PartialEq>(wanted: Option<&T>, found: Option<&T>) -> bool {
            wanted.zip(found).is_none_or(|(wanted, found)| wanted == found)
        }
        fits(uri.token.as_ref(), self.token.as_ref())
            && fits(uri.slot_id.as_ref(), self.slot.as_ref())
            && uri.module_path.as_ref().is_none_or(|path| Path::new(path) == self.module)
    }

    /// Makes the names of files relative to a directory, and absolute.
    pub fn resolve_paths(&mut self, base: &Path) {
        let files = [&mut self.pin_file, &mut self.program].into_iter().flatten();
        for path in files.chain([&mut self.module]) {
            let joined = base.join(&*path);
            // Without a current directory it stays as it is, and `check` refuses it.
            *path = std::path::absolute(&joined).unwrap_or(joined);
        }
    }

    /// Returns the token for messages: its label or its slot.
    pub(crate) fn token_name(&self) -> String {
        match (&self.token, self.slot) {
            (Some(label), _) => format!("token {label:?}"),
            (None, Some(slot)) => format!("the token in slot {slot}"),
            (None, None) => "a token".to_owned(),
        }
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_millis(self.patience_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<HsmSettings, String> {
        let settings: HsmSettings = toml::from_str(text).map_err(|error| error.to_string())?;
        settings.check().map_err(|error| error.to_string())?;
        Ok(settings)
    }

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let settings = read("module = '/usr/lib/p11.so'\ntoken = 'mail'").unwrap();
        assert_eq!((settings.sessions, settings.patience_ms, settings.pin_file), (4, 5_000, None));
    }

    #[test]
    fn errors_name_the_setting_and_what_is_allowed() {
        for (text, expected) in [
            ("token = 'a'", "missing field `module`"),
            ("module = '/m'\ntoken = 'a'\npin = '1234'", "unknown field `pin`"),
            ("module = 'm.so'\ntoken = 'a'", "module: expected an absolute path, found m.so"),
            ("module = '/m'", "found neither"),
            ("module = '/m'\ntoken = 'a'\nslot = 0", "found both"),
            ("module = '/m'\ntoken = ''", "a label of 1 to 32 bytes, found 0"),
            ("module = '/m'\ntoken = '123456789012345678901234567890123'", "found 33 bytes"),
            ("module = '/m'\nslot = 0\npin_file = 'pin'", "pin_file: expected an absolute path"),
            ("module = '/m'\nslot = 0\nsessions = 0", "sessions: expected 1 to 256, found 0"),
            ("module = '/m'\nslot = 0\npatience_ms = 9", "patience_ms: expected 10 to 600000, found 9"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn relative_paths_start_at_the_directory_of_the_settings() {
        let mut settings: HsmSettings =
            toml::from_str("module = 'm.so'\nslot = 1\npin_file = 'pin'").unwrap();
        settings.resolve_paths(Path::new("/etc/oarlock"));
        settings.check().unwrap();
        assert_eq!(settings.module, Path::new("/etc/oarlock/m.so"));
        // The settings were named by a path without a directory.
        let mut bare: HsmSettings = toml::from_str("module = 'm.so'\nslot = 1").unwrap();
        bare.resolve_paths(Path::new(""));
        bare.check().unwrap();
        assert_eq!(bare.module, std::env::current_dir().unwrap().join("m.so"));
        assert_eq!(settings.pin_file.as_deref(), Some(Path::new("/etc/oarlock/pin")));
    }

    #[test]
    fn a_uri_with_a_module_is_enough() {
        let settings = |uri: &str| HsmSettings::from_uri(&uri.parse().unwrap());
        let found = settings("pkcs11:token=mail;slot-id=3?module-path=/m.so&pin-source=/etc/pin").unwrap();
        assert_eq!((found.token.as_deref(), found.slot), (Some("mail"), None));
        assert_eq!(found.pin_file.as_deref(), Some(Path::new("/etc/pin")));
        let error = settings("pkcs11:token=mail").unwrap_err();
        assert_eq!(error.to_string(), "module-path: expected in the URI of a device without settings");
        assert!(settings("pkcs11:object=a?module-path=/m.so").is_err());
    }
}
