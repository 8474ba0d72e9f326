//! Keys, certificates and configurations in a directory.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use oarlock::Curve;
use oarlock::Key;
use oarlock::keys::reference::Reference;
use oarlock::keys::{KeyError, export, generate};
use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair};
use tempfile::TempDir;
use zeroize::Zeroizing;

use super::BenchError;
use super::plan::ServerKeyKind;

/// The name in certificates.
pub(super) const HOST: &str = "bench.oarlock.test";

/// The name in the certificate of clients.
const CLIENT: &str = "client.oarlock.test";

/// The directory of a bench. It is removed at the end unless `--keep` names it.
pub(super) struct BenchDirectory {
    directory: PathBuf,
    _temporary: Option<TempDir>,
}

/// The provider's library.
pub(super) struct ProviderLibrary {
    /// A path that needs no quotes.
    pub(super) link: PathBuf,
    /// The real path.
    pub(super) real: PathBuf,
}

/// A certificate and its key of servers.
pub(super) struct ServerIdentity {
    /// The servers' directory.
    pub(super) directory: PathBuf,
    pub(super) kind: ServerKeyKind,
    /// The certificate in PEM, which is its own authority.
    pub(super) certificate: String,
    key: Key,
    private_key: Zeroizing<String>,
}

/// The certificate and key that clients show to a server.
pub(super) struct ClientCredential {
    /// The certificate in PEM, signed by the authority of the server's directory.
    pub(super) certificate: String,
    /// The private key in PEM.
    pub(super) private_key: Zeroizing<String>,
}

impl BenchDirectory {
    pub(super) fn new(keep: Option<&Path>) -> Result<Self, BenchError> {
        let (directory, temporary) = match keep {
            Some(path) => (kept(path)?, None),
            None => {
                let made = tempfile::tempdir();
                let made = made.map_err(|error| BenchError::File { path: std::env::temp_dir(), error })?;
                (made.path().to_owned(), Some(made))
            }
        };
        if !needs_no_quotes(&directory) {
            return Err(BenchError::Path { path: directory });
        }
        Ok(Self { directory, _temporary: temporary })
    }

    pub(super) fn path(&self) -> &Path {
        &self.directory
    }

    /// Links the provider's library into this directory.
    pub(super) fn link_library(&self, real: PathBuf) -> Result<ProviderLibrary, BenchError> {
        let link = self.directory.join("oarlock.so");
        match std::os::unix::fs::symlink(&real, &link) {
            Ok(()) => Ok(ProviderLibrary { link, real }),
            Err(error) => Err(BenchError::File { path: link, error }),
        }
    }

    /// Makes a new key for servers, certified by itself, in a directory of this name, which has at most one of a kind.
    pub(super) fn identity(&self, name: &str, kind: ServerKeyKind) -> Result<ServerIdentity, BenchError> {
        let key = generate_key(kind)?;
        let private_key = export::private_pkcs8_pem(&key)?;
        let params = CertificateParams::new(vec![HOST.to_owned()])?;
        let certificate = params.self_signed(&KeyPair::from_pem(&private_key)?)?.pem();
        let directory = make_directory(self.directory.join(name))?;
        let identity = ServerIdentity { directory, kind, certificate, key, private_key };
        write(&identity.certificate_file(), identity.certificate.as_bytes())?;
        write(&identity.key_file(), identity.private_key.as_bytes())?;
        Ok(identity)
    }

    /// Makes a new key of each kind, as [`identity`](Self::identity) does.
    pub(super) fn identities(
        &self,
        name: &str,
        kinds: &[ServerKeyKind],
    ) -> Result<Vec<ServerIdentity>, BenchError> {
        kinds.iter().map(|kind| self.identity(name, *kind)).collect()
    }
}

impl ServerIdentity {
    pub(super) fn certificate_file(&self) -> PathBuf {
        self.directory.join(format!("{}-certificate.pem", self.kind))
    }

    pub(super) fn key_file(&self) -> PathBuf {
        self.directory.join(format!("{}-key.pem", self.kind))
    }

    /// Returns the file with the certificate of the clients' authority.
    pub(super) fn client_authority_file(&self) -> PathBuf {
        self.directory.join("clients.pem")
    }

    /// Makes a new authority for clients, writes its certificate into the servers' directory, and makes a client of it.
    /// All its keys are of the server's kind.
    pub(super) fn make_client(&self) -> Result<ClientCredential, BenchError> {
        let authority_key = KeyPair::from_pem(&export::private_pkcs8_pem(&generate_key(self.kind)?)?)?;
        let mut params = named("clients of oarlock bench", Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&authority_key)?;
        write(&self.client_authority_file(), authority.pem().as_bytes())?;
        let private_key = export::private_pkcs8_pem(&generate_key(self.kind)?)?;
        let issuer = Issuer::new(params, authority_key);
        let params = named(CLIENT, vec![CLIENT.to_owned()])?;
        let certificate = params.signed_by(&KeyPair::from_pem(&private_key)?, &issuer)?.pem();
        Ok(ClientCredential { certificate, private_key })
    }

    /// Returns the name of the key at a cryptoserver that holds it.
    pub(super) fn held_name(&self) -> String {
        self.kind.to_string()
    }

    pub(super) fn private_key(&self) -> &str {
        &self.private_key
    }

    /// Returns certificate and private key in one text.
    pub(super) fn bundle(&self) -> Zeroizing<String> {
        Zeroizing::new([self.certificate.as_str(), self.private_key.as_str()].concat())
    }

    /// Returns the text of a key file that refers to the key at a cryptoserver.
    pub(super) fn reference(&self) -> Result<String, BenchError> {
        let spki = Some(export::spki_der(&self.key)?);
        Ok(Reference { name: self.held_name(), spki }.to_pem()?)
    }
}

/// Returns parameters with this name as subject. OpenSSL takes a certificate for self-signed if it has the subject of
/// its issuer.
fn named(subject: &str, hosts: Vec<String>) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(hosts)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, subject);
    Ok(params)
}

fn generate_key(kind: ServerKeyKind) -> Result<Key, KeyError> {
    match kind {
        ServerKeyKind::Rsa2048 => generate::rsa(2048),
        ServerKeyKind::P256 => generate::ec(Curve::P256),
    }
}

/// Makes a directory for this user alone.
pub(super) fn make_directory(path: PathBuf) -> Result<PathBuf, BenchError> {
    match DirBuilder::new().recursive(true).mode(0o700).create(&path) {
        Ok(()) => Ok(path),
        Err(error) => Err(BenchError::File { path, error }),
    }
}

/// Writes a new file for this user alone.
pub(super) fn write(path: &Path, content: &[u8]) -> Result<(), BenchError> {
    let new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written: io::Result<()> = new.and_then(|mut file| file.write_all(content));
    written.map_err(|error| BenchError::File { path: path.to_owned(), error })
}

fn kept(path: &Path) -> Result<PathBuf, BenchError> {
    let directory = make_directory(path.to_owned())?;
    let failed = |error| BenchError::File { path: directory.clone(), error };
    match fs::read_dir(&directory).map_err(failed)?.next() {
        None => directory.canonicalize().map_err(failed),
        Some(_) => Err(BenchError::Keep { path: directory }),
    }
}

fn needs_no_quotes(path: &Path) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    path.to_str().is_some_and(|text| text.chars().all(is_plain))
}
