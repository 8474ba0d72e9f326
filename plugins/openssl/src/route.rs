//! The choice of where an operation is computed, by the CPU time that it takes there.
//!
//! The time of an operation is that of the thread that asks, from the question to the answer, and its share in the time
//! of the threads and processes that work for it, which answers name. It varies little, so that few samples decide.
//!
//! A batch is cheap only if many processes ask at the same time. So all processes of a machine try a place in the same
//! windows of its monotonic clock, also those that have decided.

use std::fmt;
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
/// The windows of a period, four seconds. Each place has one of them, in which all operations go there.
const WINDOWS: u64 = 32;
/// The periods that a route tries from its first operation on. Later it tries one in [`TRIED_PERIODS`]: after a window
/// at the cryptoserver all workers of a server have connections, and lose each other's caches for a while.
const YOUNG_PERIODS: u32 = 3;
const TRIED_PERIODS: u64 = 8;
/// The first part of a place's window, whose operations are not measured: the batches are not full yet.
const SETTLE: Duration = Duration::from_millis(40);
/// The time for which a decision holds at least.
const HOLD: Duration = Duration::from_secs(2);
/// The samples that a place needs before it is compared.
const MIN_SAMPLES: f64 = 3.0;
/// The samples that count. Older ones fade.
const MAX_SAMPLES: f64 = 16.0;
/// The longest sample that counts, in multiples of the mean.
const OUTLIER: f64 = 2.0;
/// A place is left for one that costs less than this share of it.
const WORTHWHILE: f64 = 0.95;
/// The time for which a place is left out after a failure. It doubles with each further one, six times.
const SHUT: Duration = Duration::from_secs(2);

/// A moment of the machine's monotonic clock.
pub(crate) type Moment = Duration;

/// The choice of where operations of one kind are computed.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    sites: Vec<ComputingSite>,
    current: ComputingSite,
    /// The moment of the first operation.
    born: Option<Moment>,
    /// The moment of the last decision.
    decided: Moment,
    costs: [MeanCost; ComputingSite::COUNT],
    /// The moments until which a place is left out, and the number of its failures since its last success.
    shut: [(Moment, u32); ComputingSite::COUNT],
}

/// The mean CPU time of an operation.
#[derive(Clone, Copy, Debug, Default)]
struct MeanCost {
    samples: f64,
    ns: f64,
}

/// A changed decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RouteChange {
    pub(crate) from: ComputingSite,
    pub(crate) to: ComputingSite,
    /// The CPU time of an operation at both.
    pub(crate) costs: [Duration; 2],
}

impl Route {
    /// Returns a route over these places, of which the first one is used until all have been compared.
    pub(crate) fn new(sites: Vec<ComputingSite>) -> Self {
        let current = sites.first().copied().unwrap_or(ComputingSite::Here);
        let (costs, shut) =
            ([MeanCost::default(); ComputingSite::COUNT], [(Moment::ZERO, 0); ComputingSite::COUNT]);
        Self { sites, current, born: None, decided: Moment::ZERO, costs, shut }
    }

    /// Returns the place of an operation that begins now, and the decision if it has changed.
    pub(crate) fn choose(&mut self, now: Moment) -> (ComputingSite, Option<RouteChange>) {
        self.born.get_or_insert(now);
        let change = if now.saturating_sub(self.decided) >= HOLD { self.decide(now) } else { None };
        (self.tried(now).unwrap_or(self.current), change)
    }

    /// Notes what an operation that began at a moment has cost.
    pub(crate) fn complete(&mut self, began: Moment, site: ComputingSite, cost: Duration) {
        self.shut[site as usize].1 = 0;
        let is_settled = began.as_nanos() % WINDOW.as_nanos() >= SETTLE.as_nanos();
        // Outside of its window a place is measured as it is used.
        let counts = if self.tried(began).is_some() { is_settled } else { site == self.current };
        if counts {
            self.costs[site as usize].add(cost + site.unseen());
        }
    }

