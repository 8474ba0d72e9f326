//! The OpenSSL of servers.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::BenchError;
use super::plan::BenchProgram;

/// An OpenSSL that servers load instead of the system's.
pub(super) struct ServerLibssl {
    directory: PathBuf,
    /// The real path of libssl.
    pub(super) library: PathBuf,
}

/// The version of an OpenSSL, `3.0.19` for instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpensslVersion(pub(super) String);

/// The name under which servers look for libssl. Its interface is that of all releases of OpenSSL 3.
const LIBSSL: &str = "libssl.so.3";

/// The first release with the group X25519MLKEM768.
const FIRST_WITH_ML_KEM: (u32, u32) = (3, 5);

impl ServerLibssl {
    /// Finds the library in a directory.
    pub(super) fn find(directory: &Path) -> Result<Self, BenchError> {
        let path = directory.join(LIBSSL);
        let failed = |error| BenchError::Libssl { path: path.clone(), error };
        let library = path.canonicalize().map_err(failed)?;
        Ok(Self { directory: directory.canonicalize().map_err(failed)?, library })
    }

    /// Makes a program load this OpenSSL.
    pub(super) fn set_for(&self, command: &mut Command) {
        command.env("LD_LIBRARY_PATH", &self.directory);
    }
}

impl OpensslVersion {
    /// Asks a TLS server for the version that it runs with.
    pub(super) fn from_program(
        program: BenchProgram,
        libssl: Option<&ServerLibssl>,
    ) -> Result<Self, BenchError> {
        let path = program.path().ok_or(BenchError::NotInstalled(program))?;
        let mut command = Command::new(path);
        command.arg(if program == BenchProgram::Haproxy { "-vv" } else { "-V" }).stdin(Stdio::null());
        if let Some(libssl) = libssl {
            libssl.set_for(&mut command);
        }
        let output = command.output().map_err(|error| BenchError::Start { program, error })?;
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        Self::find(&text).ok_or_else(|| BenchError::LibsslVersion { program, reason: text.into_owned() })
    }

    /// Finds the version in the text of `nginx -V` or `haproxy -vv`. nginx says it twice if it was built with another.
    fn find(text: &str) -> Option<Self> {
        let marks = ["running with OpenSSL ", "Running on OpenSSL version : OpenSSL ", "built with OpenSSL "];
        let rest = marks.iter().find_map(|mark| text.split_once(mark))?.1;
        let version = rest.split(|letter: char| !letter.is_ascii_digit() && letter != '.').next()?;
        Some(Self(version.to_owned())).filter(|version| version.release().is_some())
    }

    /// True if this OpenSSL has the group X25519MLKEM768.
    pub(super) fn has_ml_kem(&self) -> bool {
        self.release().is_some_and(|release| release >= FIRST_WITH_ML_KEM)
    }

    /// Returns the major and the minor number.
    fn release(&self) -> Option<(u32, u32)> {
        let (major, rest) = self.0.split_once('.')?;
        let minor = rest.split('.').next()?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_version_that_a_server_runs_with() {
        let cases = [
            ("built with OpenSSL 3.0.22 25 Aug 2026 (running with OpenSSL 3.5.1 1 Jul 2025)", "3.5.1"),
            ("nginx version: nginx/1.22.1\nbuilt with OpenSSL 3.0.22 25 Aug 2026\n", "3.0.22"),
            (
                "Built with OpenSSL version : OpenSSL 3.0.22 25 Aug 2026\n\
                 Running on OpenSSL version : OpenSSL 3.0.19 27 Jan 2026\n",
                "3.0.19",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(OpensslVersion::find(text), Some(OpensslVersion(expected.to_owned())), "{text}");
        }
        for text in ["", "built with BoringSSL", "built with OpenSSL three"] {
            assert_eq!(OpensslVersion::find(text), None, "{text}");
        }
    }

    #[test]
    fn ml_kem_begins_with_openssl_3_5() {
        let has = |version: &str| OpensslVersion(version.to_owned()).has_ml_kem();
        assert!(has("3.5.0") && has("3.10.1") && has("4.0.3"));
        assert!(!has("3.0.19") && !has("3.4.9") && !has("1.1.1"));
    }
}
