//! The choice of where an operation is computed, by the CPU time that it takes there.
//!
//! The time of an operation is that of the thread that asks, from the question to the answer, and its share in the time
//! of the threads and processes that work for it, which answers name. It varies little, so that few samples decide.
//!
//! A batch is cheap only if many processes ask at the same time. So all processes of a machine try a place in the same
//! windows of its monotonic clock, also those that have decided. The forks of a process, such as the workers of a
//! server, share their samples and decide together: half of them would make half of a batch.

use std::array;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// A place that computes operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComputingSite {
    /// The thread that asks.
    Here,
    /// The batches of this process: an `ASYNC_JOB` pauses meanwhile.
    Batches,
    /// The engines of the cryptoserver.
    Service,
}

impl ComputingSite {
    const COUNT: usize = 3;

    /// Returns the CPU time of a detour that no clock sees: switches of threads, and caches that are lost by them. It
    /// was found as the difference between all of a server's CPU time for a handshake and what the clocks had seen.
    pub(crate) fn unseen(self) -> Duration {
        match self {
            Self::Here => Duration::ZERO,
            // The event loop of the program, which resumes the job.
            Self::Batches => Duration::from_micros(50),
            Self::Service => Duration::from_micros(15),
        }
    }
}

/// The completion of the sentence "they are computed".
impl fmt::Display for ComputingSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Here => "on the threads that ask",
            Self::Batches => "in batches of this process",
            Self::Service => "at the cryptoserver",
        })
    }
}

/// The length of a window.
const WINDOW: Duration = Duration::from_millis(128);
/// The windows of a period, 33 seconds. Each place has one of them, in which all operations go there. Not more: after a
/// window at the cryptoserver all workers of a server have connections, and lose each other's caches for a while.
const WINDOWS: u64 = 256;
/// The windows of a period until each place has had [`YOUNG_WINDOWS`], so that a new process soon decides. In the first
/// one at the cryptoserver, connections and keys are opened, and the server tests its engines.
const WINDOWS_OF_YOUTH: u64 = 8;
const YOUNG_WINDOWS: u64 = 3;
/// The first part of a place's window, whose operations are not measured: the batches are not full yet.
const SETTLE: Duration = Duration::from_millis(40);
/// The time for which a decision holds at least.
const HOLD: Duration = Duration::from_secs(2);
/// The samples that a place needs before it is compared.
const MIN_SAMPLES: f32 = 3.0;
/// The samples that count. Older ones fade.
const MAX_SAMPLES: f32 = 512.0;
/// The samples that the earlier windows of a place count for in a new one.
const KEPT_SAMPLES: f32 = 16.0;
/// The longest sample that counts, in multiples of the mean.
const OUTLIER: f32 = 2.0;
/// A place is left for one that costs less than this share of it.
const WORTHWHILE: f32 = 0.95;
/// The time for which a place is left out after a failure. It doubles with each further one, six times.
const SHUT: Duration = Duration::from_secs(2);
/// The kinds of operations that have routes.
const KINDS: usize = 32;

/// A moment of the machine's monotonic clock.
pub(crate) type Moment = Duration;

/// The routes of a process and of its forks, which may lie in memory that they share.
#[derive(Debug)]
pub(crate) struct RouteTable([SharedRoute; KINDS]);

/// The knowledge about operations of one kind. Every field may be read and written at any time: a mixture of two states
/// costs at most a decision that the next samples correct.
#[derive(Debug, Default)]
struct SharedRoute {
    /// The number of the kind, or 0 if the route is free.
    kind: AtomicU64,
    /// The number of the place that is used, plus one; 0 before the first decision.
    current: AtomicU8,
    /// The moment of the last decision, in nanoseconds.
    decided: AtomicU64,
    /// [`MeanCost`]s.
    costs: [AtomicU64; ComputingSite::COUNT],
    /// The last window that each place has been measured in, and behind it, in 32 bits, the number of such windows.
    windows: [AtomicU64; ComputingSite::COUNT],
}

/// The failures of places in this process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SiteFailures {
    /// The moments until which a place is left out, and the number of its failures since its last success.
    shut: [(Moment, u32); ComputingSite::COUNT],
}

