//! The schemes that a client may use with the keys of its stream, decided once for each key and scheme.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use oarlock::KeyKind;
use oarlock::Scheme;
use oarlock_wire::jobs::WireJob;
use oarlock_wire::proto::Fault;
use oarlock_wire::scheme::WireScheme;

use super::admitted::Permitted;
use super::audit_trail::OperationKind;
use super::faults::{denial, not_open, replaced_key};
use super::opened_key::{JobSigner, OpenedKey, OpenedSource};
use crate::keyring::ActiveGrant;

/// The decision whether a scheme may be used with a key.
#[derive(Debug)]
pub(super) struct Authorization {
    scheme: Result<Scheme, Fault>,
    /// The grant whose rate counts the operation.
    counted: Option<Arc<ActiveGrant>>,
    /// The names of the key and the scheme, allowed or not: audit entries and metrics name both.
    pub(super) kind: OperationKind,
}

impl Authorization {
    /// Decides about a scheme and a key.
    pub(super) fn new(scheme: WireScheme, opened: &OpenedKey) -> Self {
        let signer = opened.signer();
        let kind_of_key = signer.as_ref().map_or(KeyKind::Secret(0), |signer| key_kind(*signer));
        let scheme = scheme.with(kind_of_key);
        let kind = OperationKind::of_scheme(Arc::clone(&opened.name), scheme, opened.uses.clone());
        // The scheme depends on the kind of the key. So a client with rights first learns that the key was replaced.
        if matches!(opened.source, OpenedSource::Replaced) && !opened.rights.is_none() {
            return Self { scheme: Err(replaced_key(&opened.name)), counted: None, kind };
        }
        match opened.rights.allow(&kind.operation) {
            Err(reason) => Self { scheme: Err(denial(reason, &kind.operation)), counted: None, kind },
            Ok(grant) => {
                let counted = grant.filter(|grant| grant.is_counted()).cloned();
                Self { scheme: signer.map(|_| scheme), counted, kind }
            }
        }
    }

    /// Refuses a job under a handle that is not open.
    fn closed(job: &WireJob<'_>) -> Self {
        let kind = OperationKind::of_scheme("-".into(), job.scheme.with(KeyKind::Ed25519Public), None);
        Self { scheme: Err(not_open(job.handle)), counted: None, kind }
    }

    /// Counts a job against its grant, and returns the key or share that does it.
    ///
    /// # Errors
    /// The scheme is not allowed, or the rate of the grant is used up.
    #[inline]
    pub(super) fn permit<'s>(
        &self,
        opened: &'s OpenedKey,
    ) -> Result<Permitted<(Scheme, JobSigner<'s>)>, Cow<'_, Fault>> {
        let scheme = *self.scheme.as_ref().map_err(Cow::Borrowed)?;
        if let Some(grant) = &self.counted {
            grant.take().map_err(|reason| Cow::Owned(denial(reason, &self.kind.operation)))?;
        }
        Ok(Permitted::new((scheme, opened.signer().map_err(Cow::Owned)?), true))
    }
}

fn key_kind(signer: JobSigner<'_>) -> KeyKind {
    match signer {
        JobSigner::Key(key) => key.kind(),
        JobSigner::Share(share) => share.public().public().kind(),
    }
}

/// The number of decisions that a stream keeps. Further ones are made anew for each message.
const MAX_CACHED: usize = 1024;

/// The decisions of a stream by handle and scheme.
#[derive(Debug, Default)]
pub(super) struct AuthorizationCache(HashMap<(u32, WireScheme), Arc<Authorization>>);

impl AuthorizationCache {
    /// Removes everything, because the keys have changed.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Removes the decisions about a handle, which stands for another key now.
    pub(super) fn remove_handle(&mut self, handle: u32) {
        // A linear pass, at most MAX_CACHED entries, and keys are opened rarely.
        self.0.retain(|(held, _), _| *held != handle);
    }

    /// Returns the decision about a scheme and the key that `handle` stands for.
    fn get_or_authorize(
        &mut self,
        handle: u32,
        scheme: WireScheme,
        opened: &OpenedKey,
    ) -> Arc<Authorization> {
        if let Some(known) = self.0.get(&(handle, scheme)) {
            return Arc::clone(known);
        }
        let authorization = Arc::new(Authorization::new(scheme, opened));
        // Without a maximum a client could grow the map by inventing schemes: salts alone give thousands.
        if self.0.len() < MAX_CACHED {
            self.0.insert((handle, scheme), Arc::clone(&authorization));
        }
        authorization
    }
}

/// The decisions that one message needs. Each key and scheme is looked up once for any number of jobs.
#[derive(Debug, Default)]
pub(super) struct MessageAuthorizations {
    authorizations: Vec<Arc<Authorization>>,
    /// The index by handle, `None` for handles that are not open, and by the scheme's index in the message.
    indices: HashMap<(Option<u32>, u8), u32>,
    /// The key and the index of the job before: neighbours are mostly alike, and a comparison is cheaper than a
    /// look-up.
    last: Option<((Option<u32>, u8), u32)>,
}

impl MessageAuthorizations {
    /// Returns a job's decision with its index. Handles that are not open share one for each scheme, so that hostile
    /// messages make no more decisions than they have schemes.
    #[inline]
    pub(super) fn find_or_add(
        &mut self,
        job: &WireJob<'_>,
        known: &mut AuthorizationCache,
        opened: Option<&OpenedKey>,
    ) -> (u32, &Authorization) {
        let key = (opened.map(|_| job.handle), job.scheme_index);
        let authorizations = &mut self.authorizations;
        let index = match self.last {
            Some((last, index)) if last == key => index,
            _ => *self.indices.entry(key).or_insert_with(|| {
                authorizations.push(match opened {
                    Some(opened) => known.get_or_authorize(job.handle, job.scheme, opened),
                    None => Arc::new(Authorization::closed(job)),
                });
                authorizations.len() as u32 - 1
            }),
        };
        self.last = Some((key, index));
        (index, &authorizations[index as usize])
    }
}