    /// Notes that a place cannot compute. Returns true if it was in use.
    pub(crate) fn shut(&mut self, now: Moment, site: ComputingSite) -> bool {
        let (until, failures) = &mut self.shut[site as usize];
        *until = now + SHUT * (1 << (*failures).min(6));
        *failures += 1;
        self.costs[site as usize] = MeanCost::default();
        let was_in_use = self.current == site;
        if was_in_use {
            let other = self.open(now).next().unwrap_or(ComputingSite::Here);
            (self.current, self.decided) = (other, now);
        }
        was_in_use
    }

    fn open(&self, now: Moment) -> impl Iterator<Item = ComputingSite> {
        self.sites.iter().copied().filter(move |site| self.shut[*site as usize].0 <= now)
    }

    /// Returns the place that all processes try at this moment.
    fn tried(&self, now: Moment) -> Option<ComputingSite> {
        let window = (now.as_nanos() / WINDOW.as_nanos()) as u64;
        let (period, window) = (window / WINDOWS, window % WINDOWS);
        let age = now.saturating_sub(self.born.unwrap_or(now));
        if age > WINDOW * WINDOWS as u32 * YOUNG_PERIODS && !period.is_multiple_of(TRIED_PERIODS) {
            return None;
        }
        let last_of = |index: usize| (index as u64 + 1) * WINDOWS / self.sites.len() as u64 - 1;
        let index = (0..self.sites.len()).find(|index| last_of(*index) == window)?;
        self.open(now).find(|site| *site == self.sites[index])
    }

    fn decide(&mut self, now: Moment) -> Option<RouteChange> {
        let cost = |site: ComputingSite| self.costs[site as usize];
        if self.open(now).any(|site| cost(site).samples < MIN_SAMPLES) {
            return None;
        }
        let cheapest = self.open(now).min_by(|one, other| cost(*one).ns.total_cmp(&cost(*other).ns))?;
        let from = self.current;
        if cost(cheapest).ns >= WORTHWHILE * cost(from).ns {
            return None;
        }
        let costs = [from, cheapest].map(|site| Duration::from_nanos(cost(site).ns as u64));
        (self.current, self.decided) = (cheapest, now);
        Some(RouteChange { from, to: cheapest, costs })
    }
}

impl MeanCost {
    fn add(&mut self, sample: Duration) {
        let sample = sample.as_nanos() as f64;
        // The first ones have no mean to be compared with.
        let bounded = if self.samples < MIN_SAMPLES { sample } else { sample.min(OUTLIER * self.ns) };
        self.samples = (self.samples + 1.0).min(MAX_SAMPLES);
        self.ns += (bounded - self.ns) / self.samples;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ComputingSite; 3] = [ComputingSite::Here, ComputingSite::Batches, ComputingSite::Service];
    const BOTH: [ComputingSite; 2] = [ComputingSite::Here, ComputingSite::Service];

    /// A process that computes one operation each millisecond, on a clock of its own.
    struct Process {
        route: Route,
        now: Moment,
        changes: Vec<(Moment, RouteChange)>,
    }

    impl Process {
        fn new(sites: &[ComputingSite]) -> Self {
            let route = Route::new(sites.to_vec());
            Self { route, now: Duration::from_secs(1_000), changes: Vec::new() }
        }

        /// Computes for a while, and returns the places. `cost` is the CPU time of an operation in microseconds.
        fn run(&mut self, seconds: u64, cost: impl Fn(ComputingSite) -> u64) -> Vec<ComputingSite> {
            let end = self.now + Duration::from_secs(seconds);
            let mut sites = Vec::new();
            while self.now < end {
                let (site, change) = self.route.choose(self.now);
                self.changes.extend(change.map(|change| (self.now, change)));
                self.route.complete(self.now, site, Duration::from_micros(cost(site)));
                self.now += Duration::from_millis(1);
                sites.push(site);
            }
            sites
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
            let mut process = Process::new(&ALL);
            process.run(5, &cost);
            let kept = process.run(100, &cost);
            assert_eq!(process.route.current, cheapest);
            let others = kept.iter().filter(|site| **site != cheapest).count();
            // The windows of the two others are a sixteenth of the time.
            assert!((1..kept.len() / 15).contains(&others), "{others}");
            let expected = usize::from(cheapest != ComputingSite::Here);
            assert_eq!(process.changes.len(), expected, "{:?}", process.changes);
        }
    }

