//! Submission, seams, bounds, deadlines, cancellation, holders and forks.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use oarlock_core::{JobError, Outcomes, SecondInput, Shape};
use oarlock_dispatch::{
    Dispatcher, DispatcherBuilder, EngineCost, Results, SchedulerConfig, SubmitOptions, Ticket,
};

use crate::common::*;

fn config() -> SchedulerConfig {
    SchedulerConfig::default()
        .with_threads(1)
        .with_caller_budget(Duration::ZERO)
        .with_cross_check(0.0)
        .with_spins(SPINS)
}

fn cost(ns: f64) -> EngineCost {
    EngineCost { per_batch_ns: 0.0, per_op_ns: ns, per_byte_ns: 0.0 }
}

fn around(referee: Arc<Invented>, config: SchedulerConfig) -> Dispatcher {
    DispatcherBuilder::new(referee).config(config).cost("referee", DERIVE, cost(50_000.0)).build()
}

fn with_lanes(lanes: &Arc<Invented>) -> Dispatcher {
    DispatcherBuilder::new(Invented::referee())
        .engine(lanes.clone())
        .config(config())
        .cost("referee", DERIVE, cost(50_000.0))
        .cost("lanes", DERIVE, cost(10_000.0))
        .build()
}

/// A referee that waits at its gate, with one job already in it.
fn blocked() -> (Arc<Invented>, Dispatcher, Ticket) {
    let referee = Invented::referee();
    referee.set(Manner::Hangs);
    let dispatcher = around(referee.clone(), config());
    let first = dispatcher.submit_many(set_of(DERIVE, 0, 1), SubmitOptions::default()).unwrap();
    referee.gate.await_arrivals(1);
    (referee, dispatcher, first)
}

#[test]
fn batches_are_right_at_every_seam_and_one_bad_job_fails_alone() {
    let lanes = Invented::lanes(Manner::Honest);
    let dispatcher = with_lanes(&lanes);
    for count in [0, 1, LANES - 1, LANES, LANES + 1, 2 * LANES - 1] {
        for bad in (0..=count).step_by(sized(1, 5)) {
            let mut set = oarlock_core::OperationSet::new(DERIVE);
            let key = x25519_key();
            for n in 0..count {
                let mut input = input(DERIVE, n);
                input[0] = if n == bad { 0xFF } else { 1 };
                set.push(&key, &input, SecondInput::None).unwrap();
            }
            assert_true(&set, &dispatcher.run_all(&set));
            assert_true(&set, &dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait());
        }
    }
    assert!(lanes.ops.load(Ordering::SeqCst) > 0);
}

#[test]
fn a_cheap_job_on_an_idle_dispatcher_runs_on_its_callers_thread() {
    let referee = Invented::referee();
    let dispatcher = around(referee, config().with_caller_budget(Duration::from_millis(1)));
    let ticket = dispatcher
        .submit(DERIVE, &x25519_key(), &[1; 32], SecondInput::None, SubmitOptions::default())
        .unwrap();
    assert!(ticket.is_done(), "it was answered before submit returned");
    assert!(ticket.wait().get(0).is_ok());
    assert_eq!(dispatcher.counters().on_caller, 1);
}

#[test]
fn a_cheap_job_that_must_be_queued_runs_on_a_worker() {
    let config = config().with_caller_budget(Duration::from_millis(1));
    let dispatcher = around(Invented::referee(), config);
    let options = SubmitOptions::default().with_never_on_caller_thread(true);
    let set = set_of(DERIVE, 0, 1);
    assert_true(&set, &dispatcher.submit_many(set.clone(), options).unwrap().wait());
    assert_eq!(dispatcher.counters().on_caller, 0);
    assert_true(&set, &dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait());
    assert_eq!(dispatcher.counters().completed, 2);
}

#[test]
fn a_costly_job_is_not_computed_on_its_callers_thread() {
    let dispatcher = around(Invented::referee(), config().with_caller_budget(Duration::from_micros(1)));
    let ticket = dispatcher
        .submit(DERIVE, &x25519_key(), &[1; 32], SecondInput::None, SubmitOptions::default())
        .unwrap();
    assert!(ticket.wait().get(0).is_ok());
    assert_eq!(dispatcher.counters().on_caller, 0);
}

