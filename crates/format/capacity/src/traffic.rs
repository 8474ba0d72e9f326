//! Messages counted by the second.

use std::collections::{BTreeMap, HashMap};

use super::cache::SignatureCache;
use super::{LineFit, QUERY, QueryBurst, walk_message};

/// The counts of a second, of an interval, or in total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficCounts {
    /// Q: the number of queries, that is messages with opcode QUERY and a question.
    pub queries: u64,
    /// R: the number of responses.
    pub responses: u64,
    /// R_s: the number of responses with at least one signature.
    pub signed: u64,
    /// S: the number of signatures.
    pub signatures: u64,
    /// S_v: the number of signatures that a resolver with a cache must verify.
    pub verified: u64,
}

/// The limits of the memory that traffic takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrafficLimits {
    /// The maximum number of seconds with messages, of about 60 bytes each: two million are 23 days.
    pub seconds: usize,
    /// The maximum number of signatures in the simulated cache, of about 32 bytes each.
    pub cache_entries: usize,
}

impl Default for TrafficLimits {
    fn default() -> Self {
        Self { seconds: 2_000_000, cache_entries: 1_000_000 }
    }
}

/// Observed traffic. It keeps counts, and hashes of signatures, but no addresses and no names.
///
/// A simulated cache decides which signatures a resolver must verify: a signature that occurs again before it expires
/// counts as verified with its set. This treats all traffic as that of one resolver, which keeps each set for its
/// TTL, and verifies every signature of a set that has several.
#[derive(Debug)]
pub struct Traffic {
    limits: TrafficLimits,
    seconds: HashMap<u64, TrafficCounts>,
    totals: TrafficCounts,
    /// The number of messages that are counted in the totals only.
    unplaced: u64,
    malformed: u64,
    other_opcodes: u64,
    cache: SignatureCache,
    /// The first and last second of the current input.
    input: Option<(u64, u64)>,
    inputs: Vec<(u64, u64)>,
}

impl Traffic {
    /// Makes traffic without messages.
    #[must_use]
    pub fn new(limits: TrafficLimits) -> Self {
        Self {
            limits,
            seconds: HashMap::new(),
            totals: TrafficCounts::default(),
            unplaced: 0,
            malformed: 0,
            other_opcodes: 0,
            cache: SignatureCache::new(limits.cache_entries.max(1)),
            input: None,
            inputs: Vec::new(),
        }
    }

    /// Counts a message, and the second since 1970 at which it came, if it is known.
    pub fn message(&mut self, at_s: Option<u64>, message: &[u8]) {
        let cache = &mut self.cache;
        let mut verified = 0;
        let walked =
            walk_message(message, &mut |signature| verified += u64::from(cache.must_verify(at_s, signature)));
        let Ok(walked) = walked else {
            self.malformed += 1;
            return;
        };
        if walked.opcode != QUERY {
            self.other_opcodes += 1;
            return;
        }
        let asks_nothing = !walked.is_response && walked.questions == 0;
        self.malformed += u64::from(walked.fault.is_some() || asks_nothing);
        if asks_nothing {
            return;
        }
        let signatures = u64::from(walked.signatures);
        self.add(
            at_s,
            match walked.is_response {
                false => TrafficCounts { queries: 1, ..TrafficCounts::default() },
                true => TrafficCounts {
                    queries: 0,
                    responses: 1,
                    signed: signatures.min(1),
                    signatures,
                    verified,
                },
            },
        );
    }

    /// Counts a query whose contents are unknown.
    pub fn query(&mut self, at_s: u64) {
        self.add(Some(at_s), TrafficCounts { queries: 1, ..TrafficCounts::default() });
    }

    /// Ends an input. The time until the next input is not observed.
    pub fn end_input(&mut self) {
        self.inputs.extend(self.input.take());
    }

    fn add(&mut self, at_s: Option<u64>, counts: TrafficCounts) {
        self.totals.add(counts);
        let Some(at_s) = at_s else {
            self.unplaced += 1;
            return;
        };
        // The totals stay right beyond the limit; only the distribution lacks the message.
        if self.seconds.len() >= self.limits.seconds && !self.seconds.contains_key(&at_s) {
            self.unplaced += 1;
            return;
        }
        self.seconds.entry(at_s).or_default().add(counts);
        let (first, last) = self.input.unwrap_or((at_s, at_s));
        self.input = Some((first.min(at_s), last.max(at_s)));
    }

    /// Returns the totals.
    #[must_use]
    pub fn totals(&self) -> TrafficCounts {
        self.totals
    }

    /// Returns the number of messages that belong to no second. They have no time, or exceed
    /// [`TrafficLimits::seconds`].
    #[must_use]
    pub fn unplaced(&self) -> u64 {
        self.unplaced
    }

    /// Returns the number of malformed messages and of queries without a question. If the header is sound, a
    /// malformed message is counted as far as it can be read.
    #[must_use]
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// Returns the number of messages with another opcode than QUERY, such as UPDATE and NOTIFY. They are neither
    /// queries nor responses.
    #[must_use]
    pub fn other_opcodes(&self) -> u64 {
        self.other_opcodes
    }

    /// Returns the number of seconds from the first to the last message of each input. Overlapping seconds of several
    /// inputs count once.
    #[must_use]
    pub fn observed_s(&self) -> u64 {
        self.observed(1)
    }

    /// Returns the queries per second, or None if no second is known.
    #[must_use]
    pub fn burst(&self) -> Option<QueryBurst> {
        let rates = self.seconds.values().map(|counts| counts.queries).collect();
        QueryBurst::new(rates, self.observed_s())
    }

    /// Returns the counts of intervals of `interval_s` seconds (at least one), in order, without empty intervals.
    #[must_use]
    pub fn intervals(&self, interval_s: u64) -> BTreeMap<u64, TrafficCounts> {
        let mut intervals: BTreeMap<u64, TrafficCounts> = BTreeMap::new();
        for (second, counts) in &self.seconds {
            intervals.entry(second / interval_s.max(1)).or_default().add(*counts);
        }
        intervals
    }

    /// Fits a line of y over x through intervals of `interval_s` seconds. Returns None if there is no such line.
    #[must_use]
    pub fn fit(
        &self,
        interval_s: u64,
        x: fn(&TrafficCounts) -> u64,
        y: fn(&TrafficCounts) -> u64,
    ) -> Option<LineFit> {
        let intervals = self.intervals(interval_s);
        let points: Vec<(f64, f64)> =
            intervals.values().map(|counts| (x(counts) as f64, y(counts) as f64)).collect();
        // Observed intervals without messages are points at (0, 0). They need no memory.
        let silent = self.observed(interval_s).saturating_sub(points.len() as u64);
        LineFit::new(&points, silent)
    }

    /// Returns the number of intervals that the inputs cover.
    fn observed(&self, interval_s: u64) -> u64 {
        let interval_s = interval_s.max(1);
        let mut spans: Vec<(u64, u64)> = self.inputs.iter().chain(&self.input).copied().collect();
        spans.sort_unstable();
        let (mut observed, mut next) = (0_u64, 0);
        for (first, last) in spans {
            let (first, last) = ((first / interval_s).max(next), last / interval_s);
            if last >= first {
                observed = observed.saturating_add(last - first).saturating_add(1);
                next = last.saturating_add(1);
            }
        }
        observed
    }
}

impl TrafficCounts {
    fn add(&mut self, other: Self) {
        self.queries += other.queries;
        self.responses += other.responses;
        self.signed += other.signed;
        self.signatures += other.signatures;
        self.verified += other.verified;
    }
}