    #[test]
    fn a_change_names_both_places_and_their_costs() {
        let mut process = Process::new(&BOTH);
        process.run(10, cost(300, 0, 200));
        let [(_, change)] = process.changes[..] else { panic!("{:?}", process.changes) };
        assert_eq!((change.from, change.to), (ComputingSite::Here, ComputingSite::Service));
        let service = Duration::from_micros(200) + ComputingSite::Service.unseen();
        assert_eq!(change.costs, [Duration::from_micros(300), service]);
    }

    #[test]
    fn a_small_difference_changes_nothing() {
        let mut process = Process::new(&ALL);
        process.run(100, cost(300, 250, 275));
        assert!(process.changes.is_empty(), "{:?}", process.changes);
    }

    #[test]
    fn a_decision_follows_costs_that_change_and_holds_for_two_seconds() {
        let mut process = Process::new(&BOTH);
        process.run(5, cost(300, 0, 200));
        assert_eq!(process.route.current, ComputingSite::Service);
        // What is in use is measured all the time, so a slow server is left soon.
        process.run(3, cost(300, 0, 500));
        assert_eq!(process.route.current, ComputingSite::Here);
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
            let mut process = Process::new(&BOTH);
            process.run(seconds, cost(300, 0, service));
            process.now = WINDOW * (WINDOWS * TRIED_PERIODS * 34) as u32 - Duration::from_secs(1);
            let start = process.now;
            let sites = process.run(10, cost(300, 0, service));
            let current = process.route.current;
            let moments = (0..).zip(sites).filter(|(_, site)| *site != current);
            (
                current,
                moments.map(|(ms, _)| (start + Duration::from_millis(ms)).as_millis()).collect::<Vec<_>>(),
            )
        };
        let (new, old) = (tried(1, 500), tried(50, 500));
        assert_eq!(new, old);
        // One that has decided for the service tries what others use, and others try the service, each in its window.
        let (current, others) = tried(50, 100);
        assert_eq!(current, ComputingSite::Service);
        let window = |ms: &u128| ms / WINDOW.as_millis() % u128::from(WINDOWS);
        assert!(old.1.iter().all(|ms| window(ms) == 31) && others.iter().all(|ms| window(ms) == 15));
    }

    #[test]
    fn a_place_that_fails_is_left_out_for_longer_and_longer() {
        let mut process = Process::new(&BOTH);
        let mut failures: Vec<Moment> = Vec::new();
        while process.now < Duration::from_secs(1_400) {
            if process.route.choose(process.now).0 == ComputingSite::Service {
                process.route.shut(process.now, ComputingSite::Service);
                assert_eq!(process.route.choose(process.now).0, ComputingSite::Here);
                failures.push(process.now);
            }
            process.now += Duration::from_millis(1);
        }
        let gaps: Vec<Duration> = failures.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.last() >= Some(&Duration::from_secs(64)) && gaps.len() < 12, "{gaps:?}");
        // It counts again once it answers.
        process.run(200, cost(300, 0, 200));
        assert_eq!(process.route.current, ComputingSite::Service);
    }

    #[test]
    fn an_interrupted_operation_decides_nothing() {
        let mut process = Process::new(&BOTH);
        process.run(5, cost(300, 0, 290));
        process.route.complete(process.now, ComputingSite::Here, Duration::from_millis(20));
        process.run(5, cost(300, 0, 290));
        assert!(process.changes.is_empty(), "{:?}", process.changes);
    }
}
