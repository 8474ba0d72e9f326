//! Messages in batches on any number of threads. Results come in the order of the messages.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use cpu_time::ProcessTime;
use indicatif::ProgressBar;
use oarlock_mail_files::mail::{self, MailError, MailReader, StoredMail};
use oarlock_terminal::table::count;
use oarlock_terminal::{GlobalOptions, progress};
use serde::Serialize;

use super::DkimError;
use super::args::MailArgs;

/// The number of messages of a batch: enough to fill every lane with bodies of similar length several times.
const BATCH_MESSAGES: usize = 128;
/// The size of a batch in bytes: as much as the caches of a core hold.
const BATCH_BYTES: usize = 2 << 20;

/// A message with its index.
pub(super) struct LoadedMail {
    pub(super) index: u64,
    pub(super) mail: StoredMail,
}

/// A message's result, or the reason why it could not be read.
pub(super) struct BulkItem<T> {
    index: u64,
    result: Result<T, MailError>,
}

/// The totals of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct MailTotals {
    pub(super) messages: u64,
    pub(super) unreadable: u64,
    pub(super) bytes: u64,
    pub(super) threads: usize,
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
    pub(super) messages_per_s: f64,
    pub(super) messages_per_cpu_s: f64,
}

/// Runs `work` on batches, and gives the results to `take` in the order of the messages. Messages that cannot be read
/// are reported on stderr.
///
/// # Errors
/// The first of `work` and `take`; the others then stop.
pub(super) fn run<T: Send>(
    global: &GlobalOptions,
    args: &MailArgs,
    work: impl Fn(Vec<LoadedMail>) -> Result<Vec<(u64, T)>, DkimError> + Sync,
    mut take: impl FnMut(T) -> Result<(), DkimError>,
) -> Result<MailTotals, DkimError> {
    let mails = mail::discover(&args.paths, args.options()).mails();
    let threads = global.bulk_threads();
    let (started, cpu) = (Instant::now(), ProcessTime::now());
    // The length of a stream is unknown.
    let bar = match mails.totals().bytes {
        0 => progress::bar(0, "{spinner} {bytes} {bytes_per_sec}"),
        bytes => progress::bar(bytes, "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec}{left}"),
    };
    let is_stopped = AtomicBool::new(false);
    let mut order = ResultOrder { next: 0, waiting: BTreeMap::new(), messages: 0, unreadable: 0 };
    let done = std::thread::scope(|scope| {
        // Results wait here for their turn. The bound of the channel makes threads wait if too many do.
        let (sender, receiver) = mpsc::sync_channel(4 * threads);
        for _ in 0..threads {
            let (sender, work, mails, is_stopped) = (sender.clone(), &work, &mails, &is_stopped);
            scope.spawn(move || thread(mails, work, is_stopped, &sender));
        }
        // The threads have clones of it. The loop below ends when the last one is dropped.
        drop(sender);
        let mut first = Ok(());
        // Emptied also after an error: a thread that waits to send would not see that it must stop.
        for batch in receiver {
            let result = batch.and_then(|batch| order.add(batch, &bar, &mut take));
            bar.set_position(mails.bytes_done());
            if first.is_ok() && result.is_err() {
                first = result;
                // Relaxed, because a thread may well finish another batch before it sees this.
                is_stopped.store(true, Ordering::Relaxed);
            }
        }
        first
    });
    bar.finish_and_clear();
    warn_of_borders(&mails);
    done?;
    let (seconds, cpu_seconds) = (started.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    let rate = |time: f64| order.messages as f64 / time.max(f64::EPSILON);
    Ok(MailTotals {
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

/// Reports the lines of mboxes of which it is not certain whether a message begins there.
fn warn_of_borders(mails: &MailReader) {
    let (first, all) = mails.border_warnings();
    first.iter().for_each(|warning| eprintln!("oarlock: {warning}"));
    let others = all - first.len() as u64;
    if others > 0 {
        eprintln!("oarlock: {} like this", count(others, "more line"));
    }
}

type Batch<T> = Result<Vec<BulkItem<T>>, DkimError>;

/// Works on one thread until no message is left.
fn thread<T>(
    mails: &MailReader,
    work: &(impl Fn(Vec<LoadedMail>) -> Result<Vec<(u64, T)>, DkimError> + Sync),
    is_stopped: &AtomicBool,
    sender: &mpsc::SyncSender<Batch<T>>,
) {
    while !is_stopped.load(Ordering::Relaxed) {
        let (loaded, mut done) = load(mails);
        if loaded.is_empty() && done.is_empty() {
            return;
        }
        let batch = work(loaded).map(|results| {
            done.extend(results.into_iter().map(|(index, result)| BulkItem { index, result: Ok(result) }));
            done
        });
        if sender.send(batch).is_err() {
            return;
        }
    }
}

/// Reads the messages of a batch. Returns also those that cannot be read.
fn load<T>(mails: &MailReader) -> (Vec<LoadedMail>, Vec<BulkItem<T>>) {
    let (mut loaded, mut failed) = (Vec::with_capacity(BATCH_MESSAGES), Vec::new());
    let mut bytes = 0;
    while loaded.len() < BATCH_MESSAGES && bytes < BATCH_BYTES {
        let Some(mail::MailItem { index, mail }) = mails.pull() else { break };
        match mail {
            Ok(mail) => {
                bytes += mail.bytes.len();
                loaded.push(LoadedMail { index, mail });
            }
            Err(error) => failed.push(BulkItem { index, result: Err(error) }),
        }
    }
    (loaded, failed)
}

/// Puts results back into order.
struct ResultOrder<T> {
    next: u64,
    waiting: BTreeMap<u64, Result<T, MailError>>,
    messages: u64,
    unreadable: u64,
}

impl<T> ResultOrder<T> {
    fn add(
        &mut self,
        batch: Vec<BulkItem<T>>,
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
                    // Otherwise the bar would overwrite the line.
                    bar.suspend(|| eprintln!("oarlock: {error}"));
                }
            }
        }
        Ok(())
    }
}

/// Totals with the counts of a command.
#[derive(Debug, Serialize)]
pub(super) struct MailSummary<C> {
    #[serde(flatten)]
    totals: MailTotals,
    #[serde(flatten)]
    counts: C,
}

impl MailTotals {
    /// Returns the end of the JSON document, with the counts of a command.
    pub(super) fn summary<C: Serialize>(self, counts: C) -> MailSummary<C> {
        MailSummary { totals: self, counts }
    }

    /// Prints the totals on stderr.
    pub(super) fn print(&self, what: &str) {
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
