//! The files of a server without configuration: an authority, certificates for the server and for one client, sample
//! keys, and a configuration that names them. They are created once and used again.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use oarlock::Curve;
use oarlock::Key;
use oarlock::keys::{KeyError, export, generate};
use oarlock_files::atomic_file::{self, WriteOptions};
use oarlock_wire::{Credentials, ServerSettingsError};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use zeroize::Zeroizing;

/// The name in the certificate of the development client.
pub const CLIENT: &str = "developer.oarlock.test";

/// The address at which a server without configuration listens for mutual TLS.
pub const ADDRESS: &str = "127.0.0.1:7443";

/// The address at which it serves its dashboard.
pub(crate) const DASHBOARD: &str = "127.0.0.1:9091";

/// A directory with the files of a development server.
#[derive(Clone, Debug)]
pub struct Development {
    directory: PathBuf,
}

/// An error of creating the files of a development server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DevelopmentError {
    /// No directory is known for the files.
    #[error(
        "neither XDG_STATE_HOME nor HOME names a directory for development keys (HOME has to exist): set one of them, or give --config"
    )]
    NoDirectory,
    /// A file cannot be written.
    #[error("{}: {error}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A certificate cannot be created.
    #[error("certificates for development: {0}")]
    Certificate(#[from] rcgen::Error),
    /// A key cannot be generated.
    #[error("keys for development: {0}")]
    Key(#[from] KeyError),
}

impl Development {
    /// Returns the directory of this user, under the XDG state directory.
    ///
    /// # Errors
    /// Neither `XDG_STATE_HOME` nor `HOME` names a directory.
    pub fn of_user() -> Result<Self, DevelopmentError> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let state = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
        // The XDG Base Directory Specification says that relative paths must be ignored.
        let state = state.or_else(|| Some(set("HOME").filter(|home| home.is_dir())?.join(".local/state")));
        Ok(Self::at(state.ok_or(DevelopmentError::NoDirectory)?.join("oarlock")))
    }

    /// Returns a given directory.
    #[must_use]
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Returns the path of the configuration.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.directory.join("oarlock.toml")
    }

    /// Returns the path of the authority's certificate.
    #[must_use]
    pub fn ca(&self) -> PathBuf {
        self.directory.join("ca.pem")
    }

    /// Returns the path of the client's certificate.
    #[must_use]
    pub fn client_certificate(&self) -> PathBuf {
        self.directory.join("client.pem")
    }

    /// Returns the path of the client's private key.
    #[must_use]
    pub fn client_key(&self) -> PathBuf {
        self.directory.join("client-key.pem")
    }

    /// Reads the credentials of the client.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn credentials(&self) -> Result<Credentials, ServerSettingsError> {
        Credentials::read(&self.ca(), &self.client_certificate(), &self.client_key())
    }

    /// Returns the directory of keys.
    #[must_use]
    pub fn keys(&self) -> PathBuf {
        self.directory.join("keys")
    }

    /// Returns the path of the file of symmetric keys.
    #[must_use]
    pub fn records(&self) -> PathBuf {
        self.directory.join("records.keys")
    }

    /// Returns the path of the UNIX socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.directory.join("oarlock.sock")
    }

    /// Creates the missing files. Returns true if any file was created.
    ///
    /// # Errors
    /// A file cannot be created or written.
    pub fn prepare(&self) -> Result<bool, DevelopmentError> {
        let keys = self.keys();
        for directory in [&self.directory, &keys] {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
            made.map_err(|error| DevelopmentError::Write { path: directory.clone(), error })?;
        }
        // The configuration is written last, so that it never names files that could not be created.
        let mut is_new = self.certificates()?;
        is_new |= missing(&keys.join("rsa2048.pem"), || Ok(private(&generate::rsa(2048)?)?))?;
        is_new |= missing(&keys.join("p256.pem"), || Ok(private(&generate::ec(Curve::P256)?)?))?;
        is_new |= missing(&keys.join("ed25519.pem"), || Ok(private(&generate::ed25519()?)?))?;
        is_new |= missing(&keys.join("x25519.pem"), || Ok(private(&generate::x25519()?)?))?;
        is_new |= missing(&self.records(), || Ok(symmetric()?))?;
        is_new |= missing(&self.config(), || Ok(Zeroizing::new(config())))?;
        Ok(is_new)
    }

    /// Creates the certificates, all of them together. The key of their authority is not kept, so it cannot sign any
    /// other.
    fn certificates(&self) -> Result<bool, DevelopmentError> {
        let path = |name: &str| self.directory.join(name);
        let names = ["ca.pem", "server.pem", "server-key.pem", "client.pem", "client-key.pem"];
        // All or none: a certificate without its authority's key cannot be made again alone.
        if names.iter().all(|name| path(name).exists()) {
            return Ok(false);
        }
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, "Oarlock development authority");
        // Path length 0: this authority certifies no other authority.
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate()?;
        let authority = params.self_signed(&key)?;
        let issuer = Issuer::new(params, key);
        let server = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
        let (server, server_key) =
            leaf(&issuer, "Oarlock development server", server, ExtendedKeyUsagePurpose::ServerAuth)?;
        let client = vec![CLIENT.to_owned()];
        let (client, client_key) =
            leaf(&issuer, "Oarlock development client", client, ExtendedKeyUsagePurpose::ClientAuth)?;
        let texts = [Zeroizing::new(authority.pem()), server, server_key, client, client_key];
        for (name, text) in names.into_iter().zip(&texts) {
            write(&path(name), text)?;
        }
        Ok(true)
    }
}

