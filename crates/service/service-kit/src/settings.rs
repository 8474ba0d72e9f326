//! The settings file of a service, and the errors in its settings.

use std::path::{Path, PathBuf};

use oarlock_files::line_number;
use oarlock_hsm::HsmSettingsError;
use oarlock_key_files::check_key_path;
use serde::de::DeserializeOwned;

use crate::HeldKeyName;

/// An error in the settings of a service.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The file has a syntax error. The line is not quoted: a key that was pasted into the file must not appear in a
    /// log.
    #[error("{}:{line}: {reason}", path.display())]
    Syntax {
        /// The path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The fault in that line.
        reason: String,
    },
    /// A value is not allowed.
    #[error("{field}: expected {expected}, found {found}")]
    Value {
        /// The name of the setting.
        field: &'static str,
        /// The allowed values.
        expected: &'static str,
        /// The value found.
        found: String,
    },
    /// A device has an invalid setting.
    #[error("[[hsm]] {0}")]
    Device(#[from] HsmSettingsError),
}

/// Reads settings from a file in TOML. `resolve_paths` gets the directory of the file, at which relative paths in it
/// start.
///
/// # Errors
/// The file cannot be read, or has a syntax error.
pub fn read_settings<T: DeserializeOwned>(
    path: &Path,
    resolve_paths: impl FnOnce(&mut T, &Path),
) -> Result<T, SettingsError> {
    let read = |error| SettingsError::Read { path: path.to_owned(), error };
    let text = oarlock_files::read_text(path).map_err(read)?;
    let syntax = |error: toml::de::Error| SettingsError::Syntax {
        path: path.to_owned(),
        // The error's own text quotes the line, so only its position and its message are used.
        line: line_number(&text, error.span().map_or(0, |span| span.start)),
        reason: error.message().to_owned(),
    };
    let mut settings = toml::from_str(&text).map_err(syntax)?;
    resolve_paths(&mut settings, path.parent().unwrap_or(Path::new("")));
    Ok(settings)
}

/// Checks a condition of a setting. `found` shows the value.
///
/// # Errors
/// The condition is false.
pub fn expect(
    field: &'static str,
    expected: &'static str,
    is_good: bool,
    found: impl ToString,
) -> Result<(), SettingsError> {
    if is_good { Ok(()) } else { Err(SettingsError::Value { field, expected, found: found.to_string() }) }
}

/// Checks that no key was pasted in place of the name of a file, and that URIs of keys are valid, because messages
/// quote both.
///
/// # Errors
/// The first path that looks like a key, or a URI that is not valid.
pub fn expect_paths<'p>(
    paths: impl IntoIterator<Item = (&'static str, &'p PathBuf)>,
) -> Result<(), SettingsError> {
    let found = "what looks like a key itself (it is not shown): write the key into a file and name that";
    let mut paths = paths.into_iter();
    paths.try_for_each(|(field, path)| {
        expect(field, "the name of a file", check_key_path(path).is_ok(), found)?;
        let uri = HeldKeyName::from_path(path);
        let fault = uri.as_ref().err().map(ToString::to_string).unwrap_or_default();
        expect(field, "a valid URI of a key", uri.is_ok(), fault)
    })
}

/// Parses the permissions of a UNIX socket, the setting `[listen] unix_mode`.
///
/// # Errors
/// The text is not an octal number up to 0777.
pub fn parse_unix_mode(text: &str) -> Result<u32, SettingsError> {
    // Beyond 0777 are the set-user-ID and sticky bits, which mean nothing for a socket.
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| SettingsError::Value {
        field: "[listen] unix_mode",
        expected: "octal digits such as \"0660\"",
        found: format!("{text:?}"),
    })
}
