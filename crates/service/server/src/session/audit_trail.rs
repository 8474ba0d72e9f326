//! The audit entries and the metrics of a batch of jobs.

use std::iter;
use std::sync::Arc;

use oarlock::Scheme;
use oarlock_wire::proto::Code;

use crate::audit::{
    AuditError, AuditLog, AuditOrigin, AuditedOperation, Reservation, ReservedBytes, max_entry_bytes,
};
use crate::metrics::{CodeTally, counted_as};
use crate::service::SharedService;

/// The kinds of the jobs of a batch: the key and the scheme of each job.
#[derive(Debug, Default)]
pub(super) struct AuditTrail {
    /// The client's part of entries; `None` if there is no audit log.
    origin: Option<Arc<AuditOrigin>>,
    /// The server's number of the request.
    number: u64,
    /// The space for the entries, if any job may run.
    reservation: Option<Reservation>,
    /// The names of keys and the schemes; `None` if the stream has not opened the key.
    kinds: Vec<(Arc<str>, Option<Scheme>)>,
    /// The index of each job's kind, in the order of the jobs.
    kind_of_job: Vec<u32>,
    /// The index of a kind by the number that the caller gives it, or [`NOT_MET`]. The numbers are few and begin at 0.
    kind_of_number: Vec<u32>,
    /// The index of the kind of jobs whose key the stream has not opened.
    unknown: Option<u32>,
    /// The number and the index of the job before: most jobs of a batch are alike.
    last: Option<(Option<u32>, u32)>,
}

/// The index of a kind that no job has had yet.
const NOT_MET: u32 = u32::MAX;

impl AuditTrail {
    pub(super) fn new(origin: Option<Arc<AuditOrigin>>, number: u64, count: usize) -> Self {
        Self { origin, number, kind_of_job: Vec::with_capacity(count), ..Self::default() }
    }

    /// Reserves the space for the entries on a client's account, before any job runs.
    ///
    /// # Errors
    /// The log must be kept and has no space, or the client has reserved its maximum.
    pub(super) fn reserve(
        &mut self,
        audit: &AuditLog,
        account: &Arc<ReservedBytes>,
    ) -> Result<(), AuditError> {
        let Some(origin) = &self.origin else { return Ok(()) };
        self.reservation = Some(audit.reserve(account, self.max_entry_bytes(origin))?);
        Ok(())
    }

    /// Returns an upper bound for the bytes of the entries, before any job has ended.
    fn max_entry_bytes(&self, origin: &AuditOrigin) -> usize {
        let mut jobs = vec![0; self.kinds.len()];
        self.kind_of_job.iter().for_each(|kind| jobs[*kind as usize] += 1);
        let bytes = |((key, scheme), jobs): (&(Arc<str>, Option<Scheme>), usize)| {
            max_entry_bytes(origin, key, &operation(*scheme), jobs)
        };
        self.kinds.iter().zip(jobs).map(bytes).fold(0, usize::saturating_add)
    }