type Pem = Zeroizing<String>;

fn leaf(
    issuer: &Issuer<'_, KeyPair>,
    name: &str,
    names: Vec<String>,
    purpose: ExtendedKeyUsagePurpose,
) -> Result<(Pem, Pem), rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![purpose];
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, issuer)?;
    Ok((Zeroizing::new(certificate.pem()), Zeroizing::new(key.serialize_pem())))
}

fn private(key: &Key) -> Result<Pem, KeyError> {
    export::private_pkcs8_pem(key)
}

fn symmetric() -> Result<Pem, KeyError> {
    let mut text = Zeroizing::new(String::with_capacity(1024));
    for (name, key_type, len) in [("tdes2", "tdes2", 16), ("aes128", "aes128", 16), ("hmac", "hmac", 32)] {
        let key = generate::secret(len)?;
        text.push_str(&format!("{{\"name\":\"{name}\",\"type\":\"{key_type}\",\"hex\":\""));
        for byte in key.secret().map(|secret| secret.expose()).unwrap_or_default() {
            for digit in [byte >> 4, byte & 15] {
                text.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
            }
        }
        text.push_str("\"}\n");
    }
    Ok(text)
}

fn config() -> String {
    format!(
        r#"# Made by `oarlock serve` for development. docs/oarlock.toml has every setting.

[listen]
tcp = "{ADDRESS}"
unix = "oarlock.sock"
dashboard = "{DASHBOARD}"

[tls]
certificate = "server.pem"
private_key = "server-key.pem"
client_ca = "ca.pem"

[keys]
directory = "keys"
records = "records.keys"

[[grant]]
keys = ["*"]
clients = ["dns:{CLIENT}", "uid:*"]

[limits]
# For trials: clients may use the engines with keys of their own.
may_bring_keys = true
"#
    )
}

/// Creates a file if it is missing.
fn missing(
    path: &Path,
    text: impl FnOnce() -> Result<Pem, DevelopmentError>,
) -> Result<bool, DevelopmentError> {
    if path.exists() {
        return Ok(false);
    }
    write(path, &text()?)?;
    Ok(true)
}

/// Writes a file completely or not at all, readable by its owner only.
fn write(path: &Path, text: &str) -> Result<(), DevelopmentError> {
    let options = WriteOptions { mode: 0o600, is_synced: false };
    atomic_file::write(path, text.as_bytes(), options)
        .map_err(|error| DevelopmentError::Write { path: path.to_owned(), error })
}
