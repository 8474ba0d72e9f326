//! The steps of the ladder and their controls, with the paper's figures.

use super::LadderError;
use super::bench::LadderBench;
use super::cards::{EngineCalls, FromColumns, SameKey, Unwrapping};
use super::direct::{LentColumns, Streamed};
use super::frame::FrameList;
use super::known::KnownAnswers;
use super::measure::LadderContender;
use super::message;
use super::peer::CardHost;
use super::workload::{KeyOrder, Workload};

/// A configuration of real code that is measured.
#[derive(Debug)]
pub(super) struct LadderStep {
    /// The experiment's number in the paper, and a letter for a control.
    pub(super) id: &'static str,
    pub(super) what: &'static str,
    pub(super) order: KeyOrder,
    pub(super) served_by: ServedBy,
    pub(super) means: StepMeans,
    pub(super) paper: PaperFigure,
}

/// The engines that a step may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServedBy {
    Referee,
    All,
    /// All, and the dispatcher computes a share of results again on another engine.
    AllChecked,
}

/// The way of operations to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepMeans {
    /// Requests through a socket, in a message of their own or all in one.
    Requests { in_one_message: bool, calls: EngineCalls, keeps_keys: bool },
    /// One key for a message through a socket.
    OneKey { rebuilds: bool },
    /// Columns through a socket.
    ColumnsSent,
    /// A stream that is lent.
    Stream,
    /// Columns that are lent.
    Columns { has_key_runs: bool },
    /// The same with known answers before each batch.
    KnownAnswers,
}

/// The figure in the text of the paper, in kilobytes per second. Its figure 16 is a graph without numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PaperFigure {
    pub(super) text: &'static str,
    pub(super) min: Option<u32>,
    pub(super) max: Option<u32>,
}

impl LadderStep {
    /// True if the step is a control and not one of the eight experiments.
    pub(super) fn is_control(&self) -> bool {
        self.id.len() > 1
    }

    /// The step over a workload, ready to run.
    ///
    /// # Errors
    /// Keys, a socket or a thread cannot be made.
    pub(super) fn contender(
        &self,
        bench: &LadderBench,
        workload: &Workload,
    ) -> Result<Box<dyn LadderContender>, LadderError> {
        let (ring, table) = (&bench.ring, &bench.table);
        let accelerator = bench.accelerator(self.served_by);
        Ok(match self.means {
            StepMeans::Requests { in_one_message, calls, keeps_keys } => {
                let card = Unwrapping::new(ring, accelerator, calls, keeps_keys)?;
                Box::new(CardHost::new(requests(bench, workload, in_one_message)?, Box::new(card))?)
            }
            StepMeans::OneKey { rebuilds } => {
                let card = SameKey::new(ring, accelerator, rebuilds)?;
                let message = one_message(|out| message::write_one_key(ring, workload, out))?;
                Box::new(CardHost::new(message, Box::new(card))?)
            }
            StepMeans::ColumnsSent => {
                let card = FromColumns::new(ring, accelerator, table);
                let message = one_message(|out| message::write_columns(workload, out))?;
                Box::new(CardHost::new(message, Box::new(card))?)
            }
            StepMeans::Stream => Box::new(Streamed::new(ring, accelerator, table, workload)),
            StepMeans::Columns { has_key_runs } => {
                let lent = LentColumns::new(ring, accelerator, table, workload)?;
                Box::new(if has_key_runs { lent.with_key_runs() } else { lent })
            }
            StepMeans::KnownAnswers => {
                let known = KnownAnswers::new(ring.cipher, workload.ops.len().min(2 * bench.group))?;
                Box::new(LentColumns::new(ring, accelerator, table, workload)?.with_known_answers(known))
            }
        })
    }
}

