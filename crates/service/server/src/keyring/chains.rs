//! Certificates beside keys: `mail.crt` has the certificates of the key in `mail.pem`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use oarlock::Fingerprint;
use oarlock::keys::import;
use oarlock_files::FileStamp;
use oarlock_service_kit::certificate::{UnlinkedCertificate, unlinked};
use tokio_rustls::rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The ending of a file of certificates.
const ENDING: &str = "crt";

/// The maximum bytes of a file. Chains have a few KiB, and descriptions of many keys must fit into one message.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// The maximum number of certificates of a key.
const MAX_CERTIFICATES: usize = 10;

/// The certificates of all keys, by the names of the keys.
#[derive(Debug, Default)]
pub(crate) struct KeyChains(BTreeMap<String, KeyChain>);

/// The certificates of a key, and what they were read for.
#[derive(Debug)]
struct KeyChain {
    /// The stamp of the file, or None if the file could not be examined.
    stamp: Option<FileStamp>,
    /// The key that the certificates were compared with.
    key: Fingerprint,
    /// The certificates in DER, first that of the key. Empty if none could be used.
    certificates: Vec<Bytes>,
}

/// The fault of a file of certificates. The key itself is not affected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyChainFault {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is too long.
    #[error("expected at most {} bytes", MAX_FILE_BYTES)]
    TooLong,
    /// The file has no certificates in PEM.
    #[error("expected certificates in PEM or one in DER: {reason}")]
    Pem {
        /// The fault.
        reason: String,
    },
    /// The file has too many certificates.
    #[error("expected at most {} certificates, found {found}", MAX_CERTIFICATES)]
    TooMany {
        /// The number that was found.
        found: usize,
    },
    /// A block is not a certificate.
    #[error("certificate {number} cannot be read")]
    Unreadable {
        /// The number of the certificate, from 1.
        number: usize,
    },
    /// The first certificate has another key.
    #[error(
        "the first certificate ({subject}) is of another key: expected that of the key, and then its issuers"
    )]
    OtherKey {
        /// The subject of the certificate.
        subject: String,
    },
    /// The certificates are not a chain.
    #[error(transparent)]
    Order(#[from] UnlinkedCertificate),
}

/// A key whose certificates are looked for: its name, its file and its fingerprint.
pub(super) struct ChainedKey<'a> {
    pub(super) name: &'a str,
    pub(super) file: &'a Path,
    pub(super) fingerprint: Fingerprint,
}

impl KeyChains {
    /// Returns the certificates of a key in DER, first its own. Empty if it has none.
    pub(super) fn of_key(&self, name: &str) -> &[Bytes] {
        self.0.get(name).map_or(&[], |chain| &chain.certificates)
    }

    /// Makes the next refresh read all files again, so that lasting faults are reported again.
    pub(super) fn forget_stamps(&mut self) {
        self.0.values_mut().for_each(|chain| chain.stamp = None);
    }

    /// Reads the files that have changed. Returns true if the certificates of a key have changed. The faults are those
    /// of files that were read now, so that each is reported once.
    pub(super) fn refresh<'a>(
        &mut self,
        keys: impl Iterator<Item = ChainedKey<'a>>,
        faults: &mut Vec<(PathBuf, KeyChainFault)>,
    ) -> bool {
        let mut before = std::mem::take(&mut self.0);
        let mut is_changed = false;
        for key in keys {
            // A name may have dots, and a sealed file has two endings.
            let path = key.file.with_file_name(format!("{}.{ENDING}", key.name));
            let old = before.remove(key.name);
            let had = old.as_ref().is_some_and(|chain| !chain.certificates.is_empty());
            match KeyChain::refresh(&path, &key, old) {
                ChainRefresh::Absent => is_changed |= had,
                ChainRefresh::Same(chain) => {
                    self.0.insert(key.name.to_owned(), chain);
                }
                ChainRefresh::New { chain, fault } => {
                    is_changed = true;
                    faults.extend(fault.map(|fault| (path, fault)));
                    self.0.insert(key.name.to_owned(), chain);
                }
            }
        }
        // The keys that are left have gone, which changes the keyring anyway.
        is_changed
    }
}

enum ChainRefresh {
    Absent,
    Same(KeyChain),
    New { chain: KeyChain, fault: Option<KeyChainFault> },
}