/// The choice of where operations of one kind are computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route<'t> {
    shared: &'t SharedRoute,
    /// The first place is used until all have been compared.
    sites: &'t [ComputingSite],
}

/// The mean CPU time of an operation.
#[derive(Clone, Copy, Debug, Default)]
struct MeanCost {
    samples: f32,
    ns: f32,
}

/// A changed decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RouteChange {
    pub(crate) from: ComputingSite,
    pub(crate) to: ComputingSite,
    /// The CPU time of an operation at both.
    pub(crate) costs: [Duration; 2],
}

impl Default for RouteTable {
    fn default() -> Self {
        Self(array::from_fn(|_| SharedRoute::default()))
    }
}

impl RouteTable {
    /// Returns the route of a kind over these places. None if there are too many kinds.
    pub(crate) fn route<'t>(&'t self, kind: u64, sites: &'t [ComputingSite]) -> Option<Route<'t>> {
        self.0.iter().find(|shared| claim(&shared.kind, kind)).map(|shared| Route { shared, sites })
    }
}

/// True if an owner's number, which is not 0, is this one, or if there was none and it is this one now.
pub(crate) fn claim(owner: &AtomicU64, number: u64) -> bool {
    // Relaxed: no other memory depends on the order of these fields.
    match owner.load(Ordering::Relaxed) {
        0 => match owner.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => true,
            Err(found) => found == number,
        },
        found => found == number,
    }
}

impl SiteFailures {
    /// Notes that a place cannot compute.
    pub(crate) fn shut(&mut self, now: Moment, site: ComputingSite) {
        let (until, failures) = &mut self.shut[site as usize];
        *until = now + SHUT * (1 << (*failures).min(6));
        *failures += 1;
    }

    /// Notes that a place has computed.
    pub(crate) fn forget(&mut self, site: ComputingSite) {
        self.shut[site as usize].1 = 0;
    }

    fn is_open(&self, now: Moment, site: ComputingSite) -> bool {
        self.shut[site as usize].0 <= now
    }
}

