//! The settings of a connection to cryptoservers.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oarlock::Accelerator;
use oarlock_key_files::read_private;
use serde::Deserialize;

use crate::{ConnectObserver, Credentials, Endpoint, RemoteConfig, RemoteError, RemoteHolder, ServerUsers};

/// The settings of a connection to cryptoservers: the section `[cryptoserver]` of the services.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSettings {
    /// The servers: `https://HOST:PORT`, `http://HOST:PORT` or the path of a UNIX socket. Every server must hold the
    /// keys.
    pub servers: Vec<String>,
    /// The user that may serve the UNIX sockets, besides root and the user of this process: a name or a number.
    #[serde(default = "server_user")]
    pub server_user: String,
    /// The CA of the servers' certificates. It is required for `https`, like the next two.
    pub server_ca: Option<PathBuf>,
    /// The client certificate and its chain.
    pub certificate: Option<PathBuf>,
    /// The private key of the client certificate.
    pub private_key: Option<PathBuf>,
    /// The time in milliseconds after which the client also asks another server.
    #[serde(default = "patience_ms")]
    pub patience_ms: u64,
}

/// An error of settings of a connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerSettingsError {
    /// An address begins with `https`, and a file is not named.
    #[error("{setting}: expected a file for https")]
    NoFile {
        /// The name of the setting.
        setting: &'static str,
    },
    /// A file cannot be read, or others may read the private key.
    #[error("{setting}: {}: {error}", path.display())]
    File {
        /// The name of the setting.
        setting: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The client cannot start.
    #[error(transparent)]
    Remote(#[from] RemoteError),
}

/// The maximum size of a private key with its certificates, which is far smaller.
const MAX_KEY_BYTES: usize = 1 << 20;

/// The user of the packaged server.
fn server_user() -> String {
    "oarlock".to_owned()
}

fn patience_ms() -> u64 {
    2_000
}

impl ServerSettings {
    /// Returns settings of one server, with the default user and patience, and without credentials.
    #[must_use]
    pub fn new(server: impl Into<String>) -> Self {
        Self {
            servers: vec![server.into()],
            server_user: server_user(),
            server_ca: None,
            certificate: None,
            private_key: None,
            patience_ms: patience_ms(),
        }
    }

    /// Reads the credentials and opens the servers as the holder `name`. It connects when it is first needed.
    ///
    /// # Errors
    /// A file of the credentials is missing or cannot be read, there are no servers, or the system gives no thread.
    pub fn open(
        &self,
        name: &str,
        checker: Accelerator,
        observer: ConnectObserver,
    ) -> Result<RemoteHolder, ServerSettingsError> {
        let patience = Duration::from_millis(self.patience_ms.max(1));
        let servers = self.servers.iter().map(|server| self.endpoint(server)).collect::<Result<_, _>>()?;
        let config = RemoteConfig { patience, observer: Some(observer), ..RemoteConfig::new(name, servers) };
        Ok(RemoteHolder::new(config, checker)?)
    }

    /// Returns the address of a server, with the credentials or the users that the settings name.
    ///
    /// # Errors
    /// A file of the credentials is missing or cannot be read.
    pub fn endpoint(&self, server: &str) -> Result<Endpoint, ServerSettingsError> {
        if server.starts_with("https:") {
            let credentials = Some(self.credentials()?);
            return Ok(Endpoint::Grpc { url: server.to_owned(), credentials });
        }
        if server.starts_with("http:") {
            return Ok(Endpoint::Grpc { url: server.to_owned(), credentials: None });
        }
        let users = ServerUsers::with_user(&self.server_user);
        Ok(Endpoint::Unix { path: server.into(), users })
    }

    fn credentials(&self) -> Result<Credentials, ServerSettingsError> {
        Credentials::read(
            named("server_ca", self.server_ca.as_deref())?,
            named("certificate", self.certificate.as_deref())?,
            named("private_key", self.private_key.as_deref())?,
        )
    }

    /// Makes the names of files relative to a directory.
    pub fn resolve_paths(&mut self, base: &Path) {
        for path in [&mut self.server_ca, &mut self.certificate, &mut self.private_key].into_iter().flatten()
        {
            *path = base.join(&*path);
        }
    }
}

fn named<'p>(setting: &'static str, path: Option<&'p Path>) -> Result<&'p Path, ServerSettingsError> {
    path.ok_or(ServerSettingsError::NoFile { setting })
}

impl Credentials {
    /// Reads the files of credentials.
    ///
    /// # Errors
    /// A file cannot be read, or users besides its owner may read the private key.
    pub fn read(
        server_ca: &Path,
        certificate: &Path,
        private_key: &Path,
    ) -> Result<Self, ServerSettingsError> {
        let fault = |setting, path: &Path| {
            let path = path.to_owned();
            move |error| ServerSettingsError::File { setting, path, error }
        };
        Ok(Self {
            server_ca: std::fs::read(server_ca).map_err(fault("server_ca", server_ca))?,
            certificate: std::fs::read(certificate).map_err(fault("certificate", certificate))?,
            private_key: read_private(private_key, MAX_KEY_BYTES)
                .map_err(fault("private_key", private_key))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn addresses_tell_the_transport_and_who_may_serve_it() {
        let settings = ServerSettings { server_user: "4711".into(), ..ServerSettings::new("") };
        let plaintext = settings.endpoint("http://localhost:1").unwrap();
        assert!(matches!(plaintext, Endpoint::Grpc { credentials: None, .. }), "{plaintext:?}");
        let Endpoint::Unix { users, .. } = settings.endpoint("/run/oarlock.sock").unwrap() else { panic!() };
        assert_eq!(users, ServerUsers::with_user("4711"));
    }

    #[test]
    fn missing_and_open_files_of_credentials_are_named_with_their_settings() {
        let directory = tempfile::tempdir().unwrap();
        let url = "https://localhost:1";
        let mut settings = ServerSettings::new(url);
        let error = |settings: &ServerSettings| settings.endpoint(url).unwrap_err().to_string();
        assert_eq!(error(&settings), "server_ca: expected a file for https");
        (settings.server_ca, settings.certificate) = (Some("ca.pem".into()), Some("client.pem".into()));
        settings.private_key = Some("client-key.pem".into());
        settings.resolve_paths(directory.path());
        let missing = error(&settings);
        assert!(missing.starts_with("server_ca: /") && missing.contains("ca.pem: No such file"), "{missing}");
        for name in ["ca.pem", "client.pem", "client-key.pem"] {
            fs::write(directory.path().join(name), name).unwrap();
        }
        let key = directory.path().join("client-key.pem");
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(error(&settings).starts_with("private_key: "), "{}", error(&settings));
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        let Endpoint::Grpc { credentials: Some(credentials), .. } = settings.endpoint(url).unwrap() else {
            panic!()
        };
        assert_eq!(
            (&credentials.server_ca[..], &**credentials.private_key),
            (&b"ca.pem"[..], &b"client-key.pem"[..])
        );
    }
}