fn requests(
    bench: &LadderBench,
    workload: &Workload,
    in_one_message: bool,
) -> Result<FrameList, LadderError> {
    let write = |op, out: &mut Vec<u8>| message::write_request(&bench.ring, workload, op, out);
    if in_one_message {
        return one_message(|out| workload.ops.iter().for_each(|op| write(op, out)));
    }
    let mut frames = FrameList::default();
    for op in &workload.ops {
        frames.add(|out| write(op, out))?;
    }
    Ok(frames)
}

fn one_message(write: impl FnOnce(&mut Vec<u8>)) -> Result<FrameList, LadderError> {
    let mut frames = FrameList::default();
    frames.add(write)?;
    Ok(frames)
}

const fn up_to(text: &'static str, max: u32) -> PaperFigure {
    PaperFigure { text, min: None, max: Some(max) }
}

const fn between(text: &'static str, min: u32, max: u32) -> PaperFigure {
    PaperFigure { text, min: Some(min), max: Some(max) }
}

const fn no_figure(text: &'static str) -> PaperFigure {
    PaperFigure { text, min: None, max: None }
}

const fn requests_by(in_one_message: bool, calls: EngineCalls, keeps_keys: bool) -> StepMeans {
    StepMeans::Requests { in_one_message, calls, keeps_keys }
}

const fn step(
    id: &'static str,
    what: &'static str,
    order: KeyOrder,
    served_by: ServedBy,
    means: StepMeans,
    paper: PaperFigure,
) -> LadderStep {
    LadderStep { id, what, order, served_by, means, paper }
}

/// Every step, in the paper's order, each followed by its controls.
pub(super) const STEPS: [LadderStep; 16] = {
    use EngineCalls::{OneEach, OneForAll};
    use KeyOrder::{BatchRuns, OneDirection, OneKey, Random, Sorted};
    use ServedBy::{All, AllChecked, Referee};
    let columns = StepMeans::Columns { has_key_runs: false };
    let key_runs = StepMeans::Columns { has_key_runs: true };
    [
        step(
            "1",
            "a request per operation",
            Random,
            Referee,
            requests_by(false, OneEach, false),
            between("9-12", 9, 12),
        ),
        step(
            "1c",
            "  keys cached",
            Random,
            Referee,
            requests_by(false, OneEach, true),
            no_figure("no change"),
        ),
        step(
            "2",
            "requests in one message",
            Random,
            Referee,
            requests_by(true, OneEach, false),
            between("18-23", 18, 23),
        ),
        step("2c", "  keys cached", Random, Referee, requests_by(true, OneEach, true), up_to("to 40", 40)),
        step(
            "3",
            "one key, one engine call",
            OneKey,
            Referee,
            StepMeans::OneKey { rebuilds: false },
            up_to("to 360", 360),
        ),
        step(
            "3r",
            "  schedule rebuilt each time",
            OneKey,
            Referee,
            StepMeans::OneKey { rebuilds: true },
            up_to("to 320", 320),
        ),
        step(
            "4",
            "many keys, one engine call",
            Random,
            Referee,
            requests_by(true, OneForAll, false),
            between("30-290", 30, 290),
        ),
        step("4c", "  keys cached", Random, Referee, requests_by(true, OneForAll, true), no_figure("-")),
        step("5", "key table, nothing copied", Random, Referee, StepMeans::Stream, up_to("to 1400", 1400)),
        step("6", "lanes", Random, All, StepMeans::Stream, up_to("to 2500", 2500)),
        step("7", "parameters in columns", Random, All, columns, up_to("near 5000", 5000)),
        step("7d", "  one direction", OneDirection, All, columns, no_figure("-")),
        step("7k", "  keys in runs", BatchRuns, All, key_runs, no_figure("proposed")),
        step("7o", "  sorted", Sorted, All, columns, no_figure("proposed")),
        step("7s", "  through the socket", Random, All, StepMeans::ColumnsSent, up_to("under 2500", 2500)),
        step(
            "8",
            "known answers checked",
            Random,
            AllChecked,
            StepMeans::KnownAnswers,
            up_to("near 3000", 3000),
        ),
    ]
};
