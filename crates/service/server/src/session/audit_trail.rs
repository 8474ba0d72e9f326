//! The audit entries and the metrics of the operations of a request.

use std::sync::Arc;

use oarlock::Scheme;
use oarlock_wire::proto::{Code, Fault};

use super::faults::unaudited;
use crate::audit::{AuditOrigin, AuditedOperation, Reservation, max_entry_bytes};
use crate::clients::KnownClient;
use crate::key_uses::KeyUseCounter;
use crate::metrics::{CodeTally, counted_as};
use crate::service::SharedService;

/// The kinds of the operations of a request, in the order of the operations.
#[derive(Debug)]
pub(super) struct AuditTrail {
    /// The client's part of entries; `None` if there is no audit log.
    origin: Option<Arc<AuditOrigin>>,
    /// The server's number of the request.
    number: u64,
    kinds: Vec<OperationKind>,
    /// The index of a kind, and the number of its operations that follow one another.
    runs: Vec<(u32, u32)>,
}

/// A key with an operation, as audit entries and metrics name them.
#[derive(Clone, Debug)]
pub(super) struct OperationKind {
    pub(super) key: Arc<str>,
    /// The name of the operation as grants have it.
    pub(super) operation: Arc<str>,
    /// The scheme whose counters count it. `None` for records, which are counted by task.
    pub(super) scheme: Option<Scheme>,
    /// The counter of a resident key whose operations are counted by scheme. Looking it up by name for each key of each
    /// request takes longer than counting.
    pub(super) uses: Option<KeyUseCounter>,
}

impl OperationKind {
    pub(super) fn of_scheme(key: Arc<str>, scheme: Scheme, uses: Option<KeyUseCounter>) -> Self {
        Self { key, operation: scheme.to_string().into(), scheme: Some(scheme), uses }
    }
}

impl AuditTrail {
    pub(super) fn new(service: &SharedService, client: &KnownClient, number: u64) -> Self {
        let origin = service.audit.is_kept().then(|| Arc::clone(&client.origin));
        Self { origin, number, kinds: Vec::new(), runs: Vec::new() }
    }

    /// Returns true if there is an audit log.
    pub(super) fn is_kept(&self) -> bool {
        self.origin.is_some()
    }

    /// Adds the next operations, all of one kind. Kinds are numbered in the order of their first operations, and a new
    /// one is described.
    #[inline]
    pub(super) fn add(&mut self, kind: u32, operations: u32, describe: impl FnOnce() -> OperationKind) {
        match self.runs.last_mut() {
            Some((last, run)) if *last == kind => *run += operations,
            _ => {
                if kind as usize == self.kinds.len() {
                    self.kinds.push(describe());
                }
                self.runs.push((kind, operations));
            }
        }
    }

    /// Reserves the space for the entries on a client's account. Returns `None` without a log.
    ///
    /// # Errors
    /// The log must be kept and has no space, or the client has reserved its maximum.
    pub(super) fn reserve(
        &self,
        service: &SharedService,
        client: &KnownClient,
    ) -> Result<Option<Reservation>, Fault> {
        let Some(origin) = &self.origin else { return Ok(None) };
        let reserved = service.audit.reserve(&client.account.audit_bytes, self.max_entry_bytes(origin));
        reserved.map(Some).map_err(unaudited)
    }

    /// Returns an upper bound for the bytes of the entries, before any operation has ended.
    fn max_entry_bytes(&self, origin: &AuditOrigin) -> usize {
        let mut operations = vec![0; self.kinds.len()];
        self.runs.iter().for_each(|(kind, run)| operations[*kind as usize] += *run as usize);
        let kinds = self.kinds.iter().zip(operations);
        kinds
            .map(|(kind, operations)| max_entry_bytes(origin, &kind.key, &kind.operation, operations))
            .fold(0, usize::saturating_add)
    }

