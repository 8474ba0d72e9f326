//! Messages taken in batches by any number of threads, and what came of them in the order of the messages.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use cpu_time::ProcessTime;
use indicatif::ProgressBar;
use oarlock_io::mail::{self, MailError, MailMessage, MailReader};
use serde::Serialize;

use super::DkimError;
use super::args::MailArgs;
use oarlock_measure::GlobalOptions;
use oarlock_measure::progress;
use oarlock_measure::table::count;

/// Messages of a batch: enough to fill every lane with bodies of like length several times.
const BATCH_MESSAGES: usize = 128;
/// Bytes of a batch: what the caches of a core hold.
const BATCH_BYTES: usize = 2 << 20;

/// A message with its place among all.
pub(super) struct Loaded {
    pub(super) index: u64,
    pub(super) mail: MailMessage,
}

/// What came of a message: what is to be written, or why there is nothing.
pub(super) struct Done<T> {
    index: u64,
    result: Result<T, MailError>,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Totals {
    pub(super) messages: u64,
    pub(super) unreadable: u64,
    pub(super) bytes: u64,
    pub(super) threads: usize,
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
    pub(super) messages_per_s: f64,
    pub(super) messages_per_cpu_s: f64,
}

/// Has `work` done on batches, and gives what came of each message to `take` in their order. What cannot be read goes to stderr.
///
/// # Errors
/// The first of `work` and `take`; the others then stop.
pub(super) fn run<T: Send>(
    global: &GlobalOptions,
    args: &MailArgs,
    work: impl Fn(Vec<Loaded>) -> Result<Vec<(u64, T)>, DkimError> + Sync,
    mut take: impl FnMut(T) -> Result<(), DkimError>,
) -> Result<Totals, DkimError> {
    let mails = mail::discover(&args.paths, args.options()).mails();
    let threads = global.bulk_threads();
    let (started, cpu) = (Instant::now(), ProcessTime::now());
    // Of a stream nobody knows the length.
    let bar = match mails.totals().bytes {
        0 => progress::bar(0, "{spinner} {bytes} {bytes_per_sec}"),
        bytes => progress::bar(bytes, "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec}{left}"),
    };
    let is_stopped = AtomicBool::new(false);
    let mut order = Order { next: 0, waiting: BTreeMap::new(), messages: 0, unreadable: 0 };
    let done = std::thread::scope(|scope| {
        // What is done waits for its turn here; threads wait when too much does.
        let (sender, receiver) = mpsc::sync_channel(4 * threads);
        for _ in 0..threads {
            let (sender, work, mails, is_stopped) = (sender.clone(), &work, &mails, &is_stopped);
            scope.spawn(move || thread(mails, work, is_stopped, &sender));
        }
        drop(sender);
        let mut first = Ok(());
        for batch in receiver {
            let result = batch.and_then(|batch| order.add(batch, &bar, &mut take));
            bar.set_position(mails.bytes_done());
            if first.is_ok() && result.is_err() {
                first = result;
                is_stopped.store(true, Ordering::Relaxed);
            }
        }
        first
    });
    bar.finish_and_clear();
    done?;
    let (seconds, cpu_seconds) = (started.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    let rate = |time: f64| order.messages as f64 / time.max(f64::EPSILON);
    Ok(Totals {
        messages: order.messages,
        unreadable: order.unreadable,
        bytes: mails.bytes_done(),
        threads,
        seconds,
        cpu_seconds,
        messages_per_s: rate(seconds),
        messages_per_cpu_s: rate(cpu_seconds),
    })
}

type Batch<T> = Result<Vec<Done<T>>, DkimError>;

/// One thread's work until there is no more.
fn thread<T>(
    mails: &MailReader,
    work: &(impl Fn(Vec<Loaded>) -> Result<Vec<(u64, T)>, DkimError> + Sync),
    is_stopped: &AtomicBool,
    sender: &mpsc::SyncSender<Batch<T>>,
) {
    while !is_stopped.load(Ordering::Relaxed) {
        let (loaded, mut done) = load(mails);
        if loaded.is_empty() && done.is_empty() {
            return;
        }
        let batch = work(loaded).map(|results| {
            done.extend(results.into_iter().map(|(index, result)| Done { index, result: Ok(result) }));
            done
        });
        if sender.send(batch).is_err() {
            return;
        }
    }
}

/// The messages of a batch, and those that cannot be read.
fn load<T>(mails: &MailReader) -> (Vec<Loaded>, Vec<Done<T>>) {
    let (mut loaded, mut failed) = (Vec::with_capacity(BATCH_MESSAGES), Vec::new());
    let mut bytes = 0;
    while loaded.len() < BATCH_MESSAGES && bytes < BATCH_BYTES {
        let Some(mail::MailItem { index, mail }) = mails.pull() else { break };
        match mail {
            Ok(mail) => {
                bytes += mail.bytes.len();
                loaded.push(Loaded { index, mail });
            }
            Err(error) => failed.push(Done { index, result: Err(error) }),
        }
    }
    (loaded, failed)
}

/// Puts results back into order.
struct Order<T> {
    next: u64,
    waiting: BTreeMap<u64, Result<T, MailError>>,
    messages: u64,
    unreadable: u64,
}

impl<T> Order<T> {
    fn add(
        &mut self,
        batch: Vec<Done<T>>,
        bar: &ProgressBar,
        take: &mut impl FnMut(T) -> Result<(), DkimError>,
    ) -> Result<(), DkimError> {
        self.waiting.extend(batch.into_iter().map(|done| (done.index, done.result)));
        while let Some(result) = self.waiting.remove(&self.next) {
            self.next += 1;
            match result {
                Ok(result) => {
                    self.messages += 1;
                    take(result)?;
                }
                Err(error) => {
                    self.unreadable += 1;
                    bar.suspend(|| eprintln!("oarlock: {error}"));
                }
            }
        }
        Ok(())
    }
}

/// Totals, with what a command has counted.
#[derive(Debug, Serialize)]
pub(super) struct Summary<C> {
    #[serde(flatten)]
    totals: Totals,
    #[serde(flatten)]
    counts: C,
}

impl Totals {
    /// The end of the JSON document, with what a command has counted.
    pub(super) fn summary<C: Serialize>(self, counts: C) -> Summary<C> {
        Summary { totals: self, counts }
    }

    /// On stderr, for people.
    pub(super) fn tell(&self, what: &str) {
        let Self { messages, seconds, messages_per_s, messages_per_cpu_s, threads, unreadable, .. } = self;
        eprintln!(
            "oarlock: {}{}: {what}; {seconds:.2} s, {messages_per_s:.0}/s on {}, \
             {messages_per_cpu_s:.0} per CPU second, reading and writing included",
            count(*messages, "message"),
            if *unreadable > 0 { format!(", {unreadable} not readable") } else { String::new() },
            count(*threads as u64, "thread"),
        );
    }
}
