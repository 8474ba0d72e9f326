//! Tenants and their turns. Engine time in nanoseconds is shared by start-time fair queueing.
//!
//! Each tenant has a virtual time: the service that it has received. The tenant with the lowest virtual time comes
//! next and is charged the predicted time. When the batch ends, the difference to the measured time is charged. A
//! tenant that had nothing waiting starts at the clock, which is the virtual time of the tenants served last. So no
//! tenant saves up turns. Goyal, Vin, Cheng, SIGCOMM 1996.
//!
//! Engines and tasks have their own threads, and so their own clocks. Time on one of them counts on the other too, up
//! to [`MAX_LEAD`]: a tenant is not locked out for long of a resource that it has not used.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use crate::clock::Nanos;

/// A resource at which tenants take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// Workers that run batches on engines.
    Engines = 0,
    /// Threads that run tasks of callers.
    Tasks = 1,
}

impl Resource {
    fn other(self) -> Self {
        match self {
            Self::Engines => Self::Tasks,
            Self::Tasks => Self::Engines,
        }
    }
}

/// The maximal time by which the use of one resource puts a tenant behind others at the other resource.
const MAX_LEAD: Nanos = 1_000_000_000;

/// The number of idle accounts from which accounts without information are dropped.
const IDLE_ACCOUNTS: usize = 64;

/// All tenants.
#[derive(Debug, Default)]
pub(crate) struct Tenants {
    accounts: HashMap<u64, Account, BuildHasherDefault<TenantHasher>>,
    turns: [TurnOrder; 2],
}

/// The tenants that wait for a resource.
#[derive(Debug, Default)]
struct TurnOrder {
    /// The virtual time of the tenants served last. It only grows.
    clock: Nanos,
    /// The waiting tenants with their virtual times.
    waiting: BTreeSet<(Nanos, u64)>,
}

/// The account of a tenant.
#[derive(Debug, Default)]
struct Account {
    /// Virtual time at each resource.
    served: [Nanos; 2],
    is_waiting: [bool; 2],
    /// Queues in which operations of the tenant wait.
    queues: Vec<usize>,
    /// Predicted nanoseconds of the tasks that wait.
    tasks_ns: Nanos,
    /// Tasks that run now.
    running: usize,
}

impl Tenants {
    /// Notes that the tenant has operations waiting in a queue.
    pub(crate) fn enter(&mut self, tenant: u64, queue: usize) {
        let account = self.account(tenant);
        if !account.queues.contains(&queue) {
            account.queues.push(queue);
        }
        self.wait(tenant, Resource::Engines);
    }

    /// Notes that the tenant has nothing waiting in a queue any more.
    pub(crate) fn leave(&mut self, tenant: u64, queue: usize) {
        let Some(account) = self.accounts.get_mut(&tenant) else { return };
        account.queues.retain(|entry| *entry != queue);
        if account.queues.is_empty() {
            self.stop_waiting(tenant, Resource::Engines);
        }
    }

    /// Notes a task that waits.
    pub(crate) fn enter_task(&mut self, tenant: u64, ns: Nanos) {
        self.account(tenant).tasks_ns += ns;
        self.wait(tenant, Resource::Tasks);
    }

    /// Notes that a task waits no longer. `is_last` is true if no other task of the tenant waits.
    pub(crate) fn leave_task(&mut self, tenant: u64, ns: Nanos, is_last: bool) {
        let Some(account) = self.accounts.get_mut(&tenant) else { return };
        account.tasks_ns = account.tasks_ns.saturating_sub(ns);
        if is_last {
            account.tasks_ns = 0;
            self.stop_waiting(tenant, Resource::Tasks);
        }
    }

    /// Counts a task that starts.
    pub(crate) fn start_task(&mut self, tenant: u64) {
        self.account(tenant).running += 1;
    }

    /// Counts a task that ends.
    pub(crate) fn end_task(&mut self, tenant: u64) {
        let account = self.account(tenant);
        account.running = account.running.saturating_sub(1);
    }

    /// Returns the number of running tasks of a tenant.
    pub(crate) fn running(&self, tenant: u64) -> usize {
        self.accounts.get(&tenant).map_or(0, |account| account.running)
    }

    /// Returns the queues in which the tenant has operations waiting.
    pub(crate) fn queues(&self, tenant: u64) -> &[usize] {
        self.accounts.get(&tenant).map_or(&[], |account| &account.queues)
    }

    /// Returns the predicted nanoseconds of the tenant's waiting tasks.
    pub(crate) fn tasks_ns(&self, tenant: u64) -> Nanos {
        self.accounts.get(&tenant).map_or(0, |account| account.tasks_ns)
    }

