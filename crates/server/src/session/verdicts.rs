//! What is known of schemes under a stream's keys: most jobs of a stream are alike.

use std::collections::HashMap;
use std::sync::Arc;

use oarlock::contract::KeyKind;
use oarlock::keys::threshold::Share;
use oarlock::{Key, Scheme};
use oarlock_wire::jobs::WireJob;
use oarlock_wire::proto::{Blame, Code, Fault};
use oarlock_wire::scheme::WireScheme;

use super::{OpenedKey, OpenedSource, another_key, denial, refusal};
use crate::keyring::{ActiveGrant, ResidentKey};

/// Whether a scheme may be done under a handle.
#[derive(Debug)]
pub(super) struct Authorization {
    pub(super) scheme: Result<Scheme, Fault>,
    /// The grant that counts it.
    pub(super) counted: Option<Arc<ActiveGrant>>,
    /// The name of the key, and the scheme whether allowed or not.
    pub(super) kind: (Arc<str>, Scheme),
}

/// Verdicts that a stream keeps: those beyond are found anew for each message.
const MAX_VERDICTS: usize = 1024;

/// Verdicts that a stream has come to, by handle and scheme.
#[derive(Debug, Default)]
pub(super) struct AuthorizationCache(HashMap<(u32, WireScheme), Arc<Authorization>>);

impl AuthorizationCache {
    /// Forgets everything: the keys are others now.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets what was known of a handle, which stands for another key now.
    pub(super) fn forget(&mut self, handle: u32) {
        self.0.retain(|(own, _), _| *own != handle);
    }

    /// Returns whether the scheme may be done with the key that `handle` stands for.
    pub(super) fn of(&mut self, handle: u32, scheme: WireScheme, opened: &OpenedKey) -> Arc<Authorization> {
        if let Some(known) = self.0.get(&(handle, scheme)) {
            return Arc::clone(known);
        }
        let verdict = Arc::new(judge(scheme, opened));
        if self.0.len() < MAX_VERDICTS {
            self.0.insert((handle, scheme), Arc::clone(&verdict));
        }
        verdict
    }
}

fn judge(scheme: WireScheme, opened: &OpenedKey) -> Authorization {
    let signer = signer_of(opened);
    let kind_of_key = signer.as_ref().map_or(KeyKind::Secret(0), |signer| signer.kind());
    let scheme = scheme.with(kind_of_key);
    let kind = (Arc::clone(&opened.name), scheme);
    // Which scheme it would be depends on the key: that there is another one is what a client with rights must hear.
    if matches!(opened.source, OpenedSource::Replaced) && !opened.rights.is_none() {
        return Authorization { scheme: Err(another_key(&opened.name)), counted: None, kind };
    }
    match opened.rights.allow(&scheme.to_string()) {
        Err(denied) => {
            Authorization { scheme: Err(denial(denied, &scheme.to_string())), counted: None, kind }
        }
        Ok(grant) => {
            let counted = grant.filter(|grant| grant.is_counted()).cloned();
            Authorization { scheme: signer.map(|_| scheme), counted, kind }
        }
    }
}

/// The verdict under a handle that is not open. What is said of each job names its handle.
fn judge_closed(row: &WireJob<'_>) -> Authorization {
    let kind = ("-".into(), row.scheme.with(KeyKind::Ed25519Public));
    Authorization { scheme: Err(not_open(row.handle)), counted: None, kind }
}

/// The verdicts that one message needs: each key and scheme is looked up once, whatever the number of jobs.
#[derive(Debug, Default)]
pub(super) struct MessageAuthorizations {
    verdicts: Vec<Arc<Authorization>>,
    /// By handle, None for those that are not open, and the scheme's place in the message.
    places: HashMap<(Option<u32>, u8), u32>,
    last: Option<((Option<u32>, u8), u32)>,
}

impl MessageAuthorizations {
    /// Returns the place of a job's verdict. Handles that are not open share one for each scheme.
    #[inline]
    pub(super) fn place(
        &mut self,
        row: &WireJob<'_>,
        known: &mut AuthorizationCache,
        opened: Option<&OpenedKey>,
    ) -> u32 {
        let key = (opened.map(|_| row.handle), row.place);
        if let Some((last, place)) = self.last
            && last == key
        {
            return place;
        }
        let verdicts = &mut self.verdicts;
        let place = *self.places.entry(key).or_insert_with(|| {
            verdicts.push(match opened {
                Some(opened) => known.of(row.handle, row.scheme, opened),
                None => Arc::new(judge_closed(row)),
            });
            verdicts.len() as u32 - 1
        });
        self.last = Some((key, place));
        place
    }

    #[inline]
    pub(super) fn get(&self, place: u32) -> Option<&Authorization> {
        self.verdicts.get(place as usize).map(|verdict| &**verdict)
    }
}

pub(super) fn not_open(handle: u32) -> Fault {
    let message = format!("handle {handle}: this stream has not opened it");
    refusal(Code::NoSuchKey, &message, Blame::Caller)
}

/// What serves jobs.
#[derive(Clone, Copy)]
pub(super) enum JobSigner<'s> {
    Key(&'s Key),
    Share(&'s Share),
}

impl JobSigner<'_> {
    fn kind(self) -> KeyKind {
        match self {
            Self::Key(key) => key.kind(),
            Self::Share(share) => share.public().public().kind(),
        }
    }
}

/// The key or the share that serves jobs.
pub(super) fn signer_of(opened: &OpenedKey) -> Result<JobSigner<'_>, Fault> {
    match &opened.source {
        OpenedSource::Resident(ResidentKey::Asymmetric(key)) | OpenedSource::Own(key) => {
            Ok(JobSigner::Key(key))
        }
        OpenedSource::Resident(ResidentKey::Share(share)) => Ok(JobSigner::Share(share)),
        OpenedSource::Resident(ResidentKey::Symmetric(_)) | OpenedSource::OwnSymmetric(_) => {
            Err(refusal(Code::WrongKey, "this is a symmetric key: it serves records", Blame::Caller))
        }
        OpenedSource::Removed => {
            Err(refusal(Code::NoSuchKey, "the server no longer has this key", Blame::Caller))
        }
        OpenedSource::Replaced => Err(another_key(&opened.name)),
    }
}