impl Route<'_> {
    /// Returns the place of an operation that begins now, and the decision if it has changed.
    pub(crate) fn choose(self, now: Moment, failures: &SiteFailures) -> (ComputingSite, Option<RouteChange>) {
        let now_ns = as_ns(now);
        let decided = self.shared.decided.load(Ordering::Relaxed);
        let change = if now_ns.saturating_sub(decided) >= as_ns(HOLD) {
            self.decide(now, decided, failures)
        } else {
            None
        };
        let site = self.tried(now, failures).unwrap_or_else(|| self.current());
        let site =
            if failures.is_open(now, site) { site } else { self.open(now, failures).next().unwrap_or(site) };
        (site, change)
    }

    /// Notes what an operation that began at a moment has cost.
    pub(crate) fn complete(
        self,
        began: Moment,
        failures: &SiteFailures,
        site: ComputingSite,
        cost: Duration,
    ) {
        let is_settled = began.as_nanos() % WINDOW.as_nanos() >= SETTLE.as_nanos();
        // Outside of its window a place is measured as it is used.
        let counts = if self.tried(began, failures).is_some() { is_settled } else { site == self.current() };
        if counts {
            let kept = if self.begins_window(began, site) { KEPT_SAMPLES } else { MAX_SAMPLES };
            let sample = (cost + site.unseen()).as_nanos() as f32;
            let add = |packed| Some(MeanCost::unpack(packed).keeping(kept).with(sample).pack());
            _ = self.shared.costs[site as usize].fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        }
    }

    /// True for the first sample of a place in a window of a trial.
    fn begins_window(self, began: Moment, site: ComputingSite) -> bool {
        if site == self.current() {
            return false;
        }
        let window = window_of(began) as u32;
        let note = |packed: u64| {
            let is_new = (packed >> 32) as u32 != window;
            is_new.then(|| u64::from(window) << 32 | u64::from((packed as u32).saturating_add(1)))
        };
        self.shared.windows[site as usize].fetch_update(Ordering::Relaxed, Ordering::Relaxed, note).is_ok()
    }

    /// Returns the place that is used outside of windows.
    pub(crate) fn current(self) -> ComputingSite {
        let first = self.sites.first().copied().unwrap_or(ComputingSite::Here);
        let current = self.shared.current.load(Ordering::Relaxed);
        self.sites.iter().copied().find(|site| *site as u8 + 1 == current).unwrap_or(first)
    }

    fn open(self, now: Moment, failures: &SiteFailures) -> impl Iterator<Item = ComputingSite> {
        self.sites.iter().copied().filter(move |site| failures.is_open(now, *site))
    }

    /// Returns the place that all processes try at this moment.
    fn tried(self, now: Moment, failures: &SiteFailures) -> Option<ComputingSite> {
        let current = self.current();
        let windows = |site: ComputingSite| self.shared.windows[site as usize].load(Ordering::Relaxed) as u32;
        let is_young = |site: ComputingSite| site != current && u64::from(windows(site)) < YOUNG_WINDOWS;
        let period = if self.open(now, failures).any(is_young) { WINDOWS_OF_YOUTH } else { WINDOWS };
        // The last windows of a period, so that short and long ones agree.
        let index = (window_of(now) % period).checked_sub(period - self.sites.len() as u64)?;
        let site = *self.sites.get(index as usize)?;
        failures.is_open(now, site).then_some(site)
    }

    fn decide(self, now: Moment, decided: u64, failures: &SiteFailures) -> Option<RouteChange> {
        let cost =
            |site: ComputingSite| MeanCost::unpack(self.shared.costs[site as usize].load(Ordering::Relaxed));
        if self.open(now, failures).any(|site| cost(site).samples < MIN_SAMPLES) {
            return None;
        }
        let cheapest =
            self.open(now, failures).min_by(|one, other| cost(*one).ns.total_cmp(&cost(*other).ns))?;
        let from = self.current();
        if cost(cheapest).ns >= WORTHWHILE * cost(from).ns {
            return None;
        }
        let costs = [from, cheapest].map(|site| Duration::from_nanos(cost(site).ns as u64));
        // Another thread or process may have decided meanwhile.
        let is_first =
            self.shared.decided.compare_exchange(decided, as_ns(now), Ordering::Relaxed, Ordering::Relaxed);
        is_first.ok()?;
        self.shared.current.store(cheapest as u8 + 1, Ordering::Relaxed);
        Some(RouteChange { from, to: cheapest, costs })
    }
}

impl MeanCost {
    fn keeping(self, samples: f32) -> Self {
        Self { samples: self.samples.min(samples), ..self }
    }

    fn with(self, sample: f32) -> Self {
        // The first ones have no mean to be compared with.
        let bounded = if self.samples < MIN_SAMPLES { sample } else { sample.min(OUTLIER * self.ns) };
        let samples = (self.samples + 1.0).min(MAX_SAMPLES);
        Self { samples, ns: self.ns + (bounded - self.ns) / samples }
    }

    fn pack(self) -> u64 {
        u64::from(self.samples.to_bits()) << 32 | u64::from(self.ns.to_bits())
    }

    fn unpack(packed: u64) -> Self {
        let [samples, ns] = [packed >> 32, packed & 0xFFFF_FFFF].map(|bits| f32::from_bits(bits as u32));
        Self { samples, ns }
    }
}

/// Returns the number of the window that a moment is in.
fn window_of(moment: Moment) -> u64 {
    u64::try_from(moment.as_nanos() / WINDOW.as_nanos()).unwrap_or(u64::MAX)
}

