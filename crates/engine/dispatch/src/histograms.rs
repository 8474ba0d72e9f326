//! Histograms of batch sizes, engine times, waiting times and answer times.

use oarlock_core::Shape;

use crate::class::modulus_bits;
use crate::clock::Nanos;
use crate::family::MetricFamily;
use crate::histogram::{BatchTally, Histogram, Recorder};
use crate::queue::{ItemOwner, QueueItem};

/// The number of shapes with histograms of their own. A service uses a dozen.
const SHAPES: usize = 96;

/// RSA keys whose length is not a multiple of this share one histogram. Peers choose the lengths, and could otherwise
/// use up all histograms.
const RSA_STEP: u16 = 512;

/// Returns the recorders of a shape.
fn member_of<V: Default>(family: &MetricFamily<Shape, V>, shape: Shape) -> &V {
    match modulus_bits(shape) {
        Some(bits) if !bits.is_multiple_of(RSA_STEP) => family.rest(),
        _ => family.get(&shape),
    }
}

/// Live histograms. A batch is recorded once, and jobs are recorded per submission, so that no single job costs
/// anything here.
#[derive(Debug)]
pub(crate) struct Recorders {
    /// By engine.
    runs: Vec<MetricFamily<Shape, RunRecorders>>,
    answers: MetricFamily<Shape, AnswerRecorders>,
}

#[derive(Debug, Default)]
struct RunRecorders {
    operations: Recorder,
    run_ns: Recorder,
}

#[derive(Debug, Default)]
struct AnswerRecorders {
    waiting_ns: Recorder,
    answer_ns: Recorder,
}

impl Recorders {
    pub(crate) fn new(engines: usize) -> Self {
        Self {
            runs: (0..engines).map(|_| MetricFamily::new(SHAPES)).collect(),
            answers: MetricFamily::new(SHAPES),
        }
    }

    /// Records a batch that an engine has computed.
    pub(crate) fn record_run(&self, engine: usize, shape: Shape, ops: usize, took_ns: f64) {
        let run = member_of(&self.runs[engine], shape);
        run.operations.record(ops as u64);
        run.run_ns.record(took_ns as u64);
    }

    /// Records queued operations that are answered at `answered_at`, after a run that began at `began`. Operations
    /// whose answer is no longer wanted do not count.
    pub(crate) fn record_answers<O: ItemOwner>(
        &self,
        shape: Shape,
        items: &[QueueItem<O>],
        began: Nanos,
        answered_at: Nanos,
    ) {
        let (mut waiting, mut whole) = (BatchTally::new(), BatchTally::new());
        for item in items.iter().filter(|item| item.owner.is_live()) {
            waiting.record(began.saturating_sub(item.enqueued), item.count);
            whole.record(answered_at.saturating_sub(item.enqueued), item.count);
        }
        let answer = member_of(&self.answers, shape);
        answer.waiting_ns.add(&waiting);
        answer.answer_ns.add(&whole);
    }

    /// Records operations that were answered on the submitting thread. They have not waited, so the engine's time is
    /// the answer time.
    pub(crate) fn record_direct_answers(&self, shape: Shape, ops: usize, took_ns: f64) {
        member_of(&self.answers, shape).answer_ns.record_many(took_ns as u64, ops as u64);
    }

    /// Returns a snapshot. `name` returns the name of an engine.
    pub(crate) fn read(&self, name: impl Fn(usize) -> &'static str) -> Histograms {
        let runs = self.runs.iter().enumerate().flat_map(|(engine, family)| {
            let name = name(engine);
            family.iter().map(move |(shape, run)| BatchRuns {
                engine: name,
                shape: shape.copied(),
                operations: run.operations.read(),
                run_ns: run.run_ns.read(),
            })
        });
        let answers = self.answers.iter().map(|(shape, answer)| AnswerTimes {
            shape: shape.copied(),
            waiting_ns: answer.waiting_ns.read(),
            answer_ns: answer.answer_ns.read(),
        });
        Histograms {
            runs: runs.filter(|runs| runs.operations.count() > 0).collect(),
            answers: answers.filter(|times| times.answer_ns.count() > 0).collect(),
        }
    }
}

/// A snapshot of the histograms, which only grow.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Histograms {
    /// Batches by engine and shape, including bulk work and batches on callers' threads. Confirmations and
    /// cross-checks do not count.
    pub runs: Vec<BatchRuns>,
    /// Submitted operations that an engine answered, by shape. `run_all` and `run_records` do not count: they answer
    /// when they return.
    pub answers: Vec<AnswerTimes>,
}

/// Batches of a shape on an engine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BatchRuns {
    /// The engine's name.
    pub engine: &'static str,
    /// The shape; None for all shapes without a histogram of their own.
    pub shape: Option<Shape>,
    /// Operations in a batch.
    pub operations: Histogram,
    /// Nanoseconds that the engine took for a batch.
    pub run_ns: Histogram,
}

/// Operations of a shape.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AnswerTimes {
    /// The shape; None for all shapes without a histogram of their own.
    pub shape: Option<Shape>,
    /// Nanoseconds in the queue, of queued operations.
    pub waiting_ns: Histogram,
    /// Nanoseconds from submission to answer.
    pub answer_ns: Histogram,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug)]
    struct Job {
        is_wanted: bool,
    }

    impl ItemOwner for Job {
        fn is_live(&self) -> bool {
            self.is_wanted
        }
    }

    fn item(enqueued: Nanos, count: u32, is_wanted: bool) -> QueueItem<Job> {
        QueueItem {
            owner: Job { is_wanted },
            first: 0,
            count,
            bytes: 0,
            is_whole: false,
            tenant: 0,
            enqueued,
            due: 0,
            attempts: 0,
        }
    }

    #[test]
    fn operations_are_timed_from_their_own_submission() {
        let recorders = Recorders::new(1);
        let items = [item(1_000, 1, true), item(1_900, 3, true), item(0, 50, false)];
        recorders.record_answers(Shape::X25519, &items, 2_000, 5_000);
        recorders.record_direct_answers(Shape::X25519, 2, 7.0);
        let read = recorders.read(|_| "engine");
        assert!(read.runs.is_empty(), "nothing ran");
        let [times] = &read.answers[..] else { panic!("{:?}", read.answers) };
        assert_eq!(times.shape, Some(Shape::X25519));
        assert_eq!((times.waiting_ns.count(), times.waiting_ns.sum()), (4, 1_000 + 3 * 100));
        assert_eq!((times.answer_ns.count(), times.answer_ns.sum()), (6, 4_000 + 3 * 3_100 + 2 * 7));
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of lengths take minutes there")]
    fn rsa_keys_of_odd_lengths_share_a_histogram() {
        let recorders = Recorders::new(1);
        (512..=8192).for_each(|bits| recorders.record_run(0, Shape::RsaPrivate { bits }, 8, 1e6));
        let read = recorders.read(|_| "engine");
        assert_eq!(read.runs.len(), 16 + 1);
        let rest = read.runs.last().map(|runs| (runs.shape, runs.operations.count(), runs.operations.sum()));
        let others = 8192 - 511 - 16;
        assert_eq!(rest, Some((None, others, 8 * others)));
    }
}
