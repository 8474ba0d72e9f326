//! What a batch of jobs leaves behind: in the audit log, and in the metrics.

use std::iter;
use std::sync::Arc;

use oarlock::Scheme;
use oarlock_wire::proto::Code;

use crate::audit::{Entry, now_ms};
use crate::metrics::{Metrics, Tally, counted_as};
use crate::service::Service;

/// Which job is of which key and scheme.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// Where there is an audit log.
    client: Option<String>,
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

impl Trail {
    pub(super) fn new(client: Option<String>, count: usize) -> Self {
        Self { client, of_job: Vec::with_capacity(count), ..Self::default() }
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
    pub(super) fn finish(self, codes: &[u8], service: &Service) {
        let tallies = self.tallies(codes);
        self.count(&tallies, &service.metrics);
        if let Some(client) = &self.client {
            service.audit.put(self.entries(&tallies, client));
        }
    }

    fn tallies(&self, codes: &[u8]) -> Vec<Tally> {
        let mut tallies = vec![Tally::default(); self.kinds.len()];
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

    fn count(&self, tallies: &[Tally], metrics: &Metrics) {
        for ((_, scheme), tally) in self.kinds.iter().zip(tallies) {
            let counters = match scheme {
                Some(scheme) => metrics.schemes.of(&counted_as(*scheme)),
                None => metrics.schemes.rest(),
            };
            counters.add(tally);
        }
    }

    /// One entry for each key, scheme and verdict.
    fn entries(&self, tallies: &[Tally], client: &str) -> Vec<Entry> {
        let time_ms = now_ms();
        let mut entries = Vec::with_capacity(self.kinds.len());
        for ((key, scheme), tally) in self.kinds.iter().zip(tallies) {
            let operation = scheme.map_or_else(|| "-".to_owned(), |scheme| scheme.to_string());
            entries.extend(tally.iter().map(|(code, count)| Entry {
                time_ms,
                client: client.to_owned(),
                key: key.to_string(),
                operation: operation.clone(),
                count,
                verdict: code.as_str_name(),
            }));
        }
        entries
    }
}