    /// Returns the tenant that comes after `last` at a resource, or the first one.
    pub(crate) fn next(&self, resource: Resource, last: Option<(Nanos, u64)>) -> Option<(Nanos, u64)> {
        use std::ops::Bound::{Excluded, Unbounded};
        let waiting = &self.turns[resource as usize].waiting;
        match last {
            None => waiting.first().copied(),
            Some(last) => waiting.range((Excluded(last), Unbounded)).next().copied(),
        }
    }

    /// Returns the tenants that wait for a resource, in their order.
    pub(crate) fn in_order(&self, resource: Resource) -> impl Iterator<Item = u64> + '_ {
        self.turns[resource as usize].waiting.iter().map(|(_, tenant)| *tenant)
    }

    /// Returns the number of tenants that have something waiting at a resource.
    pub(crate) fn waiting(&self, resource: Resource) -> usize {
        self.turns[resource as usize].waiting.len()
    }

    /// Advances the clock to a tenant that is served now. Call it before the tenant is charged.
    pub(crate) fn serve(&mut self, resource: Resource, served: Nanos) {
        let turns = &mut self.turns[resource as usize];
        // A tenant may be served before its turn if nothing can run for those ahead of it. Their claim stays, so the
        // clock does not pass them.
        let owed = turns.waiting.first().map_or(served, |(min, _)| served.min(*min));
        turns.clock = turns.clock.max(owed);
    }

    /// Charges a tenant its predicted use of a resource.
    pub(crate) fn charge(&mut self, resource: Resource, tenant: u64, ns: f64) {
        let other = resource.other();
        let limit = self.turns[other as usize].clock.saturating_add(MAX_LEAD);
        let served = self.account(tenant).served[other as usize];
        self.add(resource, tenant, ns as i64);
        // Time on the other resource counts up to the limit only, so it is cut here and never taken back.
        let allowed = i64::try_from(limit.saturating_sub(served)).unwrap_or(i64::MAX);
        self.add(other, tenant, (ns as i64).min(allowed));
    }

    /// Charges the difference to a prediction once the time is known. `ns` may be negative.
    pub(crate) fn correct(&mut self, resource: Resource, tenant: u64, ns: f64) {
        self.add(resource, tenant, ns as i64);
    }

    fn add(&mut self, resource: Resource, tenant: u64, ns: i64) {
        let Some(account) = self.accounts.get_mut(&tenant) else { return };
        let at = resource as usize;
        // The set holds a copy of the time, so the entry is found by the old time and entered again with the new one.
        let before = account.served[at];
        account.served[at] = before.saturating_add_signed(ns);
        if account.is_waiting[at] && account.served[at] != before {
            let waiting = &mut self.turns[at].waiting;
            waiting.remove(&(before, tenant));
            waiting.insert((account.served[at], tenant));
        }
    }

    fn wait(&mut self, tenant: u64, resource: Resource) {
        let at = resource as usize;
        let clock = self.turns[at].clock;
        let account = self.account(tenant);
        if account.is_waiting[at] {
            return;
        }
        account.is_waiting[at] = true;
        // An absent tenant comes back at the clock: its past turns are lost. A tenant in debt keeps its later time.
        account.served[at] = account.served[at].max(clock);
        let served = account.served[at];
        self.turns[at].waiting.insert((served, tenant));
    }

    fn stop_waiting(&mut self, tenant: u64, resource: Resource) {
        let at = resource as usize;
        let Some(account) = self.accounts.get_mut(&tenant) else { return };
        if std::mem::replace(&mut account.is_waiting[at], false) {
            let turns = &mut self.turns[at];
            turns.waiting.remove(&(account.served[at], tenant));
            if turns.waiting.is_empty() {
                // No tenant waits, so no claim would be lost by advancing the clock.
                turns.clock = turns.clock.max(account.served[at]);
            }
        }
        self.forget_idle();
    }

    /// Drops idle accounts. An account whose virtual times are not after the clocks equals a new account. A time
    /// after the clock is kept while others wait for that resource: a client must not lose its debt by going away.
    fn forget_idle(&mut self) {
        let waiting = self.turns[0].waiting.len() + self.turns[1].waiting.len();
        if self.accounts.len() <= IDLE_ACCOUNTS + 2 * waiting {
            return;
        }
        let turns = &self.turns;
        let has_no_information = |account: &Account, at: usize| {
            account.served[at] <= turns[at].clock || turns[at].waiting.is_empty()
        };
        self.accounts.retain(|_, account| {
            let is_idle = account.is_waiting == [false; 2] && account.running == 0;
            !(is_idle && has_no_information(account, 0) && has_no_information(account, 1))
        });
    }

    fn account(&mut self, tenant: u64) -> &mut Account {
        self.accounts.entry(tenant).or_default()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.accounts.len()
    }
}

/// A hasher for tenant numbers. The program chooses the numbers, not peers, so one multiplication suffices.
#[derive(Default)]
pub(crate) struct TenantHasher(u64);