#[test]
fn waiting_jobs_share_a_batch() {
    let lanes = Invented::lanes(Manner::Hangs);
    let dispatcher = with_lanes(&lanes);
    let sets: Vec<_> = (0..6).map(|n| set_of(DERIVE, 10 * n, 5)).collect();
    let submit = |set: &oarlock_core::OperationSet| {
        dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap()
    };
    let mut tickets = vec![submit(&sets[0])];
    lanes.gate.await_arrivals(1);
    tickets.extend(sets[1..].iter().map(submit));
    lanes.gate.open();
    for (set, ticket) in sets.iter().zip(tickets) {
        assert_true(set, &ticket.wait());
    }
    assert_eq!(lanes.largest.load(Ordering::SeqCst), LANES);
}

#[test]
fn tickets_are_futures() {
    let (referee, _dispatcher, mut ticket) = blocked();
    let signal = Signal::here();
    assert!(signal.poll(&mut ticket).is_pending());
    referee.gate.open();
    assert!(signal.answer(ticket).get(0).is_ok());
    assert_eq!(signal.wakes(), 1);
}

#[test]
fn coalesced_jobs_wake_a_worker_at_their_second_poll() {
    let (referee, dispatcher, first) = blocked();
    let options = SubmitOptions::default().with_coalesce(true);
    let coalesced = |n| dispatcher.submit_many(set_of(DERIVE, 10 * n, 2), options).unwrap();
    let mut early = coalesced(1);
    let signal = Signal::here();
    for wakes in [1, 1, 1] {
        assert!(signal.poll(&mut early).is_pending());
        assert_eq!(signal.wakes(), wakes, "the task is woken once, for its second poll");
    }
    referee.gate.open();
    assert!(first.wait().get(0).is_ok());
    assert_true(&set_of(DERIVE, 10, 2), &signal.answer(early));
    // The worker sleeps by now or will soon, so an answer comes only if it is woken.
    for n in 2..sized(100, 5) {
        assert_true(&set_of(DERIVE, 10 * n, 2), &Signal::here().answer(coalesced(n)));
        assert_true(&set_of(DERIVE, 10 * n, 2), &coalesced(n).wait());
    }
}

#[test]
fn a_cheap_coalesced_job_runs_on_a_worker() {
    let config = config().with_caller_budget(Duration::from_secs(1));
    let dispatcher = around(Invented::referee(), config);
    let options = SubmitOptions::default().with_coalesce(true);
    // A task that is dropped wakes no worker, and its jobs are cancelled.
    drop(dispatcher.submit_many(set_of(DERIVE, 0, 3), options).unwrap());
    let set = set_of(DERIVE, 0, 1);
    assert_true(&set, &dispatcher.submit_many(set.clone(), options).unwrap().wait());
    assert_eq!(dispatcher.counters().on_caller, 0);
}

/// Counts wakes, and unparks the thread that it was made on.
struct Signal(std::thread::Thread, AtomicUsize);

impl Signal {
    fn here() -> Arc<Self> {
        Arc::new(Self(std::thread::current(), AtomicUsize::new(0)))
    }

    fn wakes(&self) -> usize {
        self.1.load(Ordering::SeqCst)
    }

    fn poll(self: &Arc<Self>, ticket: &mut Ticket) -> Poll<Results> {
        let waker = Waker::from(Arc::clone(self));
        pin!(ticket).poll(&mut Context::from_waker(&waker))
    }

    fn answer(self: &Arc<Self>, mut ticket: Ticket) -> Results {
        loop {
            match self.poll(&mut ticket) {
                Poll::Ready(results) => return results,
                Poll::Pending => std::thread::park(),
            }
        }
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.unpark();
    }
}

#[test]
fn a_full_queue_refuses_at_once_and_other_tenants_go_on() {
    let referee = Invented::referee();
    referee.set(Manner::Hangs);
    let dispatcher = around(referee.clone(), config().with_tenant_bound(4));
    let submit = |tenant, count| {
        dispatcher.submit_many(set_of(DERIVE, 0, count), SubmitOptions::default().with_tenant(tenant))
    };
    let running = submit(1, 1).unwrap();
    referee.gate.await_arrivals(1);
    let queued = submit(1, 3).unwrap();
    assert_eq!(submit(1, 2).unwrap_err(), JobError::Overloaded { queued: 3, bound: 4 });
    let other = submit(2, 4).unwrap();
    referee.gate.open();
    for ticket in [running, queued, other] {
        let results = ticket.wait();
        assert!((0..results.len()).all(|index| results.get(index).is_ok()));
    }
    assert_eq!(dispatcher.counters().refused, 2);
}