    /// Adds the next job.
    #[inline]
    pub(super) fn add<'k>(
        &mut self,
        kind: Option<u32>,
        name: impl FnOnce(u32) -> Option<&'k (Arc<str>, Scheme)>,
    ) {
        let index = match self.last {
            Some((last, index)) if last == kind => index,
            _ => self.find_or_add_kind(kind, name),
        };
        self.last = Some((kind, index));
        self.kind_of_job.push(index);
    }

    fn find_or_add_kind<'k>(
        &mut self,
        kind: Option<u32>,
        name: impl FnOnce(u32) -> Option<&'k (Arc<str>, Scheme)>,
    ) -> u32 {
        let new = self.kinds.len() as u32;
        let index = match kind {
            // All jobs under closed handles share one kind: a hostile batch must not make one entry per handle.
            None => self.unknown.get_or_insert(new),
            Some(kind) => {
                let at = kind as usize;
                if at >= self.kind_of_number.len() {
                    self.kind_of_number.resize(at + 1, NOT_MET);
                }
                &mut self.kind_of_number[at]
            }
        };
        if *index == NOT_MET {
            *index = new;
        }
        if *index == new {
            let known = kind.and_then(name).map(|(key, scheme)| (Arc::clone(key), Some(*scheme)));
            // The name is fetched only for a new kind, because it clones two reference counts.
            self.kinds.push(known.unwrap_or_else(|| ("-".into(), None)));
        }
        *index
    }

    /// Writes the entries and counts the jobs by their codes. No codes at all mean that every job was done, and one code
    /// is that of every job.
    ///
    /// # Errors
    /// The log must be kept and accepts no entry: the answers must not leave.
    pub(super) fn finish(mut self, codes: &[u8], service: &SharedService) -> Result<(), AuditError> {
        let tallies = self.tallies(codes);
        self.count(&tallies, service);
        let Some(origin) = self.origin.take() else { return Ok(()) };
        let names: Vec<String> = self.kinds.iter().map(|(_, scheme)| operation(*scheme)).collect();
        let reservation = self.reservation.take();
        let entries = self.entries(&tallies, &names);
        match reservation {
            Some(reservation) => reservation.commit(&origin, self.number, &entries),
            None => {
                service.audit.refuse(&origin, self.number, &entries);
                Ok(())
            }
        }
    }

    fn tallies(&self, codes: &[u8]) -> Vec<CodeTally> {
        let mut tallies = vec![CodeTally::default(); self.kinds.len()];
        // The common case, one kind and no failures, needs no pass over the jobs.
        if let ([only], []) = (&mut *tallies, codes) {
            only.note(Code::Done as u8, self.kind_of_job.len() as u32);
            return tallies;
        }
        // The protocol writes equal codes once.
        let rest = if let [code] = codes { *code } else { Code::Done as u8 };
        let codes = codes.iter().copied().chain(iter::repeat(rest));
        for (kind, code) in self.kind_of_job.iter().zip(codes) {
            tallies[*kind as usize].note(code, 1);
        }
        tallies
    }

    fn count(&self, tallies: &[CodeTally], service: &SharedService) {
        for ((key, scheme), tally) in self.kinds.iter().zip(tallies) {
            let schemes = &service.metrics.schemes;
            let counters = match scheme {
                Some(scheme) => schemes.get(&counted_as(*scheme)),
                None => schemes.rest(),
            };
            counters.add(tally);
            service.key_uses.count(key, tally.iter().map(|(_, count)| count).sum());
        }
    }

    /// Returns one entry for each key, scheme and verdict.
    fn entries<'e>(&'e self, tallies: &[CodeTally], names: &'e [String]) -> Vec<AuditedOperation<'e>> {
        let mut entries = Vec::with_capacity(self.kinds.len());
        for (((key, _), operation), tally) in self.kinds.iter().zip(names).zip(tallies) {
            entries.extend(tally.iter().map(|(verdict, count)| AuditedOperation {
                key,
                operation,
                count,
                verdict,
            }));
        }
        entries
    }
}

/// Returns the name of a scheme as grants have it, or `-` if the key is not open: the scheme depends on the key.
fn operation(scheme: Option<Scheme>) -> String {
    scheme.map_or_else(|| "-".to_owned(), |scheme| scheme.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::ClientIdentity;

    fn trail(kinds: &[(Arc<str>, Scheme)], jobs: impl Iterator<Item = u32>) -> AuditTrail {
        let mut trail = AuditTrail::new(None, 1, 0);
        jobs.for_each(|kind| trail.add(Some(kind), |kind| kinds.get(kind as usize)));
        trail
    }

    #[test]
    fn reserves_one_line_for_each_key_of_a_batch() {
        let kinds: Vec<(Arc<str>, Scheme)> =
            (0..4096).map(|key| (format!("key-{key}").into(), Scheme::Ed25519Sign)).collect();
        let origin = AuditOrigin::new(&ClientIdentity::loopback());
        let alike = trail(&kinds, iter::repeat_n(0, 4096)).max_entry_bytes(&origin);
        let different = trail(&kinds, 0..4096).max_entry_bytes(&origin);
        let line = max_entry_bytes(&origin, "key-4095", "ed25519-sign", 1);
        assert!(different <= 4096 * line, "{different} bytes");
        assert_eq!(alike, max_entry_bytes(&origin, "key-0", "ed25519-sign", 4096));
        // One kind has one line for each verdict, as long as it has jobs enough.
        let two = trail(&kinds, [0, 1, 0].into_iter()).max_entry_bytes(&origin);
        assert_eq!(two, 3 * max_entry_bytes(&origin, "key-0", "ed25519-sign", 1));
    }
}
