//! Keys that are not in files: at the cryptoserver, or in devices.

use std::path::{Path, PathBuf};
use std::str::from_utf8;
use std::sync::Arc;

use oarlock::keys::reference::{REFERENCE_LABEL, Reference};
use oarlock::keys::{KeyError, held};
use oarlock::{AcceleratorBuilder, BuildError, Key};
use oarlock_hsm::{HsmError, HsmSet, HsmSettings, Pkcs11Uri, UriError};
use oarlock_wire::{ConnectObserver, LinkTransport, RemoteHolder, ServerSettings, ServerSettingsError};
use tracing::{debug, warn};

/// The holder of the keys that are at the cryptoserver.
pub const CRYPTOSERVER_HOLDER: &str = "cryptoserver";

/// The beginning of the URI of a key in a device. RFC 7512.
const URI_START: &str = "pkcs11:";

/// The name of a key that is not in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldKeyName {
    /// A key at the cryptoserver.
    Cryptoserver(Reference),
    /// A key in a device.
    Device(Box<Pkcs11Uri>),
}

/// The reason why a key that is not in a file cannot be used. No message quotes a URI that is not valid, because it may
/// contain a PIN.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum HeldKeyFault {
    #[error(transparent)]
    Reference(#[from] KeyError),
    #[error("the URI of a key: {0}")]
    Uri(#[from] UriError),
    #[error("the key {name:?} lives at a cryptoserver: expected a section [cryptoserver]")]
    NoCryptoserver { name: String },
    #[error("the key {uri} lives in a device: expected a section [[hsm]]")]
    NoDevices { uri: String },
    #[error("the cryptoserver: {reason}")]
    Cryptoserver { reason: String },
    #[error("the device: {0}")]
    Device(#[from] HsmError),
}

/// An error of opening the holders of keys.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum KeyHolderError {
    #[error("[engines] {0}")]
    Engines(#[from] BuildError),
    #[error("[cryptoserver] {0}")]
    Cryptoserver(#[from] ServerSettingsError),
    #[error("[[hsm]] {0}")]
    Devices(#[from] HsmError),
}

/// The holders of keys of a program. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct KeyHolders {
    /// The client of the cryptoserver, if there is one. Its name is [`CRYPTOSERVER_HOLDER`].
    pub cryptoserver: Option<RemoteHolder>,
    /// The devices, if there are any.
    pub devices: Option<HsmSet>,
}

impl HeldKeyName {
    /// Returns the name that stands in place of the path of a key file: a URI `pkcs11:...`. None for a path.
    ///
    /// # Errors
    /// The URI is not valid.
    pub fn from_path(path: &Path) -> Result<Option<Self>, UriError> {
        let uri = path.to_str().filter(|text| text.starts_with(URI_START));
        uri.map(|text| Ok(Self::Device(Box::new(text.parse()?)))).transpose()
    }

    /// Returns the name in a key file: the first PEM block `OARLOCK KEY REFERENCE`, or a first line that is a URI
    /// `pkcs11:...`. None for a file with a key.
    ///
    /// # Errors
    /// [`HeldKeyFault::Reference`] or [`HeldKeyFault::Uri`].
    pub fn from_file(bytes: &[u8]) -> Result<Option<Self>, HeldKeyFault> {
        if let Some(block) = reference_block(bytes) {
            return Ok(Some(Self::Cryptoserver(Reference::parse_pem(block)?)));
        }
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
        match from_utf8(line) {
            Ok(text) => Ok(Self::from_path(Path::new(text))?),
            Err(_) => Ok(None),
        }
    }
}

impl HeldKeyFault {
    /// Returns true if the cryptoserver or a device has failed, so that a later attempt may succeed.
    #[must_use]
    pub fn may_recover(&self) -> bool {
        match self {
            Self::Cryptoserver { .. } => true,
            Self::Device(error) => !matches!(
                error,
                HsmError::Settings(_)
                    | HsmError::NoDevice { .. }
                    | HsmError::KeyName { .. }
                    | HsmError::PublicHalf { .. }
            ),
            _ => false,
        }
    }
}

impl KeyHolderError {
    /// Returns true if the system has refused a thread or a process, and the settings are good.
    #[must_use]
    pub fn is_machines(&self) -> bool {
        matches!(
            self,
            Self::Cryptoserver(ServerSettingsError::Remote(_))
                | Self::Devices(HsmError::NoThread { .. } | HsmError::NoProcess { .. })
        )
    }
}

impl KeyHolders {
    /// Opens the client of the cryptoserver, which connects when it is first needed, and the devices, without waiting
    /// for their tokens. `engines` builds the engines that check answers.
    ///
    /// # Errors
    /// A section of the settings cannot be used, or the system gives no thread or process.
    pub fn open(
        server: Option<&ServerSettings>,
        devices: &[HsmSettings],
        engines: &AcceleratorBuilder,
    ) -> Result<Self, KeyHolderError> {
        if server.is_none() && devices.is_empty() {
            return Ok(Self::default());
        }
        // It does not know the holders, which must not check themselves.
        let checker = engines.clone().lazy().build()?;
        let observer = || ConnectObserver::new(log_connection);
        let open = |server: &ServerSettings| server.open(CRYPTOSERVER_HOLDER, checker.clone(), observer());
        let cryptoserver = server.map(open).transpose()?;
        let devices = match devices {
            [] => None,
            devices => Some(HsmSet::open(devices.iter().cloned(), &checker)?),
        };
        Ok(Self { cryptoserver, devices })
    }

    /// Makes the holders known to an accelerator.
    #[must_use]
    pub fn register(&self, builder: AcceleratorBuilder) -> AcceleratorBuilder {
        let server = self.cryptoserver.iter().cloned();
        let builder = server.fold(builder, |builder, server| builder.holder(Arc::new(server)));
        self.devices.iter().cloned().fold(builder, |builder, devices| builder.holder(Arc::new(devices)))
    }

    /// Returns a key by its name. It blocks until the holder has described the key, unless the public half is known: a
    /// reference may contain it, and `certified` is that of a certificate, a SubjectPublicKeyInfo in DER. A device is
    /// not asked if its key is certified: it refuses the jobs of another key.
    ///
    /// # Errors
    /// The settings have no such holder, the holder fails, or it has no such key.
    pub fn key(&self, name: &HeldKeyName, certified: Option<&[u8]>) -> Result<Key, HeldKeyFault> {
        match name {
            HeldKeyName::Cryptoserver(Reference { name, spki }) => {
                let none = || HeldKeyFault::NoCryptoserver { name: name.clone() };
                let server = self.cryptoserver.as_ref().ok_or_else(none)?;
                match spki {
                    Some(spki) => Ok(held::from_spki(spki, CRYPTOSERVER_HOLDER, name)?),
                    None => server
                        .key(name)
                        .map_err(|error| HeldKeyFault::Cryptoserver { reason: error.to_string() }),
                }
            }
            HeldKeyName::Device(uri) => {
                let none = || HeldKeyFault::NoDevices { uri: uri.to_string() };
                let devices = self.devices.as_ref().ok_or_else(none)?;
                let key = match certified {
                    Some(spki) => devices.key_from_spki(uri, spki),
                    None => devices.key(uri),
                };
                Ok(key?)
            }
        }
    }
}

/// Makes the path of a key file relative to a directory. The URI of a key in a device stays as it is.
pub fn resolve_key_path(path: &mut PathBuf, base: &Path) {
    if !path.as_os_str().as_encoded_bytes().starts_with(URI_START.as_bytes()) {
        *path = base.join(&*path);
    }
}

/// Returns the first block with a reference. A certificate may stand before it.
fn reference_block(bytes: &[u8]) -> Option<&[u8]> {
    let position = |bytes: &[u8], wanted: &str| {
        bytes.windows(wanted.len()).position(|window| window == wanted.as_bytes())
    };
    let block = &bytes[position(bytes, &format!("-----BEGIN {REFERENCE_LABEL}-----"))?..];
    let end = format!("-----END {REFERENCE_LABEL}-----");
    // A block without an end is rejected by the decoder.
    let len = position(block, &end).map_or(block.len(), |start| start + end.len());
    Some(&block[..len])
}

fn log_connection(server: &str, transport: &LinkTransport) {
    match transport.is_unexpected() {
        true => warn!(server, %transport, "connected to the cryptoserver"),
        false => debug!(server, %transport, "connected to the cryptoserver"),
    }
}

#[cfg(test)]
mod tests {
    use oarlock::Accelerator;
    use rcgen::PublicKeyData;

    use super::*;

    fn uri(text: &str) -> HeldKeyName {
        HeldKeyName::Device(Box::new(text.parse().unwrap()))
    }

    fn devices(text: &str) -> KeyHolders {
        // The module does not exist: the tests ask only what needs no device.
        let text = format!("module = '/absent.so'\nisolate = false\n{text}");
        let settings: HsmSettings = toml::from_str(&text).unwrap();
        KeyHolders::open(None, &[settings], &Accelerator::builder().engines(["scalar"])).unwrap()
    }

    #[test]
    fn a_uri_stands_in_place_of_a_path_or_in_a_file() {
        let text = "pkcs11:token=mail;object=s1";
        assert_eq!(HeldKeyName::from_path(Path::new(text)), Ok(Some(uri(text))));
        assert_eq!(HeldKeyName::from_path(Path::new("/etc/pkcs11:a")), Ok(None));
        for file in [text.to_owned(), format!("{text}\r\n"), format!("  {text}\nmore")] {
            assert_eq!(HeldKeyName::from_file(file.as_bytes()).unwrap(), Some(uri(text)));
        }
        for file in [&b""[..], b"\xff\n", b"-----BEGIN PRIVATE KEY-----\npkcs11:object=a\n", b"# pkcs11:"] {
            assert_eq!(HeldKeyName::from_file(file).unwrap(), None);
        }
    }

    #[test]
    fn a_reference_may_stand_behind_a_certificate() {
        let reference = Reference { name: "web".to_owned(), spki: None };
        let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let file = format!("{certificate}{}{certificate}", reference.to_pem().unwrap());
        let found = HeldKeyName::from_file(file.as_bytes()).unwrap();
        assert_eq!(found, Some(HeldKeyName::Cryptoserver(reference)));
        let cut = format!("{certificate}-----BEGIN {REFERENCE_LABEL}-----\nAAAA");
        assert!(matches!(HeldKeyName::from_file(cut.as_bytes()), Err(HeldKeyFault::Reference(_))));
    }

    #[test]
    fn a_uri_with_a_pin_is_refused_and_not_quoted() {
        let text = "pkcs11:object=a?pin-value=4711";
        let fault = HeldKeyName::from_file(text.as_bytes()).unwrap_err().to_string();
        assert!(fault.contains("pin-source") && !fault.contains("4711"), "{fault}");
        assert_eq!(
            HeldKeyFault::Uri(HeldKeyName::from_path(Path::new(text)).unwrap_err()).to_string(),
            fault
        );
    }

    #[test]
    fn only_paths_start_at_the_directory_of_the_settings() {
        let resolved = |text: &str| {
            let mut path = PathBuf::from(text);
            resolve_key_path(&mut path, Path::new("/etc/oarlock"));
            path
        };
        assert_eq!(resolved("s1.pem"), Path::new("/etc/oarlock/s1.pem"));
        assert_eq!(resolved("/s1.pem"), Path::new("/s1.pem"));
        assert_eq!(resolved("pkcs11:object=s1"), Path::new("pkcs11:object=s1"));
    }

    #[test]
    fn errors_say_which_section_is_missing_and_whether_to_try_again() {
        let none = KeyHolders::default();
        let fault = none.key(&uri("pkcs11:object=s1"), None).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "the key pkcs11:object=s1 lives in a device: expected a section [[hsm]]"
        );
        assert!(!fault.may_recover());
        let name = HeldKeyName::Cryptoserver(Reference { name: "web".to_owned(), spki: None });
        let fault = none.key(&name, None).unwrap_err();
        assert!(fault.to_string().ends_with("expected a section [cryptoserver]") && !fault.may_recover());
        let holders = devices("token = 'mail'");
        let fault = holders.key(&uri("pkcs11:token=web;object=s1"), None).unwrap_err();
        assert!(matches!(fault, HeldKeyFault::Device(HsmError::NoDevice { .. })) && !fault.may_recover());
        // The module cannot be loaded now; later it may.
        let fault = holders.key(&uri("pkcs11:token=mail;object=s1"), None).unwrap_err();
        assert!(matches!(fault, HeldKeyFault::Device(_)) && fault.may_recover(), "{fault}");
    }

    #[test]
    fn a_certified_key_asks_no_device() {
        let certified = rcgen::KeyPair::generate().unwrap();
        let holders = devices("token = 'mail'");
        let key = holders.key(&uri("pkcs11:object=s1"), Some(&certified.subject_public_key_info())).unwrap();
        assert_eq!(oarlock::keys::export::spki_der(&key).unwrap(), certified.subject_public_key_info());
    }
}
