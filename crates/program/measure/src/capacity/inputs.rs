//! Traffic from files.

use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use oarlock_capacity::capture::{self, CaptureError, CaptureEvent, CaptureFormat, ResolverSide, SkipCounts};
use oarlock_capacity::{Traffic, TrafficLimits};
use oarlock_mail_files::compressed::{self, ConsumedBytes, DecompressedInput};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::progress::bar;

use super::CapacityError;
use super::args::{SideFilter, TrafficArgs, TransportFilter};

/// The number of events between two updates of the progress.
const EVENTS_PER_TICK: u64 = 1024;

/// The observed traffic, by input and in total.
pub(super) struct ObservedTraffic {
    pub(super) traffic: Traffic,
    pub(super) inputs: Vec<TrafficSource>,
    side: SideFilter,
    transport: TransportFilter,
    /// The number of messages of the other transport or another side.
    pub(super) left_out: u64,
    /// True if dnstap had messages of clients.
    pub(super) has_clients: bool,
    pub(super) has_upstream: bool,
}

/// An input, and the result of reading it.
pub(super) struct TrafficSource {
    pub(super) path: PathBuf,
    pub(super) format: Option<CaptureFormat>,
    pub(super) events: u64,
    pub(super) skipped: SkipCounts,
    pub(super) fault: Option<CaptureError>,
}

impl Default for ObservedTraffic {
    fn default() -> Self {
        Self::new(SideFilter::All, TransportFilter::All)
    }
}

impl ObservedTraffic {
    pub(super) fn from_args(args: &TrafficArgs) -> Self {
        Self::new(args.side, args.transport)
    }

    fn new(side: SideFilter, transport: TransportFilter) -> Self {
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

    /// Reads files one after the other. A fault in one does not stop the others.
    pub(super) fn read_files(&mut self, paths: &[PathBuf]) -> Result<(), CapacityError> {
        // All are opened before the first is read, so that a wrong path is found at once.
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

    /// Reads a file, and returns the number of its bytes that were read.
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
        self.inputs.push(TrafficSource { path: path.to_owned(), format, events, skipped, fault });
        consumed.bytes()
    }

    pub(super) fn event(&mut self, event: CaptureEvent<'_>) {
        match event {
            CaptureEvent::Query { at_s } => self.traffic.query(at_s),
            CaptureEvent::Message { at_s, side, is_tcp, bytes } => {
                self.has_clients |= side == Some(ResolverSide::Client);
                self.has_upstream |= side == Some(ResolverSide::Upstream);
                // The transport matters only in captures, whose messages have no side.
                match self.side.takes(side) && (side.is_some() || self.transport.takes(is_tcp)) {
                    true => self.traffic.message(at_s, bytes),
                    false => self.left_out += 1,
                }
            }
        }
    }

    /// Warns about faults of inputs, and about mixtures that make their numbers doubtful.
    pub(super) fn warn(&self, global: &GlobalOptions) {
        for source in &self.inputs {
            if let Some(fault) = &source.fault {
                eprintln!(
                    "oarlock: {}: {fault}; {} before that count",
                    source.path.display(),
                    oarlock_terminal::table::count(source.events, "message")
                );
            }
            global.note(|| format!("{}: {:?}", source.path.display(), source.skipped));
        }
        if self.side == SideFilter::All && self.has_clients && self.has_upstream {
            eprintln!(
                "oarlock: dnstap has messages of both sides of a resolver, and all were counted: use --side upstream or --side client \
                 to count one side"
            );
        }
    }

    /// Returns the first input that was not read to its end, with the reason.
    pub(super) fn first_fault(&self) -> Option<(&Path, String)> {
        let faulty = self.inputs.iter().find_map(|source| Some((source, source.fault.as_ref()?)));
        faulty.map(|(source, fault)| (source.path.as_path(), fault.to_string()))
    }
}

fn open(path: &Path) -> Result<DecompressedInput, CapacityError> {
    compressed::open(path).map_err(|error| CapacityError::Open { path: path.to_owned(), error })
}
