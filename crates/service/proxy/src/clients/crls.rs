//! Revocation lists (CRLs) for the certificates of clients. RFC 5280 5.
//!
//! rustls asks them in full handshakes. Here they are read, ordered, and compared with the authorities.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use oarlock_service_kit::certificate::time_text;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};
use rustls::server::VerifierBuilderError;
use serde::Deserialize;
use x509_parser::oid_registry::OID_X509_EXT_ISSUER_DISTRIBUTION_POINT;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::revocation_list::CertificateRevocationList;

use crate::signature::SignedParts;

/// The maximum length of a file. The lists of large authorities have some megabytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The use of lists whose end has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpiredCrlRule {
    /// Clients whose issuer has no other list are refused.
    #[default]
    Refuse,
    /// The list is used as before its end.
    Use,
}

/// The reason why revocation lists cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum CrlError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file is too long.
    #[error("{}: expected a file of at most {MAX_FILE_BYTES} bytes", path.display())]
    TooLong { path: PathBuf },
    /// The file has no list.
    #[error("{}: expected CRLs in PEM (X509 CRL), or one in DER: {reason}", path.display())]
    Format { path: PathBuf, reason: String },
    /// rustls cannot use a list, such as a delta CRL.
    #[error("{}: a CRL cannot be used: {reason}", path.display())]
    Unusable { path: PathBuf, reason: String },
}

impl CrlError {
    pub(super) fn unusable(path: &Path, error: &VerifierBuilderError) -> Self {
        Self::Unusable { path: path.to_owned(), reason: error.to_string() }
    }
}

/// A property of the revocation lists for which clients are or will be refused, or because of which a list is not
/// asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum CrlWarning {
    /// The end of a list has passed.
    #[error(
        "{}: the CRL of {issuer} has expired at {}: {}", path.display(), time_text(*.next_update), consequence(*.rule)
    )]
    Expired { path: PathBuf, issuer: String, next_update: i64, rule: ExpiredCrlRule },
    /// The issue of a list lies in the future.
    #[error("{}: the CRL of {issuer} is dated {}, which is in the future", path.display(), time_text(*.this_update))]
    NotYetValid { path: PathBuf, issuer: String, this_update: i64 },
    /// The issuer of a list is not one of the authorities.
    #[error(
        "{}: the CRL is of {issuer}, which is not one of the authorities: it counts only for certificates that an \
         intermediate authority of this name has issued", path.display()
    )]
    OtherIssuer { path: PathBuf, issuer: String },
    /// The list bears the name of an authority, and another key has signed it.
    #[error("{}: the CRL of {issuer} is not signed by its key: its clients are refused", path.display())]
    OtherSigner { path: PathBuf, issuer: String },
    /// An authority has no list.
    #[error(
        "{}: no CRL of crl_files is of the authority {issuer}: clients with its certificates are refused",
        path.display()
    )]
    Missing {
        /// The path of the file of authorities.
        path: PathBuf,
        issuer: String,
    },
}

fn consequence(rule: ExpiredCrlRule) -> &'static str {
    match rule {
        ExpiredCrlRule::Refuse => "clients of this authority are refused",
        ExpiredCrlRule::Use => "it is used nevertheless",
    }
}

/// The revocation lists of the settings.
#[derive(Debug)]
pub(crate) struct RevocationLists {
    /// The newest list of each scope: rustls asks the first one that it finds.
    lists: Vec<RevocationList>,
    rule: ExpiredCrlRule,
    lasting: Vec<CrlWarning>,
}

#[derive(Debug)]
struct RevocationList {
    path: PathBuf,
    issuer: String,
    /// The name of the issuer and the distribution point, in DER.
    scope: (Vec<u8>, Option<Vec<u8>>),
    this_update: i64,
    /// The end; `i64::MAX` if the list states none, which rustls does not accept.
    next_update: i64,
    /// The list itself, until the verifier has it.
    der: CertificateRevocationListDer<'static>,
}

impl RevocationLists {
    /// Reads the files, and compares the lists with the authorities of a file.
    pub(crate) fn read(
        files: &[PathBuf],
        rule: ExpiredCrlRule,
        authorities: (&Path, &[CertificateDer<'_>]),
    ) -> Result<Self, CrlError> {
        let parsed: Vec<_> =
            authorities.1.iter().filter_map(|der| X509Certificate::from_der(der).ok()).collect();
        let mut has_list = vec![false; parsed.len()];
        let (mut lists, mut lasting) = (Vec::new(), Vec::new());
        for path in files {
            for der in read_file(path)? {
                let (list, warning) = RevocationList::compare(path, der, &parsed, &mut has_list)?;
                lists.push(list);
                lasting.extend(warning);
            }
        }
        lists.sort_by_key(|list: &RevocationList| Reverse(list.this_update));
        let mut scopes = HashSet::new();
        lists.retain(|list| scopes.insert(list.scope.clone()));
        if !files.is_empty() {
            let missing = parsed.iter().zip(has_list).filter(|(_, has_list)| !has_list);
            lasting.extend(missing.map(|((_, authority), _)| CrlWarning::Missing {
                path: authorities.0.to_owned(),
                issuer: authority.subject().to_string(),
            }));
        }
        Ok(Self { lists, rule, lasting })
    }

    /// Returns the lists in the order in which rustls is to search them.
    pub(crate) fn ders(&self) -> impl Iterator<Item = &CertificateRevocationListDer<'static>> {
        self.lists.iter().map(|list| &list.der)
    }

    /// Returns the path of each list.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.lists.iter().map(|list| &*list.path)
    }