fn as_ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ComputingSite; 3] = [ComputingSite::Here, ComputingSite::Batches, ComputingSite::Service];
    const BOTH: [ComputingSite; 2] = [ComputingSite::Here, ComputingSite::Service];

    /// A process that computes one operation each millisecond, on a clock of its own.
    struct Process<'t> {
        table: &'t RouteTable,
        sites: &'t [ComputingSite],
        failures: SiteFailures,
        now: Moment,
        changes: Vec<(Moment, RouteChange)>,
    }

    impl<'t> Process<'t> {
        fn new(table: &'t RouteTable, sites: &'t [ComputingSite]) -> Self {
            let now = Duration::from_secs(1_000);
            Self { table, sites, failures: SiteFailures::default(), now, changes: Vec::new() }
        }

        fn route(&self) -> Route<'t> {
            self.table.route(1, self.sites).unwrap()
        }

        /// Computes for a while, and returns the places. `cost` is the CPU time of an operation in microseconds.
        fn run(&mut self, seconds: u64, cost: impl Fn(ComputingSite) -> u64) -> Vec<ComputingSite> {
            let end = self.now + Duration::from_secs(seconds);
            let mut sites = Vec::new();
            while self.now < end {
                sites.push(self.step(&cost));
                self.now += Duration::from_millis(1);
            }
            sites
        }

        fn step(&mut self, cost: impl Fn(ComputingSite) -> u64) -> ComputingSite {
            let (site, change) = self.route().choose(self.now, &self.failures);
            self.changes.extend(change.map(|change| (self.now, change)));
            self.route().complete(self.now, &self.failures, site, Duration::from_micros(cost(site)));
            self.failures.forget(site);
            site
        }
    }

    fn cost(here: u64, batches: u64, service: u64) -> impl Fn(ComputingSite) -> u64 {
        move |site| [here, batches, service][site as usize]
    }

    #[test]
    fn the_cheapest_place_is_found_and_kept() {
        for (cost, cheapest) in [
            (cost(300, 400, 500), ComputingSite::Here),
            (cost(300, 200, 500), ComputingSite::Batches),
            (cost(300, 200, 150), ComputingSite::Service),
        ] {
            let table = RouteTable::default();
            let mut process = Process::new(&table, &ALL);
            process.run(5, &cost);
            let kept = process.run(100, &cost);
            assert_eq!(process.route().current(), cheapest);
            let others = kept.iter().filter(|site| **site != cheapest).count();
            // The windows of the two others are a hundredth of the time.
            assert!((1..kept.len() / 80).contains(&others), "{others}");
            let expected = usize::from(cheapest != ComputingSite::Here);
            assert_eq!(process.changes.len(), expected, "{:?}", process.changes);
        }
    }

    #[test]
    fn a_change_names_both_places_and_their_costs() {
        let table = RouteTable::default();
        let mut process = Process::new(&table, &BOTH);
        process.run(10, cost(300, 0, 200));
        let [(_, change)] = process.changes[..] else { panic!("{:?}", process.changes) };
        assert_eq!((change.from, change.to), (ComputingSite::Here, ComputingSite::Service));
        let service = Duration::from_micros(200) + ComputingSite::Service.unseen();
        assert_eq!(change.costs, [Duration::from_micros(300), service]);
    }

    #[test]
    fn a_small_difference_changes_nothing() {
        let table = RouteTable::default();
        let mut process = Process::new(&table, &ALL);
        process.run(100, cost(300, 250, 275));
        assert!(process.changes.is_empty(), "{:?}", process.changes);
    }

    #[test]
    fn a_decision_follows_costs_that_change_and_holds_for_two_seconds() {
        let table = RouteTable::default();
        let mut process = Process::new(&table, &BOTH);
        process.run(5, cost(300, 0, 200));
        assert_eq!(process.route().current(), ComputingSite::Service);
        // What is in use is measured all the time, so a slow server is left soon.
        process.run(3, cost(300, 0, 500));
        assert_eq!(process.route().current(), ComputingSite::Here);
        for turn in 0..400 {
            process.run(1, cost(300, 0, if turn % 2 == 0 { 100 } else { 900 }));
        }
        assert!(
            process.changes.windows(2).all(|pair| pair[1].0 - pair[0].0 >= HOLD),
            "{:?}",
            process.changes
        );
    }

    #[test]
    fn all_processes_of_a_machine_try_a_place_in_the_same_windows() {
        let tried = |seconds: u64, service: u64| {
            let table = RouteTable::default();
            let mut process = Process::new(&table, &BOTH);
            process.run(seconds, cost(300, 0, service));
            process.now = WINDOW * (WINDOWS * 34) as u32 - Duration::from_secs(1);
            let start = process.now;
            let sites = process.run(10, cost(300, 0, service));
            let current = process.route().current();
            let moments = (0..).zip(sites).filter(|(_, site)| *site != current);
            (
                current,
                moments.map(|(ms, _)| (start + Duration::from_millis(ms)).as_millis()).collect::<Vec<_>>(),
            )
        };
        let (new, old) = (tried(1, 500), tried(50, 500));
        // A new one has more windows, and all of those that the others have.
        assert_eq!((new.0, old.0), (ComputingSite::Here, ComputingSite::Here));
        assert!(!old.1.is_empty() && old.1.iter().all(|ms| new.1.contains(ms)), "{old:?} {new:?}");
        // One that has decided for the service tries what others use, and others try the service, each in its window.
        let (current, others) = tried(50, 100);
        assert_eq!(current, ComputingSite::Service);
        let window = |ms: &u128| ms / WINDOW.as_millis() % u128::from(WINDOWS);
        let is_last = |ms: &u128| window(ms) == u128::from(WINDOWS - 1);
        assert!(old.1.iter().all(is_last) && !others.is_empty() && !others.iter().any(is_last));
    }

    #[test]
    fn a_place_that_fails_is_left_out_for_longer_and_longer() {
        let table = RouteTable::default();
        let mut process = Process::new(&table, &BOTH);
        let mut failures: Vec<Moment> = Vec::new();
        while process.now < Duration::from_secs(1_400) {
            if process.route().choose(process.now, &process.failures).0 == ComputingSite::Service {
                process.failures.shut(process.now, ComputingSite::Service);
                let (instead, _) = process.route().choose(process.now, &process.failures);
                assert_eq!(instead, ComputingSite::Here);
                failures.push(process.now);
            }
            process.now += Duration::from_millis(1);
        }
        let gaps: Vec<Duration> = failures.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.last() >= Some(&Duration::from_secs(64)) && gaps.len() < 12, "{gaps:?}");
        // It counts again once it answers.
        process.run(200, cost(300, 0, 200));
        assert_eq!(process.route().current(), ComputingSite::Service);
    }

    #[test]
    fn an_interrupted_operation_decides_nothing() {
        let table = RouteTable::default();
        let mut process = Process::new(&table, &BOTH);
        process.run(5, cost(300, 0, 290));
        let interrupted = Duration::from_millis(20);
        process.route().complete(process.now, &process.failures, ComputingSite::Here, interrupted);
        process.run(5, cost(300, 0, 290));
        assert!(process.changes.is_empty(), "{:?}", process.changes);
    }

    #[test]
    fn forks_decide_together() {
        let table = RouteTable::default();
        let mut workers: Vec<Process<'_>> = (0..32).map(|_| Process::new(&table, &BOTH)).collect();
        let mut used = Vec::new();
        // Each worker has few samples, and its own are misleading: the last half of them sees the opposite costs.
        for ms in 0..20_000 {
            let at = ms % workers.len();
            let worker = &mut workers[at];
            worker.now = Duration::from_millis(1_000_000 + ms as u64);
            let is_misled = at >= 28;
            used.push(worker.step(|site| match site == ComputingSite::Service {
                is_service if is_service == is_misled => 300,
                _ => 200,
            }));
        }
        let changes: usize = workers.iter().map(|worker| worker.changes.len()).sum();
        assert_eq!((changes, table.route(1, &BOTH).unwrap().current()), (1, ComputingSite::Service));
        // All of them follow.
        let last = &used[19_000..];
        assert!(last.iter().filter(|site| **site != ComputingSite::Service).count() < 150, "{last:?}");
    }

    #[test]
    fn kinds_have_routes_of_their_own_until_there_are_too_many() {
        let table = RouteTable::default();
        for kind in 1..=KINDS as u64 {
            assert!(table.route(kind, &BOTH).is_some());
        }
        assert!(table.route(1, &BOTH).is_some() && table.route(KINDS as u64 + 1, &BOTH).is_none());
        let of = |kind| std::ptr::from_ref(table.route(kind, &BOTH).unwrap().shared);
        assert!(of(1) != of(2) && of(2) == of(2));
    }
}