    /// Counts the operations by their codes and writes their entries: among the refusals if nothing was reserved. The
    /// codes are those of [`CodedResults`](super::admitted::CodedResults).
    ///
    /// # Errors
    /// The log must be kept and accepts no entry: the answers must not leave.
    pub(super) fn write(
        self,
        reservation: Option<Reservation>,
        codes: &[u8],
        service: &SharedService,
    ) -> Result<(), Fault> {
        let tallies = self.tallies(codes);
        self.count(&tallies, service);
        let Some(origin) = &self.origin else { return Ok(()) };
        let entries = self.entries(&tallies);
        match reservation {
            Some(reservation) => reservation.commit(origin, self.number, &entries).map_err(unaudited),
            None => {
                service.audit.refuse(origin, self.number, &entries);
                Ok(())
            }
        }
    }

    /// Returns the operations of each kind by their codes.
    fn tallies(&self, codes: &[u8]) -> Vec<CodeTally> {
        let mut tallies = vec![CodeTally::default(); self.kinds.len()];
        let of_all = match codes {
            [] => Some(Code::Done as u8),
            [code] => Some(*code),
            _ => None,
        };
        let mut codes = codes.iter();
        for (kind, run) in &self.runs {
            let tally = &mut tallies[*kind as usize];
            match of_all {
                Some(code) => tally.note(code, *run),
                None => codes.by_ref().take(*run as usize).for_each(|code| tally.note(*code, 1)),
            }
        }
        tallies
    }

    fn count(&self, tallies: &[CodeTally], service: &SharedService) {
        for (kind, tally) in self.kinds.iter().zip(tallies) {
            let Some(scheme) = kind.scheme else { continue };
            service.metrics.schemes.get(&counted_as(scheme)).add(tally);
            if let Some(uses) = &kind.uses {
                uses.add(tally.iter().map(|(_, count)| count).sum());
            }
        }
    }

    /// Returns one entry for each kind and verdict.
    fn entries(&self, tallies: &[CodeTally]) -> Vec<AuditedOperation<'_>> {
        let mut entries = Vec::with_capacity(self.kinds.len());
        for (OperationKind { key, operation, .. }, tally) in self.kinds.iter().zip(tallies) {
            let entry = |(verdict, count)| AuditedOperation { key, operation, count, verdict };
            entries.extend(tally.iter().map(entry));
        }
        // Records may name a thousand keys, whose entries are in the order of the names.
        if self.kinds.iter().all(|kind| kind.scheme.is_none()) {
            entries.sort_by_key(|entry| (entry.key, entry.verdict.as_str_name(), entry.operation));
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;
    use crate::identity::ClientIdentity;

    fn trail(operations: impl Iterator<Item = u32>) -> AuditTrail {
        let mut trail = AuditTrail { origin: None, number: 1, kinds: Vec::new(), runs: Vec::new() };
        for kind in operations {
            let key = || format!("key-{kind}").into();
            trail.add(kind, 1, || OperationKind::of_scheme(key(), Scheme::Ed25519Sign, None));
        }
        trail
    }

    #[test]
    fn reserves_one_line_for_each_key_of_a_batch() {
        let origin = AuditOrigin::new(&ClientIdentity::loopback());
        let alike = trail(iter::repeat_n(0, 4096)).max_entry_bytes(&origin);
        let different = trail(0..4096).max_entry_bytes(&origin);
        let line = max_entry_bytes(&origin, "key-4095", "ed25519-sign", 1);
        assert!(different <= 4096 * line, "{different} bytes");
        assert_eq!(alike, max_entry_bytes(&origin, "key-0", "ed25519-sign", 4096));
        // One kind has one line for each verdict, as long as it has jobs enough.
        let two = trail([0, 1, 0].into_iter()).max_entry_bytes(&origin);
        assert_eq!(two, 3 * max_entry_bytes(&origin, "key-0", "ed25519-sign", 1));
    }

    #[test]
    fn counts_operations_by_their_codes_however_these_are_written() {
        let trail = trail([0, 0, 1, 0].into_iter());
        let counts = |codes: &[u8]| {
            let entries = trail.tallies(codes);
            entries.iter().map(|tally| tally.iter().collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        assert_eq!(counts(&[]), [vec![(Code::Done, 3)], vec![(Code::Done, 1)]]);
        assert_eq!(counts(&[1]), [vec![(Code::Rejected, 3)], vec![(Code::Rejected, 1)]]);
        let mixed = [vec![(Code::Done, 2), (Code::Rejected, 1)], vec![(Code::Rejected, 1)]];
        assert_eq!(counts(&[0, 1, 1, 0]), mixed);
    }
}
