//! Turns of tenants, and the bounds of what they may have waiting.

use super::*;

#[test]
fn a_tenant_is_refused_beyond_its_bound() {
    let mut scheduler = scheduler();
    scheduler.config.tenant_bound = 10;
    let queue = queue(&mut scheduler, SIGN, &[scalar(US)]);
    scheduler.submit(queue, item(8, 0)).unwrap();
    let refused = scheduler.submit(queue, item(3, 0)).unwrap_err();
    assert_eq!(refused, JobError::Overloaded { queued: 8, bound: 10 });
    scheduler.submit(queue, QueueItem { tenant: 1, ..item(10, 0) }).unwrap();
    assert_eq!(scheduler.live(), 18);
}

#[test]
fn the_backlog_of_a_tenant_is_bounded_by_time_across_queues() {
    let mut scheduler = scheduler();
    scheduler.config.max_tenant_backlog = Some(Duration::from_millis(1));
    let sign = queue(&mut scheduler, SIGN, &[scalar(100.0 * US)]);
    let derive = queue(&mut scheduler, DERIVE, &[scalar(10.0 * US)]);
    assert_eq!(
        scheduler.submit(sign, item(11, 0)).unwrap_err(),
        JobError::Overloaded { queued: 0, bound: 10 },
        "the item is too long, although nothing waits"
    );
    scheduler.submit(sign, item(8, 0)).unwrap();
    assert_eq!(
        scheduler.submit(derive, item(21, 0)).unwrap_err(),
        JobError::Overloaded { queued: 80, bound: 100 },
        "counted in operations of the shape that was asked for"
    );
    scheduler.submit(derive, item(20, 0)).unwrap();
    scheduler.submit(derive, QueueItem { tenant: 1, ..item(100, 0) }).unwrap();
    assert_eq!(scheduler.backlog_ns(0), 1_000_000.0);
    assert!(scheduler.submit(derive, item(1, 0)).is_err());
    assert_eq!(next(&mut scheduler), (REFEREE, SIGN, 1), "this frees one hundred microseconds");
    scheduler.submit(derive, item(10, 0)).unwrap();
}

#[test]
fn a_single_operation_over_the_bound_is_accepted_if_nothing_waits() {
    let mut scheduler = scheduler();
    scheduler.config.max_tenant_backlog = Some(Duration::from_millis(1));
    let queue = queue(&mut scheduler, SIGN, &[scalar(5_000.0 * US)]);
    scheduler.submit(queue, item(1, 0)).unwrap();
    assert!(scheduler.submit(queue, item(1, 0)).is_err());
}

#[test]
fn the_tenant_that_was_served_least_comes_first_from_any_queue() {
    let mut scheduler = scheduler();
    let sign = queue(&mut scheduler, SIGN, &[scalar(100.0 * US)]);
    let derive = queue(&mut scheduler, DERIVE, &[scalar(20.0 * US)]);
    scheduler.submit(sign, item(1_000, 0)).unwrap();
    assert_eq!(next(&mut scheduler).1, SIGN);
    scheduler.submit(derive, QueueItem { tenant: 1, ..item(100, 900_000_000) }).unwrap();
    let shapes: Vec<Shape> = (0..12).map(|_| next(&mut scheduler).1).collect();
    let [first, rest @ ..] = &shapes[..] else { panic!("{shapes:?}") };
    assert_eq!(*first, DERIVE, "the due times do not matter between tenants");
    assert_eq!(rest.iter().filter(|shape| **shape == SIGN).count(), 2, "five for one: {shapes:?}");
}

#[test]
fn lanes_that_a_tenant_leaves_empty_are_filled_with_jobs_of_others() {
    let mut scheduler = scheduler();
    let queue = queue(&mut scheduler, SIGN, &[scalar(100.0 * US), batch_engine(50.0 * US)]);
    scheduler.submit(queue, item(1_000, 0)).unwrap();
    assert_eq!(next(&mut scheduler), (LANE, SIGN, 8));
    scheduler.submit(queue, QueueItem { tenant: 1, ..item(2, 0) }).unwrap();
    match scheduler.next(0, WorkerLoad { idle_others: 0 }) {
        Decision::Run(plan) => {
            let shares: Vec<_> = plan.items.iter().map(|item| (item.tenant, item.count)).collect();
            assert_eq!((plan.ops, shares), (8, vec![(1, 2), (0, 6)]));
        }
        other => panic!("not a batch: {other:?}"),
    }
}

