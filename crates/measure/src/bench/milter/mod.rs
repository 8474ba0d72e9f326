//! `oarlock bench milter`: MTAs at a mail filter, as many at once as Postfix would have.
//!
//! | module | what it holds |
//! |---|---|
//! | `mails` | what MTAs send, and how they know that the answer is right |
//! | `filters` | this program's own filter, as a process |
//! | `protocol` | the milter protocol, which the caller provides |
//! | `sessions` | MTAs, each sending its next message as soon as the one before is answered |
//! | `report` | table and JSON |

mod filters;
mod mails;
mod protocol;
mod report;
mod sessions;

use std::io;
use std::time::Duration;

use indicatif::ProgressBar;
use oarlock::Accelerator;
use tempfile::TempDir;

use self::filters::OwnFilter;
use self::mails::Mails;
pub use self::protocol::{ExternalFilter, FilterAnswer, FilterProtocol, MtaMessage, MtaSession};
use self::report::Row;
use self::sessions::{Measured, Sessions};
use super::args::{MilterArgs, MilterRow};
use super::{BAR, BenchError};
use crate::cores::Cores;
use crate::options::GlobalOptions;
use crate::progress;
use crate::report::print_report;

pub(super) fn run<P: FilterProtocol>(
    global: &GlobalOptions,
    args: &MilterArgs,
    protocol: &P,
    external: Option<&ExternalFilter>,
) -> Result<(), BenchError> {
    args.check()?;
    let cores = Cores::divide();
    let acceptor = {
        // The thread of the filter stays on the core that it is started on.
        let _there = cores.visit();
        protocol.start_acceptor()
    };
    let (acceptor_address, _acceptor) =
        acceptor.map_err(|error| BenchError::Clients(io::Error::other(error)))?;
    cores.leave();
    let place =
        tempfile::tempdir().map_err(|error| BenchError::File { path: std::env::temp_dir(), error })?;
    let accelerator = global.builder().build().map_err(BenchError::Engines)?;
    let rows = args.rows();
    let turns = rows.len() * args.sessions.len() * args.turns as usize;
    let bench = Bench {
        global,
        args,
        cores: &cores,
        place: &place,
        accelerator: &accelerator,
        protocol,
        external,
        acceptor_address: &acceptor_address,
        bar: &progress::bar(turns as u64, BAR),
    };
    let mut measured = Vec::new();
    let done = rows.into_iter().try_for_each(|row| bench.row(row).map(|own| measured.extend(own)));
    bench.bar.finish_and_clear();
    // What was measured before a failure stands.
    if !measured.is_empty() {
        print_report(global.json, &measured, |in_colour| report::to_text(args, &measured, in_colour))?;
    }
    done
}

/// What all rows share.
struct Bench<'a, P> {
    global: &'a GlobalOptions,
    args: &'a MilterArgs,
    cores: &'a Cores,
    place: &'a TempDir,
    accelerator: &'a Accelerator,
    protocol: &'a P,
    external: Option<&'a ExternalFilter>,
    acceptor_address: &'a str,
    bar: &'a ProgressBar,
}

impl<P: FilterProtocol> Bench<'_, P> {
    /// One filter, at each number of sessions.
    fn row(&self, row: MilterRow) -> Result<Vec<Row>, BenchError> {
        self.bar.set_message(format!("{row}: starting"));
        let mails = Mails::new(row, self.args.messages, self.args.sizes, self.accelerator)?;
        let own = match (self.external, row) {
            (Some(_), _) | (None, MilterRow::Accept) => None,
            (None, _) => Some(OwnFilter::start(self.global, self.place.path(), row, &mails, self.cores)?),
        };
        let (address, process) = match (self.external, &own) {
            (Some(external), _) => (external.address.as_str(), external.process),
            (None, Some(own)) => (own.address.as_str(), Some(own.process())),
            (None, None) => (self.acceptor_address, None),
        };
        let mut rows = Vec::new();
        for &sessions in &self.args.sessions {
            let mut turns = Vec::new();
            for _ in 0..self.args.turns {
                self.bar.set_message(format!("{row} at {sessions}"));
                // Beside it in every turn: what MTA, sockets and sessions take themselves.
                let base = match row {
                    MilterRow::Accept => None,
                    _ => Some(self.turn(self.acceptor_address, None, sessions, &mails.unanswered())?),
                };
                turns.push((self.turn(address, process, sessions, &mails)?, base));
                self.bar.inc(1);
            }
            rows.push(Row::new(row, sessions, self.args, &turns));
        }
        Ok(rows)
    }

    fn turn(
        &self,
        address: &str,
        process: Option<u32>,
        sessions: usize,
        mails: &Mails,
    ) -> Result<Measured, BenchError> {
        Sessions { protocol: self.protocol, address, process, count: sessions }
            .measure(mails, Duration::from_secs_f64(self.args.seconds))
    }
}
