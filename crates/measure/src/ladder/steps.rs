//! The steps of the ladder and their controls: what each is, and what the paper says of it.

use super::LadderError;
use super::bench::Bench;
use super::cards::{Calls, FromColumns, SameKey, Unwrapping};
use super::direct::{Lent, Streamed};
use super::frame::Frames;
use super::known::KnownAnswers;
use super::measure::Contender;
use super::message;
use super::peer::Host;
use super::workload::{Order, Workload};

/// A configuration of real code that is measured.
#[derive(Debug)]
pub(super) struct Step {
    /// The experiment's number in the paper, and a letter for a control.
    pub(super) id: &'static str,
    pub(super) what: &'static str,
    pub(super) order: Order,
    pub(super) served_by: ServedBy,
    pub(super) means: Means,
    pub(super) paper: Paper,
}

/// Which engines a step may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServedBy {
    Referee,
    All,
    /// All, and the dispatcher computes a share of results again on another engine.
    AllChecked,
}

/// How operations get to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// Requests through a socket, in a message of their own or all in one.
    Requests { in_one_message: bool, calls: Calls, keeps_keys: bool },
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

/// What the text of the paper says, in kilobytes per second. Its figure 16 is a graph without numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Paper {
    pub(super) text: &'static str,
    pub(super) min: Option<u32>,
    pub(super) max: Option<u32>,
}

impl Step {
    /// True where it is none of the eight experiments but a control of one.
    pub(super) fn is_control(&self) -> bool {
        self.id.len() > 1
    }

    /// The step over a workload, ready to run.
    ///
    /// # Errors
    /// What cannot be made: keys in a table, a socket, a thread.
    pub(super) fn contender(
        &self,
        bench: &Bench,
        workload: &Workload,
    ) -> Result<Box<dyn Contender>, LadderError> {
        let (ring, table) = (&bench.ring, &bench.table);
        let accelerator = bench.accelerator(self.served_by);
        Ok(match self.means {
            Means::Requests { in_one_message, calls, keeps_keys } => {
                let card = Unwrapping::new(ring, accelerator, calls, keeps_keys)?;
                Box::new(Host::new(requests(bench, workload, in_one_message)?, Box::new(card))?)
            }
            Means::OneKey { rebuilds } => {
                let card = SameKey::new(ring, accelerator, rebuilds)?;
                let message = one_message(|out| message::write_one_key(ring, workload, out))?;
                Box::new(Host::new(message, Box::new(card))?)
            }
            Means::ColumnsSent => {
                let card = FromColumns::new(ring, accelerator, table);
                let message = one_message(|out| message::write_columns(workload, out))?;
                Box::new(Host::new(message, Box::new(card))?)
            }
            Means::Stream => Box::new(Streamed::new(ring, accelerator, table, workload)),
            Means::Columns { has_key_runs } => {
                let lent = Lent::new(ring, accelerator, table, workload)?;
                Box::new(if has_key_runs { lent.with_key_runs() } else { lent })
            }
            Means::KnownAnswers => {
                let known = KnownAnswers::new(ring.cipher, workload.ops.len().min(2 * bench.group))?;
                Box::new(Lent::new(ring, accelerator, table, workload)?.with_known_answers(known))
            }
        })
    }
}

fn requests(bench: &Bench, workload: &Workload, in_one_message: bool) -> Result<Frames, LadderError> {
    let write = |op, out: &mut Vec<u8>| message::write_request(&bench.ring, workload, op, out);
    if in_one_message {
        return one_message(|out| workload.ops.iter().for_each(|op| write(op, out)));
    }
    let mut frames = Frames::default();
    for op in &workload.ops {
        frames.add(|out| write(op, out))?;
    }
    Ok(frames)
}

fn one_message(write: impl FnOnce(&mut Vec<u8>)) -> Result<Frames, LadderError> {
    let mut frames = Frames::default();
    frames.add(write)?;
    Ok(frames)
}

const fn up_to(text: &'static str, max: u32) -> Paper {
    Paper { text, min: None, max: Some(max) }
}

const fn between(text: &'static str, min: u32, max: u32) -> Paper {
    Paper { text, min: Some(min), max: Some(max) }
}

const fn no_figure(text: &'static str) -> Paper {
    Paper { text, min: None, max: None }
}

const fn requests_by(in_one_message: bool, calls: Calls, keeps_keys: bool) -> Means {
    Means::Requests { in_one_message, calls, keeps_keys }
}

const fn step(
    id: &'static str,
    what: &'static str,
    order: Order,
    served_by: ServedBy,
    means: Means,
    paper: Paper,
) -> Step {
    Step { id, what, order, served_by, means, paper }
}

/// Every step, in the paper's order, each followed by its controls.
pub(super) const STEPS: [Step; 16] = {
    use Calls::{OneEach, OneForAll};
    use Order::{BatchRuns, OneDirection, OneKey, Random, Sorted};
    use ServedBy::{All, AllChecked, Referee};
    let columns = Means::Columns { has_key_runs: false };
    let key_runs = Means::Columns { has_key_runs: true };
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
            Means::OneKey { rebuilds: false },
            up_to("to 360", 360),
        ),
        step(
            "3r",
            "  schedule rebuilt each time",
            OneKey,
            Referee,
            Means::OneKey { rebuilds: true },
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
        step("5", "key table, nothing copied", Random, Referee, Means::Stream, up_to("to 1400", 1400)),
        step("6", "lanes", Random, All, Means::Stream, up_to("to 2500", 2500)),
        step("7", "parameters in columns", Random, All, columns, up_to("near 5000", 5000)),
        step("7d", "  one direction", OneDirection, All, columns, no_figure("-")),
        step("7k", "  keys in runs", BatchRuns, All, key_runs, no_figure("proposed")),
        step("7o", "  sorted", Sorted, All, columns, no_figure("proposed")),
        step("7s", "  through the socket", Random, All, Means::ColumnsSent, up_to("under 2500", 2500)),
        step("8", "known answers checked", Random, AllChecked, Means::KnownAnswers, up_to("near 3000", 3000)),
    ]
};