    /// Frees the lists, of which the verifier has a copy that it can search.
    pub(crate) fn forget_ders(&mut self) {
        self.lists.iter_mut().for_each(|list| list.der = Vec::new().into());
    }

    /// Returns true if no list has ended, or if that makes no difference.
    pub(crate) fn are_good_at(&self, now: UnixTime) -> bool {
        let now_s = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        self.rule == ExpiredCrlRule::Use || self.lists.iter().all(|list| now_s < list.next_update)
    }

    /// Returns the earliest end of the lists of each file, in seconds since 1970.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (&Path, i64)> {
        self.lists.iter().map(|list| (&*list.path, list.next_update))
    }

    /// Returns the warnings at a time in seconds since 1970.
    pub(crate) fn warnings(&self, now_s: i64) -> impl Iterator<Item = CrlWarning> {
        let passing = self.lists.iter().filter_map(move |list| list.warning(self.rule, now_s));
        passing.chain(self.lasting.iter().cloned())
    }
}

impl RevocationList {
    /// Reads a list, marks its authority, and returns the warning if it has none that signed it.
    fn compare(
        path: &Path,
        der: CertificateRevocationListDer<'static>,
        authorities: &[(&[u8], X509Certificate<'_>)],
        has_list: &mut [bool],
    ) -> Result<(Self, Option<CrlWarning>), CrlError> {
        let (_, parsed) = CertificateRevocationList::from_der(&der)
            .map_err(|error| CrlError::Format { path: path.to_owned(), reason: error.to_string() })?;
        let issuer = parsed.issuer().to_string();
        let is_issuer =
            |authority: &X509Certificate<'_>| authority.subject().as_raw() == parsed.issuer().as_raw();
        let signed = SignedParts::split(&der);
        let is_signer = |authority: &X509Certificate<'_>| {
            signed.as_ref().is_some_and(|signed| signed.is_signed_by(authority.public_key().raw))
        };
        let (mut has_issuer, mut has_signer) = (false, false);
        for ((_, authority), has_list) in authorities.iter().zip(has_list) {
            if is_issuer(authority) {
                has_issuer = true;
                if is_signer(authority) {
                    (has_signer, *has_list) = (true, true);
                }
            }
        }
        let path = path.to_owned();
        let warning = match (has_issuer, has_signer) {
            (_, true) => None,
            (true, false) => Some(CrlWarning::OtherSigner { path: path.clone(), issuer: issuer.clone() }),
            (false, false) => Some(CrlWarning::OtherIssuer { path: path.clone(), issuer: issuer.clone() }),
        };
        let point = parsed.tbs_cert_list.find_extension(&OID_X509_EXT_ISSUER_DISTRIBUTION_POINT);
        let scope = (parsed.issuer().as_raw().to_vec(), point.map(|point| point.value.to_vec()));
        let this_update = parsed.last_update().timestamp();
        let next_update = parsed.next_update().map_or(i64::MAX, |end| end.timestamp());
        Ok((Self { path, issuer, scope, this_update, next_update, der }, warning))
    }

    fn warning(&self, rule: ExpiredCrlRule, now_s: i64) -> Option<CrlWarning> {
        let (path, issuer, this_update) = (self.path.clone(), self.issuer.clone(), self.this_update);
        match self.next_update {
            next_update if now_s >= next_update => {
                Some(CrlWarning::Expired { path, issuer, next_update, rule })
            }
            _ if now_s < this_update => Some(CrlWarning::NotYetValid { path, issuer, this_update }),
            _ => None,
        }
    }
}

/// Reads the lists of a file, at least one.
fn read_file(path: &Path) -> Result<Vec<CertificateRevocationListDer<'static>>, CrlError> {
    let failed = |error| CrlError::Read { path: path.to_owned(), error };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(CrlError::TooLong { path: path.to_owned() });
    }
    let format = |reason: String| CrlError::Format { path: path.to_owned(), reason };
    // CertificateList is a SEQUENCE, and PEM is text.
    if bytes.first() == Some(&0x30) {
        return Ok(vec![bytes.into()]);
    }
    let lists = CertificateRevocationListDer::pem_slice_iter(&bytes).collect::<Result<Vec<_>, _>>();
    let lists = lists.map_err(|error| format(error.to_string()))?;
    if lists.is_empty() { Err(format("found none".to_owned())) } else { Ok(lists) }
}

#[cfg(test)]
mod tests;
