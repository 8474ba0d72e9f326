//! `oarlock bench milter`: many MTAs at a mail filter, as Postfix has them.
//!
//! | module | what it holds |
//! |---|---|
//! | `mails` | the messages of MTAs, and the check of their answers |
//! | `filters` | Oarlock's filter, as a process |
//! | `acceptor` | a filter that only accepts |
//! | `sessions` | MTAs, each with one message at a time |
//! | `report` | table and JSON |

mod acceptor;
mod filters;
mod mails;
mod report;
mod sessions;

use std::time::Duration;

use indicatif::ProgressBar;
use oarlock::Accelerator;
use oarlock_measure::cores::DividedCores;
use oarlock_milter::MilterSocket;
use oarlock_terminal::report::print_report;
use oarlock_terminal::{GlobalOptions, progress};
use tempfile::TempDir;

pub(crate) use self::acceptor::AcceptingFilters;
use self::acceptor::AcceptingServer;
use self::filters::OwnFilter;
use self::mails::MtaMailSet;
use self::report::FilterRow;
use self::sessions::{MeasuredSessions, MtaSessions};
use super::args::{MilterBenchArgs, MilterRow};
use super::{BAR, BenchError};

pub(super) fn run(global: &GlobalOptions, args: &MilterBenchArgs) -> Result<(), BenchError> {
    args.check()?;
    let cores = DividedCores::divide();
    let acceptor = AcceptingServer::start(&cores)?;
    cores.leave();
    let folder =
        tempfile::tempdir().map_err(|error| BenchError::File { path: std::env::temp_dir(), error })?;
    let accelerator = global.builder().build().map_err(BenchError::Engines)?;
    let rows = args.rows();
    let turns = rows.len() * args.sessions.len() * args.turns as usize;
    let bench = MilterBench {
        global,
        args,
        cores: &cores,
        folder: &folder,
        accelerator: &accelerator,
        acceptor: &acceptor,
        bar: &progress::bar(turns as u64, BAR),
    };
    let mut measured = Vec::new();
    let done = rows.into_iter().try_for_each(|row| bench.row(row).map(|rows| measured.extend(rows)));
    bench.bar.finish_and_clear();
    // What was measured before a failure stands.
    if !measured.is_empty() {
        print_report(global.json, &measured, |in_colour| report::to_text(args, &measured, in_colour))?;
    }
    done
}

/// The state that all rows share.
struct MilterBench<'a> {
    global: &'a GlobalOptions,
    args: &'a MilterBenchArgs,
    cores: &'a DividedCores,
    folder: &'a TempDir,
    accelerator: &'a Accelerator,
    acceptor: &'a AcceptingServer,
    bar: &'a ProgressBar,
}

impl MilterBench<'_> {
    /// Measures one filter at each number of sessions.
    fn row(&self, row: MilterRow) -> Result<Vec<FilterRow>, BenchError> {
        self.bar.set_message(format!("{row}: starting"));
        let mails = MtaMailSet::new(row, self.args.messages, self.args.sizes, self.accelerator)?;
        let started = match (&self.args.connect, row) {
            (Some(_), _) | (None, MilterRow::Accept) => None,
            (None, _) => Some(OwnFilter::start(self.global, self.folder.path(), row, &mails, self.cores)?),
        };
        let (socket, process) = match (&self.args.connect, &started) {
            (Some(socket), _) => (socket, self.args.process),
            (None, Some(filter)) => (&filter.socket, Some(filter.process())),
            (None, None) => (&self.acceptor.socket, None),
        };
        let mut rows = Vec::new();
        for &sessions in &self.args.sessions {
            let mut turns = Vec::new();
            for _ in 0..self.args.turns {
                self.bar.set_message(format!("{row} at {sessions}"));
                // Beside it in every turn: what MTA, sockets and sessions take themselves.
                let base = match row {
                    MilterRow::Accept => None,
                    _ => Some(self.turn(&self.acceptor.socket, None, sessions, &mails.unanswered())?),
                };
                turns.push((self.turn(socket, process, sessions, &mails)?, base));
                self.bar.inc(1);
            }
            rows.push(FilterRow::new(row, sessions, self.args, &turns));
        }
        Ok(rows)
    }

    fn turn(
        &self,
        socket: &MilterSocket,
        process: Option<u32>,
        sessions: usize,
        mails: &MtaMailSet,
    ) -> Result<MeasuredSessions, BenchError> {
        MtaSessions { socket, process, count: sessions }
            .measure(mails, Duration::from_secs_f64(self.args.seconds))
    }
}
