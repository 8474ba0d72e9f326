//! Errors of certificates.

use std::fmt;
use std::io;
use std::path::PathBuf;

use oarlock_key_files::ExposedSecret;
use oarlock_rustls::TlsKeyError;
use oarlock_service_kit::HeldKeyFault;

/// The reason why a certificate cannot be used. No reason quotes the bytes of a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum CertificateFault {
    /// A file or directory cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file is too long.
    #[error("{}: expected a file of at most {max} bytes", path.display())]
    TooLong {
        path: PathBuf,
        /// The maximum length in bytes.
        max: usize,
    },
    /// Other users may read the private key.
    #[error(transparent)]
    Exposed(#[from] ExposedSecret),
    /// The chain is not PEM, or has no certificate.
    #[error("{}: expected certificates in PEM: {reason}", path.display())]
    Chain { path: PathBuf, reason: String },
    /// The certificate itself is not valid.
    #[error("{}: the first certificate is not valid X.509: {reason}", path.display())]
    Certificate { path: PathBuf, reason: String },
    /// No private key belongs to the chain.
    #[error("{}: no private key: expected it in the same file or in {}", path.display(), key.display())]
    NoKey {
        /// The path of the chain.
        path: PathBuf,
        /// The path of the expected key file.
        key: PathBuf,
    },
    /// The private key cannot be used.
    #[error("{}: {error}", path.display())]
    Key {
        /// The path of the key file.
        path: PathBuf,
        /// The reason.
        error: TlsKeyError,
    },
    /// The key belongs to another certificate.
    #[error("{}: the key does not belong to the first certificate in {}", path.display(), chain.display())]
    Mismatch {
        /// The path of the key file.
        path: PathBuf,
        /// The path of the chain.
        chain: PathBuf,
    },
    /// The file or the URI names a key at the cryptoserver or in a device, which cannot be used.
    #[error("{}: {fault}", path.display())]
    Held {
        /// The path of the file, or the URI.
        path: PathBuf,
        /// The reason.
        fault: HeldKeyFault,
    },
    /// The file of an OCSP response is not DER.
    #[error("{}: expected an OCSP response in DER", path.display())]
    Staple { path: PathBuf },
    /// There is no certificate.
    #[error(
        "expected certificates: files NAME.pem with chain and key, NAME.crt with NAME.key, or directories NAME with \
         fullchain.pem and privkey.pem; found none"
    )]
    Empty,
    /// The default certificate does not exist.
    #[error(
        "[certificates] default: expected the name of a certificate file without its ending, found {name:?}"
    )]
    NoDefault {
        /// The name in the settings.
        name: String,
    },
}

/// The number of faults that an error lists.
const MAX_LISTED: usize = 10;

/// The faults that keep a table of certificates from being used, at least one.
#[derive(Debug, thiserror::Error)]
pub struct CertificateTableError {
    /// The faults, in the order of the files.
    pub faults: Vec<CertificateFault>,
}

impl From<CertificateFault> for CertificateTableError {
    fn from(fault: CertificateFault) -> Self {
        Self { faults: vec![fault] }
    }
}

impl fmt::Display for CertificateTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, fault) in self.faults.iter().take(MAX_LISTED).enumerate() {
            write!(f, "{}{fault}", if number > 0 { "\n" } else { "" })?;
        }
        match self.faults.len().saturating_sub(MAX_LISTED) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}