impl KeyChain {
    fn refresh(path: &Path, key: &ChainedKey<'_>, old: Option<Self>) -> ChainRefresh {
        // The stamp is read before the file, so that a change in between is noticed the next time.
        let (stamp, absence) = match FileStamp::read(path) {
            Ok(stamp) => (Some(stamp), None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return ChainRefresh::Absent,
            Err(error) => (None, Some(error)),
        };
        // If the key has changed, its former certificates must not stay in use, even if the file is the same.
        let old = old.filter(|old| old.key == key.fingerprint);
        if let Some(old) = old {
            if old.stamp == stamp {
                return ChainRefresh::Same(old);
            }
            return Self::read_again(path, key, stamp, absence, old.certificates);
        }
        Self::read_again(path, key, stamp, absence, Vec::new())
    }

    /// Reads the file. If it cannot be used, the certificates that were read before for the same key stay in use.
    fn read_again(
        path: &Path,
        key: &ChainedKey<'_>,
        stamp: Option<FileStamp>,
        absence: Option<io::Error>,
        before: Vec<Bytes>,
    ) -> ChainRefresh {
        let read = match absence {
            Some(error) => Err(error.into()),
            None => read_chain(path, key.fingerprint),
        };
        let (certificates, fault) = match read {
            Ok(certificates) => (certificates, None),
            Err(fault) => (before, Some(fault)),
        };
        ChainRefresh::New { chain: Self { stamp, key: key.fingerprint, certificates }, fault }
    }
}

fn read_chain(path: &Path, key: Fingerprint) -> Result<Vec<Bytes>, KeyChainFault> {
    let mut content = Vec::new();
    File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MAX_FILE_BYTES {
        return Err(KeyChainFault::TooLong);
    }
    let chain = parse_chain(&content)?;
    check_chain(&chain, key)?;
    Ok(chain.into_iter().map(|certificate| certificate.to_vec().into()).collect())
}

/// The tag of a SEQUENCE, with which every certificate in DER begins. Text in PEM cannot begin with it, as it is `0`.
const SEQUENCE: u8 = 0x30;

fn parse_chain(content: &[u8]) -> Result<Vec<CertificateDer<'static>>, KeyChainFault> {
    if content.first() == Some(&SEQUENCE) {
        return Ok(vec![CertificateDer::from(content.to_vec())]);
    }
    let found =
        import::certificates(content).map_err(|error| KeyChainFault::Pem { reason: error.to_string() })?;
    match found.len() {
        0 => Err(KeyChainFault::Pem { reason: "found no certificate".into() }),
        1..=MAX_CERTIFICATES => Ok(found.into_iter().map(CertificateDer::from).collect()),
        found => Err(KeyChainFault::TooMany { found }),
    }
}

