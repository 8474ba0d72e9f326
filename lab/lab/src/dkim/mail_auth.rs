//! A row's work by the crate `mail-auth`, the fastest known peer, one message after the other.

use std::borrow::Borrow;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use mail_auth::common::crypto::{Ed25519Key, RsaKey, Sha256};
use mail_auth::common::parse::TxtRecordParser;
use mail_auth::common::verify::DomainKey;
use mail_auth::dkim::{DkimSigner, Done};
use mail_auth::hickory_resolver::config::{GOOGLE, ResolverConfig, ResolverOpts};
use mail_auth::{AuthenticatedMessage, DkimResult, MessageAuthenticator, Parameters, ResolverCache, Txt};
use oarlock::keys::export;
use oarlock_dkim::{HeaderCoverage, RecordOptions, record_text};

use super::task::{DOMAIN, MailInput, MailTask, SELECTOR, SignatureKind};
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

use super::MailWork;
use super::bench::PEER;
use super::error::MailBenchError;

/// `mail-auth` at one task.
pub(super) struct MailAuth<'i> {
    input: &'i MailInput<'i>,
    /// None if the task is to verify.
    signer: Option<PeerSigner>,
    authenticator: MessageAuthenticator,
    record: OneRecord,
    next: usize,
}

enum PeerSigner {
    Rsa(DkimSigner<RsaKey<Sha256>, Done>),
    Ed25519(DkimSigner<Ed25519Key, Done>),
}

impl<'i> MailAuth<'i> {
    pub(super) fn new(input: &'i MailInput<'i>) -> Result<Self, MailBenchError> {
        let text = record_text(&input.key, &RecordOptions::default())?;
        let record = DomainKey::parse(text.as_bytes()).map_err(wrong)?;
        let signer = match input.task {
            MailTask::Sign(_) => Some(PeerSigner::new(input)?),
            MailTask::Verify(_) => None,
        };
        // The resolver is never asked, because the cache has the record.
        let resolver = ResolverConfig::udp_and_tcp(&GOOGLE);
        Ok(Self {
            input,
            signer,
            authenticator: MessageAuthenticator::new(resolver, ResolverOpts::default()).map_err(wrong)?,
            record: OneRecord(Txt::DomainKey(Arc::new(record))),
            next: 0,
        })
    }

    fn verify(&self, mail: &[u8]) -> Result<(), MailBenchError> {
        let message = AuthenticatedMessage::parse(mail).ok_or_else(|| wrong("it reads no message"))?;
        let parameters = Parameters::new(&message).with_txt_cache(&self.record);
        let results = self.authenticator.verify_dkim(parameters).now_or_never();
        match results.as_deref() {
            Some([result]) if *result.result() == DkimResult::Pass => Ok(()),
            other => Err(wrong(format!("{other:?}"))),
        }
    }
}

impl MailWork for MailAuth<'_> {
    fn batch(&mut self) -> Result<usize, MailBenchError> {
        let mail = &self.input.messages[self.next];
        match &self.signer {
            Some(signer) => drop(signer.sign(mail)?),
            None => self.verify(mail)?,
        }
        self.next = (self.next + 1) % self.input.messages.len();
        Ok(1)
    }
}

impl PeerSigner {
    fn new(input: &MailInput<'_>) -> Result<Self, MailBenchError> {
        let key = export::private_pkcs8_der(&input.key)?;
        // The same fields as our signer covers.
        let fields = HeaderCoverage::default().signed;
        Ok(match input.task.kind() {
            SignatureKind::Rsa1024
            | SignatureKind::Rsa2048
            | SignatureKind::Rsa1024Sha1
            | SignatureKind::Rsa2048Sha1 => {
                let key = RsaKey::from_key_der(PrivatePkcs8KeyDer::from(&key[..]).into()).map_err(wrong)?;
                let signer = DkimSigner::from_key(key).domain(DOMAIN).selector(SELECTOR);
                Self::Rsa(signer.headers(fields))
            }
            SignatureKind::Ed25519 => {
                let key = Ed25519Key::from_pkcs8_maybe_unchecked_der(&key).map_err(wrong)?;
                let signer = DkimSigner::from_key(key).domain(DOMAIN).selector(SELECTOR);
                Self::Ed25519(signer.headers(fields))
            }
        })
    }

    fn sign(&self, mail: &[u8]) -> Result<String, MailBenchError> {
        use mail_auth::common::headers::HeaderWriter;
        let signature = match self {
            Self::Rsa(signer) => signer.sign(mail),
            Self::Ed25519(signer) => signer.sign(mail),
        };
        Ok(signature.map_err(wrong)?.to_header())
    }
}

fn wrong(error: impl ToString) -> MailBenchError {
    MailBenchError::Wrong(format!("{PEER}: {}", error.to_string()))
}

/// A cache that gives the same record for every name.
struct OneRecord(Txt);

impl ResolverCache<Box<str>, Txt> for OneRecord {
    fn get<Q>(&self, _: &Q) -> Option<Txt>
    where
        Box<str>: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        Some(self.0.clone())
    }

    fn remove<Q>(&self, _: &Q) -> Option<Txt>
    where
        Box<str>: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        None
    }

    fn insert(&self, _: Box<str>, _: Txt, _: Instant) {}
}
