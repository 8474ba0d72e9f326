//! Traffic from files.

use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use oarlock_capacity::capture::{self, CaptureError, CaptureEvent, CaptureFormat, ResolverSide, SkipCounts};
use oarlock_capacity::{Traffic, TrafficLimits};
use oarlock_io::compressed::{self, ConsumedBytes, DecompressedInput};

use super::CapacityError;
use super::args::{SideArg, TrafficArgs, Transport};
use crate::options::GlobalOptions;
use crate::progress::bar;

/// Events between two looks at how far a file is read.
const EVENTS_PER_TICK: u64 = 1024;

/// What was observed, input by input and altogether.
pub(super) struct Observed {
    pub(super) traffic: Traffic,
    pub(super) inputs: Vec<Source>,
    side: SideArg,
    transport: Transport,
    /// Messages of the other transport, or another side.
    pub(super) left_out: u64,
    /// Sides of which there were messages, by dnstap's word.
    pub(super) has_clients: bool,
    pub(super) has_upstream: bool,
}

/// An input, and how reading it went.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) format: Option<CaptureFormat>,
    pub(super) events: u64,
    pub(super) skipped: SkipCounts,
    pub(super) fault: Option<CaptureError>,
}

impl Default for Observed {
    fn default() -> Self {
        Self::new(SideArg::All, Transport::All)
    }
}

impl Observed {
    pub(super) fn of(args: &TrafficArgs) -> Self {
        Self::new(args.side, args.transport)
    }

    fn new(side: SideArg, transport: Transport) -> Self {
        let traffic = Traffic::new(TrafficLimits::default());
        Self {
            traffic,
            inputs: Vec::new(),
            side,
            transport,
            left_out: 0,
            has_clients: false,
            has_upstream: false,
        }
    }

    /// Reads files one after the other. What one lacks does not hinder the others.
    pub(super) fn read_files(&mut self, paths: &[PathBuf]) -> Result<(), CapacityError> {
        let inputs = paths.iter().map(|path| open(path)).collect::<Result<Vec<_>, _>>()?;
        let bytes = inputs.iter().filter_map(DecompressedInput::len_bytes).sum();
        let bar = bar(bytes, "{bar:20} {percent:>3} % {wide_msg}");
        let mut before = 0;
        for (path, input) in paths.iter().zip(inputs) {
            before += self.read(path, input, &bar, before);
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// The bytes of the file that were read.
    fn read(&mut self, path: &Path, input: DecompressedInput, bar: &ProgressBar, before: u64) -> u64 {
        bar.set_message(path.display().to_string());
        let consumed: ConsumedBytes = input.consumed();
        let mut events = 0_u64;
        let report = capture::read(input, &mut |event| {
            self.event(event);
            events += 1;
            if events.is_multiple_of(EVENTS_PER_TICK) {
                bar.set_position(before + consumed.bytes());
            }
        });
        self.traffic.end_input();
        let capture::CaptureReport { format, events, skipped, fault } = report;
        self.inputs.push(Source { path: path.to_owned(), format, events, skipped, fault });
        consumed.bytes()
    }

    pub(super) fn event(&mut self, event: CaptureEvent<'_>) {
        match event {
            CaptureEvent::Query { at_s } => self.traffic.query(at_s),
            CaptureEvent::Message { at_s, side, is_tcp, bytes } => {
                self.has_clients |= side == Some(ResolverSide::Client);
                self.has_upstream |= side == Some(ResolverSide::Upstream);
                match self.side.takes(side) && (side.is_some() || self.transport.takes(is_tcp)) {
                    true => self.traffic.message(at_s, bytes),
                    false => self.left_out += 1,
                }
            }
        }
    }

    /// Says what was wrong with inputs, and what makes their numbers doubtful.
    pub(super) fn tell(&self, global: &GlobalOptions) {
        for source in &self.inputs {
            if let Some(fault) = &source.fault {
                eprintln!(
                    "oarlock: {}: {fault}; {} before that count",
                    source.path.display(),
                    crate::table::count(source.events, "message")
                );
            }
            global.note(|| format!("{}: {:?}", source.path.display(), source.skipped));
        }
        if self.side == SideArg::All && self.has_clients && self.has_upstream {
            eprintln!(
                "oarlock: there is dnstap of both sides of a resolver, and all of it was counted: --side upstream or --side client \
                 tells them apart"
            );
        }
    }

    /// The first input that was not read to its end.
    pub(super) fn first_fault(&self) -> Option<(&Path, String)> {
        let faulty = self.inputs.iter().find_map(|source| Some((source, source.fault.as_ref()?)));
        faulty.map(|(source, fault)| (source.path.as_path(), fault.to_string()))
    }
}

fn open(path: &Path) -> Result<DecompressedInput, CapacityError> {
    compressed::open(path).map_err(|error| CapacityError::Open { path: path.to_owned(), error })
}