#[test]
fn a_deadline_ends_a_queued_job_and_one_in_a_stuck_batch() {
    let (referee, dispatcher, first) = blocked();
    let soon = SubmitOptions::default().with_deadline(Duration::from_millis(1));
    let queued = dispatcher.submit_many(set_of(DERIVE, 1, 2), soon).unwrap().wait();
    assert_eq!(queued.get(0), Err(JobError::DeadlineExceeded));
    referee.gate.open();
    assert!(first.wait().get(0).is_ok());

    let referee = Invented::referee();
    referee.set(Manner::Hangs);
    let dispatcher = around(referee.clone(), config());
    let running = dispatcher.submit_many(set_of(DERIVE, 1, 1), soon).unwrap().wait();
    assert_eq!(running.get(0), Err(JobError::DeadlineExceeded));
    assert_eq!(dispatcher.counters().expired, 1);
    referee.gate.open();
}

#[test]
fn cancellation_is_clean_while_queued_running_and_done() {
    let (referee, dispatcher, first) = blocked();
    let queued = dispatcher.submit_many(set_of(DERIVE, 1, 3), SubmitOptions::default()).unwrap();
    let kept = dispatcher.submit_many(set_of(DERIVE, 4, 3), SubmitOptions::default()).unwrap();
    queued.cancel();
    drop(first);
    assert_eq!(dispatcher.counters().cancelled, 4);
    referee.gate.open();
    assert_true(&set_of(DERIVE, 4, 3), &kept.wait());
    let done = dispatcher.submit_many(set_of(DERIVE, 9, 1), SubmitOptions::default()).unwrap();
    while !done.is_done() {
        std::thread::yield_now();
    }
    done.cancel();
    assert_eq!(dispatcher.counters().cancelled, 4);
    assert_eq!(referee.ops.load(Ordering::SeqCst), 5, "cancelled jobs in the queue are not computed");
}

#[test]
fn cancelled_jobs_no_longer_count_against_the_bound() {
    let referee = Invented::referee();
    referee.set(Manner::Hangs);
    let dispatcher = around(referee.clone(), config().with_tenant_bound(4));
    let first = dispatcher.submit_many(set_of(DERIVE, 0, 1), SubmitOptions::default()).unwrap();
    referee.gate.await_arrivals(1);
    dispatcher.submit_many(set_of(DERIVE, 0, 4), SubmitOptions::default()).unwrap().cancel();
    let next = dispatcher.submit_many(set_of(DERIVE, 0, 4), SubmitOptions::default()).unwrap();
    referee.gate.open();
    assert!(first.wait().get(0).is_ok() && next.wait().get(3).is_ok());
}

#[test]
fn dropping_a_dispatcher_ends_waiting_jobs() {
    let (referee, dispatcher, running) = blocked();
    let queued = dispatcher.submit_many(set_of(DERIVE, 1, 2), SubmitOptions::default()).unwrap();
    let dropper = std::thread::spawn(move || drop(dispatcher));
    assert_eq!(queued.wait().get(1), Err(JobError::ShutDown));
    referee.gate.open();
    dropper.join().unwrap();
    assert!(running.wait().get(0).is_ok(), "a batch in flight is finished");
}

#[test]
fn malformed_and_unoffered_jobs_are_refused_with_their_reason() {
    let dispatcher = around(Invented::referee(), config());
    let submit = |shape, input: &[u8]| {
        dispatcher
            .submit(shape, &x25519_key(), input, SecondInput::None, SubmitOptions::default())
            .unwrap_err()
    };
    assert!(matches!(submit(DERIVE, &[0; 31]), JobError::Length { what: "input", found: 31, .. }));
    assert!(matches!(submit(Shape::Ed25519Sign, &[]), JobError::KeyType { .. }));
    let unoffered = oarlock_core::OperationSet::new(Shape::Ed25519Sign);
    assert!(dispatcher.run_all(&unoffered).is_empty());
    let records = oarlock_core::Records { len: 1, ..oarlock_core::Records::default() };
    let digest = Shape::Digest { alg: oarlock_core::DigestAlg::Sha1 };
    assert_eq!(
        dispatcher.run_records(digest, &records).unwrap_err(),
        JobError::Unsupported { wanted: "sha1".into() }
    );
    let mut outcomes = Outcomes::for_operations(DERIVE, 3);
    assert!(dispatcher.run_records_into(digest, &records, &mut outcomes).is_err());
    assert!(outcomes.is_empty(), "earlier results are erased");
}

