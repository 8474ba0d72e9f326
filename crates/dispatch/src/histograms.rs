//! How large batches were, how long engines took, and how long jobs waited.

use oarlock_core::Shape;

use crate::class::modulus_bits;
use crate::family::MetricFamily;
use crate::histogram::{Histogram, Recorder, Tally};
use crate::queue::{Item, Nanos, Work};

/// Shapes with histograms of their own. A service uses a dozen.
const SHAPES: usize = 96;

/// RSA keys of other lengths than multiples of this share one histogram: peers choose their lengths, and could take every place.
const RSA_STEP: u16 = 512;

/// The value of a shape.
fn of<V: Default>(family: &MetricFamily<Shape, V>, shape: Shape) -> &V {
    match modulus_bits(shape) {
        Some(bits) if !bits.is_multiple_of(RSA_STEP) => family.rest(),
        _ => family.of(&shape),
    }
}

/// Live histograms. Batches are counted once each, jobs by submissions: nothing here costs per job.
#[derive(Debug)]
pub(crate) struct Recorders {
    /// By engine.
    runs: Vec<MetricFamily<Shape, Run>>,
    answers: MetricFamily<Shape, Answer>,
}

#[derive(Debug, Default)]
struct Run {
    operations: Recorder,
    run_ns: Recorder,
}

#[derive(Debug, Default)]
struct Answer {
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

    /// A batch that an engine has computed.
    pub(crate) fn ran(&self, engine: usize, shape: Shape, ops: usize, took_ns: f64) {
        let run = of(&self.runs[engine], shape);
        run.operations.record(ops as u64);
        run.run_ns.record(took_ns as u64);
    }

    /// Operations out of the queue that are answered at `landed`, after a run that began at `began`. What nobody wants any more does
    /// not count.
    pub(crate) fn answered<W: Work>(&self, shape: Shape, items: &[Item<W>], began: Nanos, landed: Nanos) {
        let (mut waiting, mut whole) = (Tally::new(), Tally::new());
        for item in items.iter().filter(|item| item.work.is_live()) {
            waiting.record(began.saturating_sub(item.enqueued), item.count);
            whole.record(landed.saturating_sub(item.enqueued), item.count);
        }
        let answer = of(&self.answers, shape);
        answer.waiting_ns.add(&waiting);
        answer.answer_ns.add(&whole);
    }

    /// Operations answered on the thread that submitted them, which have not waited: the engine's time is all there is to it.
    pub(crate) fn answered_here(&self, shape: Shape, ops: usize, took_ns: f64) {
        of(&self.answers, shape).answer_ns.record_many(took_ns as u64, ops as u64);
    }

    /// The histograms now; `name` is that of an engine.
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

/// The histograms at one moment; they only grow.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Histograms {
    /// Batches by engine and shape, by every way; confirmations and cross-checks are not among them.
    pub runs: Vec<BatchRuns>,
    /// Operations submitted and answered by an engine, by shape. What `run_all` and `run_records` do is not among them: it is
    /// answered when they return.
    pub answers: Vec<AnswerTimes>,
}

/// Batches of a shape on an engine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BatchRuns {
    /// The engine's name.
    pub engine: &'static str,
    /// The shape; None where there were too many for each to have its own.
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
    /// The shape; None where there were too many for each to have its own.
    pub shape: Option<Shape>,
    /// Nanoseconds in the queue, of operations that were there.
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

    impl Work for Job {
        fn is_live(&self) -> bool {
            self.is_wanted
        }
    }

    fn item(enqueued: Nanos, count: u32, is_wanted: bool) -> Item<Job> {
        Item {
            work: Job { is_wanted },
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
        recorders.answered(Shape::X25519, &items, 2_000, 5_000);
        recorders.answered_here(Shape::X25519, 2, 7.0);
        let read = recorders.read(|_| "engine");
        assert!(read.runs.is_empty(), "nothing ran");
        let [times] = &read.answers[..] else { panic!("{:?}", read.answers) };
        assert_eq!(times.shape, Some(Shape::X25519));
        assert_eq!((times.waiting_ns.count(), times.waiting_ns.sum()), (4, 1_000 + 3 * 100));
        assert_eq!((times.answer_ns.count(), times.answer_ns.sum()), (6, 4_000 + 3 * 3_100 + 2 * 7));
    }

    #[test]
    fn rsa_keys_of_odd_lengths_share_a_place() {
        let recorders = Recorders::new(1);
        (512..=8192).for_each(|bits| recorders.ran(0, Shape::RsaPrivate { bits }, 8, 1e6));
        let read = recorders.read(|_| "engine");
        assert_eq!(read.runs.len(), 16 + 1);
        let rest = read.runs.last().map(|runs| (runs.shape, runs.operations.count(), runs.operations.sum()));
        let others = 8192 - 511 - 16;
        assert_eq!(rest, Some((None, others, 8 * others)));
    }
}
