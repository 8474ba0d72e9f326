//! What a batch of jobs leaves behind: in the audit log, and in the metrics.

use std::iter;
use std::sync::Arc;

use oarlock::Scheme;
use oarlock_wire::proto::Code;

use crate::audit::{
    AuditError, AuditLog, AuditOrigin, AuditedOperation, Reservation, ReservedBytes, max_entry_bytes,
};
use crate::metrics::{CodeTally, ServerMetrics, counted_as};
use crate::service::SharedService;

/// Which job is of which key and scheme.
#[derive(Debug, Default)]
pub(super) struct AuditTrail {
    /// If there is an audit log.
    origin: Option<Arc<AuditOrigin>>,
    /// The server's number of the request.
    number: u64,
    /// The place of the entries, if any job may run.
    reservation: Option<Reservation>,
    /// Names of keys, and schemes; None where the stream has not opened the key.
    kinds: Vec<(Arc<str>, Option<Scheme>)>,
    /// The place among these of each job, in order.
    of_job: Vec<u32>,
    /// The places of the stream's kinds by their numbers, which are few and begin at 0; [`NOWHERE`] for those not met yet.
    places: Vec<u32>,
    /// The place of jobs whose key the stream has not opened.
    unknown: Option<u32>,
    /// Number and place of the job before: most jobs of a batch are alike.
    last: Option<(Option<u32>, u32)>,
}

const NOWHERE: u32 = u32::MAX;

impl AuditTrail {
    pub(super) fn new(origin: Option<Arc<AuditOrigin>>, number: u64, count: usize) -> Self {
        Self { origin, number, of_job: Vec::with_capacity(count), ..Self::default() }
    }

    /// Takes the place of the entries on a client's account, before any job runs.
    ///
    /// # Errors
    /// There is no place left, and the log must be kept.
    pub(super) fn reserve(
        &mut self,
        audit: &AuditLog,
        account: &Arc<ReservedBytes>,
    ) -> Result<(), AuditError> {
        let Some(origin) = &self.origin else { return Ok(()) };
        self.reservation = Some(audit.reserve(account, self.max_entry_bytes(origin))?);
        Ok(())
    }

    /// A bound on the bytes of the entries, before anything is known of how the jobs end.
    fn max_entry_bytes(&self, origin: &AuditOrigin) -> usize {
        let mut jobs = vec![0; self.kinds.len()];
        self.of_job.iter().for_each(|place| jobs[*place as usize] += 1);
        let bytes = |((key, scheme), jobs): (&(Arc<str>, Option<Scheme>), usize)| {
            max_entry_bytes(origin, key, &operation(*scheme), jobs)
        };
        self.kinds.iter().zip(jobs).map(bytes).fold(0, usize::saturating_add)
    }

    /// The next job.
    #[inline]
    pub(super) fn add<'k>(
        &mut self,
        kind: Option<u32>,
        name: impl FnOnce(u32) -> Option<&'k (Arc<str>, Scheme)>,
    ) {
        let place = match self.last {
            Some((last, place)) if last == kind => place,
            _ => self.place(kind, name),
        };
        self.last = Some((kind, place));
        self.of_job.push(place);
    }

    fn place<'k>(
        &mut self,
        kind: Option<u32>,
        name: impl FnOnce(u32) -> Option<&'k (Arc<str>, Scheme)>,
    ) -> u32 {
        let new = self.kinds.len() as u32;
        let place = match kind {
            None => self.unknown.get_or_insert(new),
            Some(kind) => {
                let at = kind as usize;
                if at >= self.places.len() {
                    self.places.resize(at + 1, NOWHERE);
                }
                &mut self.places[at]
            }
        };
        if *place == NOWHERE {
            *place = new;
        }
        if *place == new {
            let known = kind.and_then(name).map(|(key, scheme)| (Arc::clone(key), Some(*scheme)));
            self.kinds.push(known.unwrap_or_else(|| ("-".into(), None)));
        }
        *place
    }

    /// Writes down how the jobs ended: by their codes, of which none says that all were done.
    ///
    /// # Errors
    /// The log must be kept and takes no entry: the answers must not leave.
    pub(super) fn finish(mut self, codes: &[u8], service: &SharedService) -> Result<(), AuditError> {
        let tallies = self.tallies(codes);
        self.count(&tallies, &service.metrics);
        let Some(origin) = self.origin.take() else { return Ok(()) };
        let names: Vec<String> = self.kinds.iter().map(|(_, scheme)| operation(*scheme)).collect();
        let reservation = self.reservation.take();
        let entries = self.entries(&tallies, &names);
        match reservation {
            Some(reservation) => reservation.put(&origin, self.number, &entries),
            None => {
                service.audit.refuse(&origin, self.number, &entries);
                Ok(())
            }
        }
    }

    fn tallies(&self, codes: &[u8]) -> Vec<CodeTally> {
        let mut tallies = vec![CodeTally::default(); self.kinds.len()];
        if let ([only], []) = (&mut *tallies, codes) {
            only.note(Code::Done as u8, self.of_job.len() as u32);
            return tallies;
        }
        let codes = codes.iter().copied().chain(iter::repeat(Code::Done as u8));
        for (place, code) in self.of_job.iter().zip(codes) {
            tallies[*place as usize].note(code, 1);
        }
        tallies
    }

    fn count(&self, tallies: &[CodeTally], metrics: &ServerMetrics) {
        for ((_, scheme), tally) in self.kinds.iter().zip(tallies) {
            let counters = match scheme {
                Some(scheme) => metrics.schemes.of(&counted_as(*scheme)),
                None => metrics.schemes.rest(),
            };
            counters.add(tally);
        }
    }

    /// One entry for each key, scheme and verdict.
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

/// The name of a scheme as grants have it; `-` if the key is not open, which says what scheme it would be.
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
    fn many_keys_in_one_batch_reserve_a_line_each() {
        let kinds: Vec<(Arc<str>, Scheme)> =
            (0..4096).map(|key| (format!("key-{key}").into(), Scheme::Ed25519Sign)).collect();
        let origin = AuditOrigin::of(&ClientIdentity::loopback());
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
