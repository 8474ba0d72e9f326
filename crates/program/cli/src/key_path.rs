//! Options that name key files or URIs of keys. A key or a PIN in the place of the name is rejected before an error
//! could quote it.

use std::ffi::OsStr;
use std::fmt::Display;
use std::path::Path;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use oarlock_key_files::check_key_path;
use oarlock_service_kit::HeldKeyName;

/// A parser of values that rejects every value which looks like a key, and every URI that is not valid. The value may
/// have a name before it: `NAME=PATH`.
#[derive(Clone, Debug)]
pub(crate) struct KeyPathParser<P>(pub(crate) P);

/// Returns a parser of the path of a key, a certificate or a passphrase.
pub(crate) fn key_path() -> KeyPathParser<PathBufValueParser> {
    KeyPathParser(PathBufValueParser::new())
}

impl<P: TypedValueParser> TypedValueParser for KeyPathParser<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        let fault = |error: &dyn Display| {
            let name = argument.map_or_else(String::new, |argument| format!("{argument}: "));
            clap::Error::raw(ErrorKind::ValueValidation, format!("{name}{error}\n")).with_cmd(command)
        };
        // clap's own errors quote the value.
        check_key_path(Path::new(value)).map_err(|error| fault(&error))?;
        let named = value.to_str().and_then(|text| text.split_once('=')).map(|(_, path)| OsStr::new(path));
        for path in [Some(value), named].into_iter().flatten() {
            HeldKeyName::from_path(Path::new(path)).map_err(|error| fault(&error))?;
        }
        self.0.parse_ref(command, argument, value)
    }
}
