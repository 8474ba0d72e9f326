//! Warnings about valid settings and files that work otherwise than an operator may expect.

use std::path::PathBuf;

use crate::certificate::CertificateWarning;
use crate::clients::CrlWarning;
use crate::ocsp::OcspQuestionFault;

/// A property of the settings or of a file that does not keep the proxy from running.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyWarning {
    /// Peers reject a certificate.
    #[error("{0}")]
    Certificate(CertificateWarning),
    /// Clients are refused because of a revocation list, or a list is not asked.
    #[error(transparent)]
    Crl(#[from] CrlWarning),
    /// A certificate names a responder that cannot be asked.
    #[error("{}: {fault}", path.display())]
    Ocsp {
        /// The path of the chain.
        path: PathBuf,
        /// The fault for which the responder cannot be asked.
        fault: OcspQuestionFault,
    },
    /// A route never matches.
    #[error(
        "[[route]] {number} never matches: route {earlier} stands before it and matches all of its names, protocols \
         and listeners"
    )]
    Route {
        /// The number of the route, from 1.
        number: usize,
        /// The number of the earlier one.
        earlier: usize,
    },
}

impl From<CertificateWarning> for ProxyWarning {
    fn from(warning: CertificateWarning) -> Self {
        Self::Certificate(warning)
    }
}