#[test]
fn a_tenant_with_a_more_urgent_queue_does_not_fill_lanes() {
    let mut scheduler = scheduler();
    let choices = [scalar(100.0 * US), batch_engine(50.0 * US)];
    let sign = queue(&mut scheduler, SIGN, &choices);
    let derive = queue(&mut scheduler, DERIVE, &choices);
    scheduler.submit(sign, item(100, 0)).unwrap();
    scheduler.submit(derive, item(100, 1_000_000)).unwrap();
    scheduler.submit(derive, QueueItem { tenant: 1, ..item(100, 0) }).unwrap();
    let shapes: Vec<Shape> = (0..10).map(|_| next(&mut scheduler).1).collect();
    assert_eq!(shapes.iter().filter(|shape| **shape == SIGN).count(), 5, "{shapes:?}");
}

#[test]
fn a_long_batch_is_cut_for_another_tenant_in_the_same_queue() {
    let mut scheduler = scheduler();
    scheduler.config.overhead = Duration::from_micros(100);
    let sign = queue(&mut scheduler, SIGN, &[scalar(600.0 * US), batch_engine(40.0 * US)]);
    scheduler.submit(sign, item(64, 0)).unwrap();
    scheduler.submit(sign, QueueItem { tenant: 1, ..item(64, 0) }).unwrap();
    // Sixteen groups of 320 us would be worth it; three fit into a millisecond.
    assert_eq!(next(&mut scheduler), (LANE, SIGN, 24));
}

#[derive(Clone, Debug)]
struct TimedTask(Nanos);

impl ItemOwner for TimedTask {
    fn is_live(&self) -> bool {
        true
    }

    fn task_ns(&self) -> Nanos {
        self.0
    }
}

fn task_item(tenant: u64, ns: Nanos) -> QueueItem<TimedTask> {
    let (first, count, bytes, is_whole, enqueued, due, attempts) = (0, 1, 0, false, 0, 0, 0);
    QueueItem { owner: TimedTask(ns), first, count, bytes, is_whole, tenant, enqueued, due, attempts }
}

#[test]
fn tasks_take_turns_and_leave_threads_for_others() {
    let config = SchedulerConfig::default().with_max_tenant_backlog(Duration::from_secs(1));
    let mut scheduler = Scheduler::<TimedTask>::new(config, REFEREE, 1);
    (0..10).for_each(|_| scheduler.submit_task(task_item(1, 100_000_000)).unwrap());
    assert_eq!(
        scheduler.submit_task(task_item(1, 1)).unwrap_err(),
        JobError::Overloaded { queued: 1_000, bound: 1_000 }
    );
    let tenant = |scheduler: &mut Scheduler<TimedTask>| scheduler.next_task(2).map(|item| item.tenant);
    assert_eq!(
        [tenant(&mut scheduler), tenant(&mut scheduler), tenant(&mut scheduler)],
        [Some(1), Some(1), None]
    );
    (0..3).for_each(|_| scheduler.submit_task(task_item(2, 10_000_000)).unwrap());
    assert_eq!(tenant(&mut scheduler), Some(2), "a thread was left for the other tenant");
    scheduler.end_task(1, 0.0);
    assert_eq!([tenant(&mut scheduler), tenant(&mut scheduler)], [Some(2), Some(1)]);
    scheduler.forget(QueueKey::Tasks, 2, 1, 0, 10_000_000);
    assert_eq!((scheduler.backlog_ns(2), scheduler.backlog_ns(1)), (0.0, 700_000_000.0));
    assert!(scheduler.is_empty() && scheduler.live() == 0, "workers do not run tasks");
}
