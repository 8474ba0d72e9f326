//! The rows, and their turns.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use indicatif::ProgressBar;
use oarlock::Accelerator;
use oarlock_measure::random::SplitMix64;
use oarlock_measure::sockets::SocketSuite;
use oarlock_measure::statistics::median_by;
use oarlock_terminal::{GlobalOptions, progress};

use super::args::{SealMethod, SocketFrames, SocketsBenchArgs};
use super::device;
use super::error::SocketsError;
use super::kernel::{ContentSender, attach_all};
use super::report::SocketsRow;
use super::seal::open_all;
use super::transfer::{
    Arrived, Connections, RecordSender, TransferResult, TransferSizes, send_by_kernel, send_records,
};
use super::user::UserSender;

/// The first bytes of the file, which every way sends before it is measured. What arrives is opened and compared.
const CHECKED: u64 = 200_000;

/// A row before it is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPlan {
    pub(super) way: SealMethod,
    pub(super) suite: SocketSuite,
    pub(super) streams: usize,
    pub(super) sizes: TransferSizes,
}

impl RowPlan {
    /// Returns the bytes of the file that a connection gets.
    fn share_of(&self, stream: usize, file: &[u8]) -> Vec<u8> {
        if self.way == SealMethod::Sendfile {
            return file.chunks(file.len().div_ceil(self.streams)).nth(stream).unwrap_or_default().to_vec();
        }
        let calls = file.chunks(self.sizes.bytes_per_call());
        calls.skip(stream).step_by(self.streams).flatten().copied().collect()
    }
}

/// The outcome of one turn of a row.
#[derive(Debug)]
pub(super) enum WayOutcome {
    Done(WayRun),
    /// The method is unavailable, for this reason.
    Absent(String),
}

/// A turn that was measured.
#[derive(Debug)]
pub(super) struct WayRun {
    pub(super) result: TransferResult,
    pub(super) copied_bytes_per_byte: f64,
    /// The bytes that arrived at each connection.
    pub(super) arrived: Vec<Arrived>,
}

impl WayRun {
    /// Opens what arrived, and compares it with the file.
    pub(super) fn check_contents(
        &self,
        accelerator: &Accelerator,
        plan: &RowPlan,
        file: &SampleFile,
    ) -> Result<(), SocketsError> {
        let failed = |reason| SocketsError::Differs { way: plan.way.name(), reason };
        let whole = file.contents().map_err(|error| failed(error.to_string()))?;
        for (stream, arrived) in self.arrived.iter().enumerate() {
            let contents = match plan.way {
                SealMethod::Plain => arrived.kept.clone(),
                _ => {
                    open_all(accelerator, plan.suite, stream, arrived.kept.clone()).map_err(failed)?.concat()
                }
            };
            if contents != plan.share_of(stream, &whole) {
                return Err(failed(format!("connection {stream} has other bytes")));
            }
        }
        Ok(())
    }

    /// Checks that all bytes arrived. Records are longer than their contents.
    fn check_arrival(&self, plan: &RowPlan, sent: u64) -> Result<(), SocketsError> {
        let arrived = self.arrived.iter().map(|stream| stream.bytes).sum();
        if arrived < sent {
            return Err(SocketsError::Lost { way: plan.way.name(), arrived, sent });
        }
        Ok(())
    }
}

/// The file that is sent.
#[derive(Debug)]
pub(super) struct SampleFile {
    pub(super) file: File,
    pub(super) bytes: u64,
}

impl SampleFile {
    /// Writes a file, so that its pages are in memory.
    pub(super) fn new(bytes: u64) -> Result<Self, SocketsError> {
        let failed = |error| SocketsError::File { bytes, path: std::env::temp_dir(), error };
        Self::write(bytes).map_err(failed)
    }

    /// Returns the whole file.
    pub(super) fn contents(&self) -> io::Result<Vec<u8>> {
        let mut contents = vec![0; self.bytes as usize];
        self.file.read_exact_at(&mut contents, 0)?;
        Ok(contents)
    }

    fn write(bytes: u64) -> io::Result<Self> {
        const PART: u64 = 1 << 20;
        let mut file = tempfile::tempfile()?;
        let part = SplitMix64::new(1).bytes(PART as usize);
        for begins in (0..bytes).step_by(PART as usize) {
            file.write_all(&part[..PART.min(bytes - begins) as usize])?;
        }
        Ok(Self { file, bytes })
    }
}

/// Measures all rows. Ways of the same sizes take turns.
pub(super) fn measure_all(
    global: &GlobalOptions,
    args: &SocketsBenchArgs,
) -> Result<Vec<SocketsRow>, SocketsError> {
    let mut file = SampleFile::new(args.bytes)?;
    // Engines are tested when a suite first needs them: AEADs do not.
    let accelerator = global.builder().lazy().build()?;
    let groups = groups(args);
    let turns = groups.iter().map(Vec::len).sum::<usize>() * usize::from(args.turns);
    let bar = progress::bar(turns as u64, "{msg:30!} {wide_bar} {pos}/{len} turns{left}");
    let mut rows = Vec::new();
    for group in groups {
        rows.extend(measure_group(&accelerator, args, &mut file, &group, &bar)?);
    }
    bar.finish_and_clear();
    for row in rows.iter().filter(|row| !row.available) {
        global.note(|| {
            format!("{} {}: {}", row.way.name(), row.size, row.why_not.as_deref().unwrap_or_default())
        });
    }
    Ok(rows)
}