impl Hasher for TenantHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        // The standard library takes the bucket from the low bits and the tag from the high ones. The rotation brings
        // the good high bits of the product down.
        self.0 = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGINES: Resource = Resource::Engines;

    fn serve(tenants: &mut Tenants, ns: f64) -> u64 {
        let (served, tenant) = tenants.next(ENGINES, None).unwrap_or_default();
        tenants.serve(ENGINES, served);
        tenants.charge(ENGINES, tenant, ns);
        tenant
    }

    #[test]
    fn a_tenant_with_costly_jobs_is_served_as_much_less_often() {
        let mut tenants = Tenants::default();
        (1..=2).for_each(|tenant| tenants.enter(tenant, 0));
        let mut times = [0; 3];
        for _ in 0..1100 {
            let (served, tenant) = tenants.next(ENGINES, None).unwrap_or_default();
            tenants.serve(ENGINES, served);
            tenants.charge(ENGINES, tenant, if tenant == 1 { 10.0 } else { 100.0 });
            times[tenant as usize] += 1;
        }
        assert_eq!(times, [0, 1000, 100]);
    }

    #[test]
    fn an_absent_tenant_saves_up_no_turns() {
        let mut tenants = Tenants::default();
        tenants.enter(1, 0);
        (0..1000).for_each(|_| assert_eq!(serve(&mut tenants, 100.0), 1));
        tenants.enter(2, 0);
        let turns: Vec<u64> = (0..8).map(|_| serve(&mut tenants, 100.0)).collect();
        assert_eq!(turns, [2, 1, 2, 1, 2, 1, 2, 1]);
    }

    #[test]
    fn leaving_for_a_moment_wins_nothing() {
        let mut tenants = Tenants::default();
        (1..=2).for_each(|tenant| tenants.enter(tenant, 0));
        let mut times = [0; 3];
        for _ in 0..1000 {
            let tenant = serve(&mut tenants, 100.0);
            times[tenant as usize] += 1;
            tenants.leave(1, 0);
            tenants.enter(1, 0);
        }
        assert_eq!(times, [0, 500, 500]);
    }

    #[test]
    fn charges_are_corrected_after_wrong_predictions() {
        let mut tenants = Tenants::default();
        (1..=2).for_each(|tenant| tenants.enter(tenant, 0));
        let mut times = [0; 3];
        for _ in 0..1100 {
            let tenant = serve(&mut tenants, 10.0);
            times[tenant as usize] += 1;
            // The operations of the second tenant take ten times as long as predicted.
            tenants.correct(ENGINES, tenant, if tenant == 2 { 90.0 } else { 0.0 });
        }
        assert_eq!(times, [0, 1000, 100]);
    }

    #[test]
    fn time_at_one_resource_counts_at_the_other_up_to_a_bound() {
        let mut tenants = Tenants::default();
        tenants.charge(Resource::Tasks, 1, 0.0);
        tenants.enter_task(1, 1);
        (0..100).for_each(|_| tenants.charge(Resource::Tasks, 1, 1e9));
        tenants.enter(1, 0);
        tenants.enter(2, 0);
        let first = tenants.next(ENGINES, None);
        assert_eq!(first, Some((0, 2)));
        assert_eq!(tenants.next(ENGINES, first), Some((MAX_LEAD, 1)));
    }

    /// A client that leaves and comes back has the same number, so going away must not pay.
    #[test]
    #[cfg_attr(miri, ignore = "thousands of tenants take minutes there")]
    fn a_debt_is_kept_while_others_wait() {
        let mut tenants = Tenants::default();
        (1..=2).for_each(|tenant| tenants.enter(tenant, 0));
        // The first tenant is served once, for long, and leaves. The second one waits all the time.
        assert_eq!(serve(&mut tenants, 1e9), 1);
        tenants.leave(1, 0);
        for tenant in 3..10_000 {
            tenants.enter(tenant, 0);
            tenants.leave(tenant, 0);
        }
        assert!(tenants.len() <= IDLE_ACCOUNTS + 4, "{} accounts", tenants.len());
        tenants.enter(1, 0);
        let turns: Vec<u64> = (0..1000).map(|_| serve(&mut tenants, 1e5)).collect();
        assert!(turns.iter().all(|tenant| *tenant == 2), "the debt was forgiven");
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of tenants take minutes there")]
    fn accounts_without_information_are_dropped() {
        let mut tenants = Tenants::default();
        for tenant in 0..10_000 {
            tenants.enter(tenant, 0);
            serve(&mut tenants, 10.0);
            tenants.leave(tenant, 0);
        }
        assert!(tenants.len() <= IDLE_ACCOUNTS + 2, "{} accounts", tenants.len());
    }
}