/// Checks that the first certificate is of the key, and each other of the issuer of the one before. Signatures and
/// terms are for the peers that the certificates are shown to.
fn check_chain(chain: &[CertificateDer<'_>], key: Fingerprint) -> Result<(), KeyChainFault> {
    for (number, certificate) in (1..).zip(chain) {
        let parsed = match X509Certificate::from_der(certificate) {
            Ok(([], parsed)) => parsed,
            _ => return Err(KeyChainFault::Unreadable { number }),
        };
        // Fingerprints and not bytes are compared, because encodings of one key differ in absent parameters.
        let spki = (number == 1).then(|| import::spki_der(parsed.public_key().raw));
        if spki.is_some_and(|spki| spki.map(|key| key.fingerprint()) != Ok(key)) {
            return Err(KeyChainFault::OtherKey { subject: parsed.subject().to_string() });
        }
    }
    unlinked(chain).next().map_or(Ok(()), |unlinked| Err(unlinked.into()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use oarlock::Key;
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

    use super::*;

    struct Fixture {
        directory: tempfile::TempDir,
        key: Key,
        leaf: rcgen::Certificate,
        authority: rcgen::Certificate,
    }

    fn named(name: &str) -> CertificateParams {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params
    }

    impl Fixture {
        fn new() -> Self {
            let (pair, authority_key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
            let mut params = named("the authority");
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let authority = params.self_signed(&authority_key).unwrap();
            let leaf = named("mail").signed_by(&pair, &Issuer::from_params(&params, &authority_key)).unwrap();
            let key = import::any(pair.serialize_pem().as_bytes(), None).unwrap();
            Self { directory: tempfile::tempdir().unwrap(), key, leaf, authority }
        }

        fn path(&self) -> PathBuf {
            self.directory.path().join("mail.crt")
        }

        /// Replaces the file, because two writes of one file may have the same time.
        fn write(&self, content: impl AsRef<[u8]>) {
            let new = self.directory.path().join("new");
            fs::write(&new, content).unwrap();
            fs::rename(new, self.path()).unwrap();
        }

        fn refresh(&self, chains: &mut KeyChains) -> (bool, Vec<String>) {
            self.refresh_for(chains, &self.key)
        }

        fn refresh_for(&self, chains: &mut KeyChains, key: &Key) -> (bool, Vec<String>) {
            let file = self.directory.path().join("mail.pem");
            let key = ChainedKey { name: "mail", file: &file, fingerprint: key.fingerprint() };
            let mut faults = Vec::new();
            let is_changed = chains.refresh([key].into_iter(), &mut faults);
            assert!(faults.iter().all(|(path, _)| *path == self.path()));
            (is_changed, faults.iter().map(|(_, fault)| fault.to_string()).collect())
        }
    }

    fn none() -> Vec<String> {
        Vec::new()
    }

    #[test]
    fn reads_a_chain_in_pem_and_one_certificate_in_der() {
        let fixture = Fixture::new();
        let mut chains = KeyChains::default();
        assert_eq!(fixture.refresh(&mut chains), (false, none()));
        fixture.write(format!("text before\n{}{}", fixture.leaf.pem(), fixture.authority.pem()));
        assert_eq!(fixture.refresh(&mut chains), (true, none()));
        assert_eq!(
            chains.of_key("mail"),
            [&fixture.leaf, &fixture.authority].map(|made| made.der().to_vec())
        );
        assert_eq!(fixture.refresh(&mut chains), (false, none()), "an unchanged file is not read again");
        fixture.write(fixture.leaf.der());
        assert_eq!(fixture.refresh(&mut chains), (true, none()));
        assert_eq!(chains.of_key("mail"), [fixture.leaf.der().to_vec()]);
        fs::remove_file(fixture.path()).unwrap();
        assert_eq!(fixture.refresh(&mut chains), (true, none()));
        assert!(chains.of_key("mail").is_empty() && chains.of_key("other").is_empty());
    }

    #[test]
    fn a_broken_file_is_reported_once_and_the_last_certificates_stay() {
        let fixture = Fixture::new();
        let mut chains = KeyChains::default();
        fixture.write(fixture.leaf.pem());
        fixture.refresh(&mut chains);
        let half = &fixture.leaf.pem().into_bytes()[..200];
        let leaf = fixture.leaf.pem();
        let long = vec![b'\n'; MAX_FILE_BYTES as usize + 1];
        let reversed = format!("{leaf}{leaf}");
        let many = leaf.repeat(MAX_CERTIFICATES + 1);
        for (content, expected) in [
            (half, "malformed PEM block CERTIFICATE: no END"),
            (b"", "found no certificate"),
            (&[SEQUENCE, 0x80, 0, 0], "certificate 1 cannot be read"),
            (&long, "expected at most 65536 bytes"),
            (many.as_bytes(), "expected at most 10 certificates, found 11"),
            (fixture.authority.pem().as_bytes(), "(CN=the authority) is of another key"),
            (reversed.as_bytes(), "certificate 2 (CN=mail) is not that of the issuer"),
        ] {
            fixture.write(content);
            let (is_changed, faults) = fixture.refresh(&mut chains);
            assert!(
                is_changed && faults.len() == 1 && faults[0].contains(expected),
                "{expected}: {faults:?}"
            );
            assert_eq!(chains.of_key("mail"), [fixture.leaf.der().to_vec()]);
            assert_eq!(fixture.refresh(&mut chains), (false, none()));
        }
    }

    #[test]
    fn certificates_of_a_former_key_are_not_those_of_its_successor() {
        let (fixture, other) = (Fixture::new(), Fixture::new());
        let mut chains = KeyChains::default();
        fixture.write(fixture.leaf.pem());
        fixture.refresh(&mut chains);
        let (is_changed, faults) = fixture.refresh_for(&mut chains, &other.key);
        assert!(is_changed && faults[0].contains("another key"), "{faults:?}");
        assert!(chains.of_key("mail").is_empty());
        fixture.write(other.leaf.pem());
        assert_eq!(fixture.refresh_for(&mut chains, &other.key), (true, none()));
        assert_eq!(chains.of_key("mail"), [other.leaf.der().to_vec()]);
    }

    #[test]
    fn a_directory_in_place_of_the_file_is_a_fault() {
        let fixture = Fixture::new();
        fs::create_dir(fixture.path()).unwrap();
        let (_, faults) = fixture.refresh(&mut KeyChains::default());
        assert_eq!(faults.len(), 1);
    }
}