#[test]
fn a_batch_without_records_has_an_empty_outcome() {
    let dispatcher = around(Invented::referee(), config());
    // The invented engines offer no records, so the queue would refuse them. An empty batch needs no engine.
    let digest = Shape::Digest { alg: oarlock_core::DigestAlg::Sha1 };
    let ticket = dispatcher
        .submit_records(digest, oarlock_core::Records::default(), SubmitOptions::default())
        .unwrap();
    let results = ticket.wait();
    assert_eq!((results.len(), results.outcomes().parts()), (0, 1));
}

fn held(holder: &Arc<InventedHolder>, deadline: Option<Duration>) -> Vec<Result<Vec<u8>, JobError>> {
    let dispatcher =
        DispatcherBuilder::new(Invented::referee()).config(config()).holder(holder.clone()).build();
    let options = SubmitOptions::default().with_deadline(deadline);
    let results =
        dispatcher.submit_held((0..4).map(|n| held_job(&[n; 4])).collect(), options).unwrap().wait();
    (0..4).map(|index| results.get(index).map(<[u8]>::to_vec)).collect()
}

#[test]
fn holders_answer_their_own_jobs() {
    for rule in [HolderRule::Answers, HolderRule::AnswersTwice] {
        let answers = held(&InventedHolder::new(rule), None);
        assert_eq!(answers, (0..4).map(|n| Ok(vec![n; 4])).collect::<Vec<_>>(), "{rule:?}");
    }
}

#[test]
fn a_holder_that_drops_completions_fails_only_those_jobs() {
    let answers = held(&InventedHolder::new(HolderRule::DropsEverySecond), None);
    assert_eq!(answers[2], Ok(vec![2; 4]));
    let lost = |answer: &Result<_, _>| matches!(answer, Err(JobError::HolderFailed { holder, .. }) if holder == "vault");
    assert!(lost(&answers[1]) && lost(&answers[3]) && !lost(&answers[0]));
    assert!(held(&InventedHolder::new(HolderRule::Panics), None).iter().all(lost));
}

#[test]
fn a_silent_holder_ends_at_the_deadline() {
    let holder = InventedHolder::new(HolderRule::Silent);
    let answers = held(&holder, Some(Duration::from_millis(5)));
    assert!(answers.iter().all(|answer| *answer == Err(JobError::DeadlineExceeded)));
    assert!(holder.is_started.load(Ordering::SeqCst));
}

#[test]
fn a_holder_without_jobs_gets_them_on_the_thread_of_their_caller() {
    let holder = InventedHolder::new(HolderRule::Silent);
    let dispatcher =
        DispatcherBuilder::new(Invented::referee()).config(config()).holder(holder.clone()).build();
    let submit = || dispatcher.submit_held(vec![held_job(&[1])], SubmitOptions::default()).unwrap();
    let _first = submit();
    let here = std::thread::current().id();
    assert_eq!(*holder.threads.lock().unwrap(), [here]);
    assert_eq!((dispatcher.counters().submitted, dispatcher.counters().held), (1, 1));
    // Behind a job in progress they wait for a worker, which may gather others with them.
    let _second = submit();
    while holder.kept.lock().unwrap().len() < 2 {
        std::thread::yield_now();
    }
    assert_ne!(holder.threads.lock().unwrap()[1], here);
    holder.kept.lock().unwrap().drain(..).for_each(|done| assert!(done.complete(0, Ok(Vec::new()))));
    let _third = submit();
    assert_eq!(holder.threads.lock().unwrap()[2], here);
}

#[test]
fn a_held_key_goes_to_its_own_holder_only() {
    let dispatcher = DispatcherBuilder::new(Invented::referee()).config(config()).build();
    let error = dispatcher.submit_held(vec![held_job(&[])], SubmitOptions::default()).unwrap_err();
    assert_eq!(error, JobError::Unsupported { wanted: "holder vault".into() });
}

