//! What is known of schemes under a stream's keys: most jobs of a stream are alike.

use std::sync::Arc;

use oarlock::contract::KeyKind;
use oarlock::keys::threshold::Share;
use oarlock::{Key, Scheme};
use oarlock_wire::proto::{Blame, Code, Fault};
use oarlock_wire::scheme::WireScheme;

use super::{Opened, Source, another_key, denial, refusal};
use crate::keyring::{Granted, Resident};

/// Whether a scheme may be done under a handle.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) scheme: Result<Scheme, Fault>,
    /// The grant that counts it.
    pub(super) counted: Option<Arc<Granted>>,
    /// Its place among the kinds of the stream.
    pub(super) kind: u32,
}

/// Verdicts by handle, and the kinds of jobs that have been asked for.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    by_handle: Vec<Vec<(WireScheme, Verdict)>>,
    /// The name of a key, and a scheme.
    kinds: Vec<(Arc<str>, Scheme)>,
    /// Places among these that are no longer needed.
    free: Vec<u32>,
}

impl Verdicts {
    /// The keys are others now.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The handle stands for another key now.
    pub(super) fn forget(&mut self, handle: u32) {
        if let Some(own) = self.by_handle.get_mut(handle as usize) {
            self.free.extend(own.drain(..).map(|(_, verdict)| verdict.kind));
        }
    }

    /// Judges where that has not been done yet. `handle` is one that the stream may have.
    #[inline]
    pub(super) fn prepare(&mut self, handle: u32, scheme: WireScheme, opened: Option<&Opened>) {
        if self.get(handle, scheme).is_none() {
            let verdict = self.judge(handle, scheme, opened);
            let place = handle as usize;
            if place >= self.by_handle.len() {
                self.by_handle.resize_with(place + 1, Vec::new);
            }
            self.by_handle[place].push((scheme, verdict));
        }
    }

    #[inline]
    pub(super) fn get(&self, handle: u32, scheme: WireScheme) -> Option<&Verdict> {
        let own = self.by_handle.get(handle as usize)?;
        own.iter().find(|(known, _)| *known == scheme).map(|(_, verdict)| verdict)
    }

    pub(super) fn kind(&self, kind: u32) -> Option<&(Arc<str>, Scheme)> {
        self.kinds.get(kind as usize)
    }

    fn judge(&mut self, handle: u32, scheme: WireScheme, opened: Option<&Opened>) -> Verdict {
        let Some(opened) = opened else {
            let kind = self.add("-".into(), scheme.with(KeyKind::Ed25519Public));
            return Verdict { scheme: Err(not_open(handle)), counted: None, kind };
        };
        let signer = signer_of(opened);
        let kind_of_key = signer.as_ref().map_or(KeyKind::Secret(0), |signer| signer.kind());
        let scheme = scheme.with(kind_of_key);
        let kind = self.add(Arc::clone(&opened.name), scheme);
        // Which scheme it would be depends on the key: that there is another one is what a client with rights must hear.
        if matches!(opened.source, Source::Another) && !opened.rights.is_none() {
            return Verdict { scheme: Err(another_key(&opened.name)), counted: None, kind };
        }
        match opened.rights.allow(&scheme.to_string()) {
            Err(denied) => Verdict { scheme: Err(denial(denied, &scheme.to_string())), counted: None, kind },
            Ok(grant) => {
                let counted = grant.filter(|grant| grant.is_counted()).cloned();
                Verdict { scheme: signer.map(|_| scheme), counted, kind }
            }
        }
    }

    fn add(&mut self, key: Arc<str>, scheme: Scheme) -> u32 {
        let Some(place) = self.free.pop() else {
            self.kinds.push((key, scheme));
            return self.kinds.len() as u32 - 1;
        };
        self.kinds[place as usize] = (key, scheme);
        place
    }
}

pub(super) fn not_open(handle: u32) -> Fault {
    let message = format!("handle {handle}: this stream has not opened it");
    refusal(Code::NoSuchKey, &message, Blame::Caller)
}

/// What serves jobs.
#[derive(Clone, Copy)]
pub(super) enum Signer<'s> {
    Key(&'s Key),
    Share(&'s Share),
}

impl Signer<'_> {
    fn kind(self) -> KeyKind {
        match self {
            Self::Key(key) => key.kind(),
            Self::Share(share) => share.public().public().kind(),
        }
    }
}

/// The key or the share that serves jobs.
pub(super) fn signer_of(opened: &Opened) -> Result<Signer<'_>, Fault> {
    match &opened.source {
        Source::Resident(Resident::Asymmetric(key)) | Source::Own(key) => Ok(Signer::Key(key)),
        Source::Resident(Resident::Share(share)) => Ok(Signer::Share(share)),
        Source::Resident(Resident::Symmetric(_)) | Source::OwnSymmetric(_) => {
            Err(refusal(Code::WrongKey, "this is a symmetric key: it serves records", Blame::Caller))
        }
        Source::Gone => Err(refusal(Code::NoSuchKey, "the server no longer has this key", Blame::Caller)),
        Source::Another => Err(another_key(&opened.name)),
    }
}
