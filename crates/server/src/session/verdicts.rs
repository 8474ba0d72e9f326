//! What is known of schemes under a stream's keys: most jobs of a stream are alike.

use std::collections::HashMap;
use std::sync::Arc;

use oarlock::KeyKind;
use oarlock::keys::threshold::Share;
use oarlock::{Key, Scheme};
use oarlock_wire::jobs::JobRow;
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
    /// The name of the key, and the scheme whether allowed or not.
    pub(super) kind: (Arc<str>, Scheme),
}

/// Verdicts that a stream keeps: those beyond are found anew for each message.
const MAX_VERDICTS: usize = 1024;

/// Verdicts that a stream has come to, by handle and scheme.
#[derive(Debug, Default)]
pub(super) struct Verdicts(HashMap<(u32, WireScheme), Arc<Verdict>>);

impl Verdicts {
    /// Forgets everything: the keys are others now.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets what was known of a handle, which stands for another key now.
    pub(super) fn forget(&mut self, handle: u32) {
        self.0.retain(|(own, _), _| *own != handle);
    }

    /// Returns whether the scheme may be done with the key that `handle` stands for.
    pub(super) fn of(&mut self, handle: u32, scheme: WireScheme, opened: &Opened) -> Arc<Verdict> {
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

fn judge(scheme: WireScheme, opened: &Opened) -> Verdict {
    let signer = signer_of(opened);
    let kind_of_key = signer.as_ref().map_or(KeyKind::Secret(0), |signer| signer.kind());
    let scheme = scheme.with(kind_of_key);
    let kind = (Arc::clone(&opened.name), scheme);
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

/// The verdict under a handle that is not open. What is said of each job names its handle.
fn judge_closed(row: &JobRow<'_>) -> Verdict {
    let kind = ("-".into(), row.scheme.with(KeyKind::Ed25519Public));
    Verdict { scheme: Err(not_open(row.handle)), counted: None, kind }
}

/// The verdicts that one message needs: each key and scheme is looked up once, whatever the number of jobs.
#[derive(Debug, Default)]
pub(super) struct MessageVerdicts {
    verdicts: Vec<Arc<Verdict>>,
    /// By handle, None for those that are not open, and the scheme's place in the message.
    places: HashMap<(Option<u32>, u8), u32>,
    last: Option<((Option<u32>, u8), u32)>,
}

impl MessageVerdicts {
    /// Returns the place of a job's verdict. Handles that are not open share one for each scheme.
    #[inline]
    pub(super) fn place(&mut self, row: &JobRow<'_>, known: &mut Verdicts, opened: Option<&Opened>) -> u32 {
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
    pub(super) fn get(&self, place: u32) -> Option<&Verdict> {
        self.verdicts.get(place as usize).map(|verdict| &**verdict)
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