/// Returns the rows that take turns: the ways of the same suite, connections, frames and size.
fn groups(args: &SocketsBenchArgs) -> Vec<Vec<RowPlan>> {
    let mut groups = Vec::new();
    for suite in &args.suite {
        for streams in &args.streams {
            for frames in &args.frames {
                for records_per_call in &args.records_per_call {
                    for size in &args.sizes {
                        let sizes = TransferSizes {
                            size: *size as usize,
                            frames: *frames,
                            records_per_call: usize::from(*records_per_call),
                        };
                        let plan = |way: &SealMethod| RowPlan {
                            way: *way,
                            suite: *suite,
                            streams: usize::from(*streams),
                            sizes,
                        };
                        groups.push(args.ways.iter().map(plan).collect());
                    }
                }
            }
        }
    }
    groups
}

fn measure_group(
    accelerator: &Accelerator,
    args: &SocketsBenchArgs,
    file: &mut SampleFile,
    group: &[RowPlan],
    bar: &ProgressBar,
) -> Result<Vec<SocketsRow>, SocketsError> {
    let mut sample = SampleFile::new(file.bytes.min(CHECKED))?;
    let mut outcomes: Vec<Result<Vec<WayRun>, String>> = Vec::new();
    for plan in group {
        outcomes.push(match run(accelerator, plan, &mut sample, args, true)? {
            WayOutcome::Done(run) => {
                run.check_contents(accelerator, plan, &sample).map(|()| Ok(Vec::new()))?
            }
            WayOutcome::Absent(reason) => Err(reason),
        });
    }
    for _ in 0..args.turns {
        for (plan, outcome) in group.iter().zip(&mut outcomes) {
            bar.set_message(format!("{} {} {}", plan.way.name(), plan.suite.name(), plan.sizes.size));
            // A way that is absent once is not tried again.
            if let Ok(runs) = outcome {
                match run(accelerator, plan, file, args, false)? {
                    WayOutcome::Done(run) => {
                        run.check_arrival(plan, file.bytes)?;
                        runs.push(run);
                    }
                    WayOutcome::Absent(reason) => *outcome = Err(reason),
                }
            }
            bar.inc(1);
        }
    }
    let row = |(plan, outcome): (&RowPlan, Result<Vec<WayRun>, String>)| match outcome {
        Ok(runs) => match median_by(runs, |run| run.result.cpu_seconds) {
            Some(run) => SocketsRow::measured(plan, file.bytes, &run),
            None => SocketsRow::absent(plan, "it had no turn".to_owned()),
        },
        Err(reason) => SocketsRow::absent(plan, reason),
    };
    Ok(group.iter().zip(outcomes).map(row).collect())
}

/// Runs one turn of a row.
pub(super) fn run(
    accelerator: &Accelerator,
    plan: &RowPlan,
    file: &mut SampleFile,
    args: &SocketsBenchArgs,
    keeps: bool,
) -> Result<WayOutcome, SocketsError> {
    if let Some(reason) = contradiction(plan) {
        return Ok(WayOutcome::Absent(reason.to_owned()));
    }
    let way = plan.way.name();
    let failed = |error| SocketsError::Connection { way, error };
    let connections = Connections::open(plan.streams, keeps).map_err(failed)?;
    let prepared = prepare(accelerator, plan, &connections, args);
    let mut sender = match prepared {
        Ok(sender) => sender,
        Err(reason) => {
            connections.finish().map_err(failed)?;
            return Ok(WayOutcome::Absent(reason));
        }
    };
    let sent = match &mut sender {
        Some(sender) => send_records(&mut file.file, file.bytes, connections, plan.sizes, &mut **sender),
        None => send_by_kernel(&file.file, file.bytes, connections),
    };
    let (result, arrived) = sent.map_err(failed)?;
    let copied_bytes_per_byte = sender.map_or(0.0, |sender| sender.copied_bytes_per_byte());
    Ok(WayOutcome::Done(WayRun { result, copied_bytes_per_byte, arrived }))
}

/// Returns the reason that a way and its sizes exclude each other, if they do.
fn contradiction(plan: &RowPlan) -> Option<&'static str> {
    let is_usual = plan.sizes.frames == SocketFrames::Whole && plan.sizes.records_per_call == 1;
    match (plan.way, plan.sizes) {
        (SealMethod::Sendfile, _) if !is_usual => {
            Some("sendfile has no buffers: the kernel makes records of 16k from the file")
        }
        (_, TransferSizes { frames: SocketFrames::Piecemeal, records_per_call: 2.., .. }) => {
            Some("a record of several buffers is sent alone: use --records-per-call 1 with piecemeal frames")
        }
        _ => None,
    }
}

/// Returns the sender of a way, or None for `sendfile`.
///
/// # Errors
/// The reason that the way is not there.
fn prepare(
    accelerator: &Accelerator,
    plan: &RowPlan,
    connections: &Connections,
    args: &SocketsBenchArgs,
) -> Result<Option<Box<dyn RecordSender>>, String> {
    let contents = || Box::new(ContentSender::new(plan.sizes.frames)) as Box<dyn RecordSender>;
    Ok(match plan.way {
        SealMethod::User => Some(Box::new(UserSender::new(accelerator, plan.suite, plan.streams)?)),
        SealMethod::Device => Some(device::sender(plan.suite, plan.streams, args.device_socket.as_deref())?),
        SealMethod::Kernel => {
            attach_all(connections, plan.suite)?;
            Some(contents())
        }
        SealMethod::Sendfile => {
            attach_all(connections, plan.suite)?;
            None
        }
        SealMethod::Plain => Some(contents()),
    })
}
