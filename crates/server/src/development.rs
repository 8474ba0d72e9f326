//! What a server without configuration works with: an authority of its own, certificates for itself and for one client, sample
//! keys, and the configuration that names them all. Made once, and used again.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use oarlock::Curve;
use oarlock::Key;
use oarlock::keys::{KeyError, export, generate};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use zeroize::Zeroizing;

/// The name in the certificate of the development client.
pub const CLIENT: &str = "developer.oarlock.test";

/// Where a server without configuration listens for mutual TLS.
pub const ADDRESS: &str = "127.0.0.1:7443";

/// A directory with everything in it.
#[derive(Clone, Debug)]
pub struct Development {
    directory: PathBuf,
}

/// Why it could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DevelopmentError {
    /// There is nowhere to put it.
    #[error(
        "neither XDG_STATE_HOME nor HOME names a directory for development keys (HOME has to exist): set one of them, or give --config"
    )]
    NoPlace,
    /// A file cannot be written.
    #[error("{}: {error}", path.display())]
    Write {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A certificate cannot be made.
    #[error("certificates for development: {0}")]
    Certificate(#[from] rcgen::Error),
    /// A key cannot be made.
    #[error("keys for development: {0}")]
    Key(#[from] KeyError),
}

impl Development {
    /// The directory of this user, under the XDG state directory.
    ///
    /// # Errors
    /// There is none.
    pub fn of_user() -> Result<Self, DevelopmentError> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let state = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
        let state = state.or_else(|| Some(set("HOME").filter(|home| home.is_dir())?.join(".local/state")));
        Ok(Self::at(state.ok_or(DevelopmentError::NoPlace)?.join("oarlock")))
    }

    /// Another directory.
    #[must_use]
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.directory.join("oarlock.toml")
    }

    /// The authority that certifies the server and the client.
    #[must_use]
    pub fn ca(&self) -> PathBuf {
        self.directory.join("ca.pem")
    }

    /// The client's certificate.
    #[must_use]
    pub fn client_certificate(&self) -> PathBuf {
        self.directory.join("client.pem")
    }

    /// The client's private key.
    #[must_use]
    pub fn client_key(&self) -> PathBuf {
        self.directory.join("client-key.pem")
    }

    /// The directory of keys.
    #[must_use]
    pub fn keys(&self) -> PathBuf {
        self.directory.join("keys")
    }

    /// The file of symmetric keys.
    #[must_use]
    pub fn records(&self) -> PathBuf {
        self.directory.join("records.keys")
    }

    /// The UNIX socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.directory.join("oarlock.sock")
    }

    /// Makes what is not there; true where anything was made.
    ///
    /// # Errors
    /// Something cannot be made or written.
    pub fn prepare(&self) -> Result<bool, DevelopmentError> {
        let keys = self.keys();
        for directory in [&self.directory, &keys] {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
            made.map_err(|error| DevelopmentError::Write { path: directory.clone(), error })?;
        }
        let mut is_new = self.certificates()?;
        is_new |= missing(&keys.join("rsa2048.pem"), || Ok(private(&generate::rsa(2048)?)?))?;
        is_new |= missing(&keys.join("p256.pem"), || Ok(private(&generate::ec(Curve::P256)?)?))?;
        is_new |= missing(&keys.join("ed25519.pem"), || Ok(private(&generate::ed25519()?)?))?;
        is_new |= missing(&keys.join("x25519.pem"), || Ok(private(&generate::x25519()?)?))?;
        is_new |= missing(&self.records(), || Ok(symmetric()?))?;
        is_new |= missing(&self.config(), || Ok(Zeroizing::new(config())))?;
        Ok(is_new)
    }

    /// An authority signs both certificates and is gone: its key is not kept, for all of them are made together.
    fn certificates(&self) -> Result<bool, DevelopmentError> {
        let path = |name: &str| self.directory.join(name);
        let names = ["ca.pem", "server.pem", "server-key.pem", "client.pem", "client-key.pem"];
        if names.iter().all(|name| path(name).exists()) {
            return Ok(false);
        }
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, "Oarlock development authority");
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

/// Makes a file that is not there.
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

/// Written whole or not at all, and for nobody else to read.
fn write(path: &Path, text: &str) -> Result<(), DevelopmentError> {
    let new = path.with_extension("new");
    let written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new);
    written
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&new, path))
        .map_err(|error| DevelopmentError::Write { path: path.to_owned(), error })
}