#[test]
fn far_engines_relieve_a_backlog_and_stay_idle_without_one() {
    let (referee, far) = (Invented::referee(), Invented::far());
    far.set(Manner::Hangs);
    let build = |scalar_ns| {
        DispatcherBuilder::new(referee.clone())
            .engine(far.clone())
            .config(config())
            .cost("referee", DERIVE, cost(scalar_ns))
            .cost("far", DERIVE, cost(1_000.0))
            .build()
    };
    let set = set_of(DERIVE, 0, 64);
    let quiet = build(1_000.0);
    assert_true(&set, &quiet.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait());
    assert_eq!((far.ops.load(Ordering::SeqCst), quiet.counters().far_batches), (0, 0));
    drop(quiet);

    referee.set(Manner::Hangs);
    let busy = build(10_000_000.0);
    let first = busy.submit_many(set_of(DERIVE, 0, 1), SubmitOptions::default()).unwrap();
    referee.gate.await_arrivals(1);
    let backlog = busy.submit_many(set.clone(), SubmitOptions::default()).unwrap();
    // The CPU is stuck in its first job and could do one more in time: the rest is for the device.
    far.gate.await_arrivals(1);
    far.gate.open();
    referee.gate.open();
    assert_true(&set, &backlog.wait());
    assert!(first.wait().get(0).is_ok());
    assert_eq!((far.ops.load(Ordering::SeqCst), busy.counters().far_batches), (63, 1));
}

#[cfg(all(unix, not(miri)))]
#[test]
#[allow(unsafe_code, reason = "pre_exec is how a test runs code in a forked child")]
fn a_forked_child_starts_anew_and_inherited_jobs_fail_cleanly() {
    use std::os::unix::process::CommandExt;
    let (referee, dispatcher, first) = blocked();
    let in_child = dispatcher.clone();
    let inherited = std::sync::Mutex::new(Some(
        dispatcher.submit_many(set_of(DERIVE, 1, 1), SubmitOptions::default()).unwrap(),
    ));
    let gate = referee.clone();
    let mut command = std::process::Command::new("true");
    let run = move || {
        let foreign = inherited.lock().unwrap().take().map(Ticket::wait);
        let is_forked = foreign.is_some_and(|results| results.get(0) == Err(JobError::Forked));
        gate.set(Manner::Honest);
        let results_in_child =
            in_child.submit_many(set_of(DERIVE, 2, 3), SubmitOptions::default()).map(Ticket::wait);
        let is_done = results_in_child.is_ok_and(|results| results.get(2).is_ok());
        if is_forked && is_done { Ok(()) } else { Err(std::io::Error::other("the child went wrong")) }
    };
    // SAFETY: the closure allocates and starts threads, which glibc allows in a forked child; the test's other threads
    // hold no lock that it takes, because they wait at the gate or in a condition variable.
    unsafe { command.pre_exec(run) };
    assert!(command.status().unwrap().success());
    drop(command);
    referee.gate.open();
    assert!(first.wait().get(0).is_ok());
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn without_threads_submissions_are_refused_and_bulk_work_is_done() {
    // No system has addresses for such a stack, so no thread starts. Rust reads the variable once in a process.
    let name = "service::without_threads_submissions_are_refused_and_bulk_work_is_done";
    let variable = "RUST_MIN_STACK";
    if std::env::var_os(variable).is_none() {
        let mut test = std::process::Command::new(std::env::current_exe().unwrap());
        let ended = test.args(["--exact", name]).env(variable, (1_usize << 50).to_string()).status();
        assert!(ended.unwrap().success());
        return;
    }
    assert!(std::thread::Builder::new().spawn(|| ()).is_err());
    let dispatcher = with_lanes(&Invented::lanes(Manner::Honest));
    let set = set_of(DERIVE, 0, LANES + 1);
    let refused = dispatcher.submit_many(set.clone(), SubmitOptions::default()).map(drop);
    assert!(matches!(refused, Err(JobError::NoThreads { .. })), "{refused:?}");
    assert_true(&set, &dispatcher.run_all(&set));
}

#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore = "Miri has no /proc")]
fn workers_run_at_the_configured_niceness() {
    const NICE: u8 = 7;
    let config = SchedulerConfig::default()
        .with_threads(2)
        .with_nice(NICE)
        .with_caller_budget(Duration::ZERO)
        .with_spins(SPINS);
    let dispatcher = DispatcherBuilder::new(Invented::referee()).config(config).build();
    let set = set_of(DERIVE, 0, 40);
    assert_true(&set, &dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait());
    let nices = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let stats = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("stat")).ok());
        // proc_pid_stat(5): nice is field 19, the 17th behind the name.
        let nice = |stat: &String| stat.rsplit_once(')')?.1.split_whitespace().nth(16)?.parse::<u8>().ok();
        stats.filter_map(|stat| nice(&stat)).filter(|nice| *nice == NICE).count()
    };
    while nices() < 2 {
        std::thread::yield_now();
    }
    assert_eq!(nices(), 2, "only the workers have it");
}
