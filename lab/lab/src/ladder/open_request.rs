//! Step 7i: a request that stays open, through shared memory.
//!
//! The host appends operations to a ring and does not wait for each message. The card computes whatever is there at
//! each of its turns as one batch. The paper proposes this in section 4.1.1 to remove the cost per batch.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use bytes::BytesMut;
use oarlock::batch::BatchOutcome;
use oarlock::table::KeyTable;
use oarlock::{Accelerator, Direction, KeySource, Status};
use oarlock_shared_memory::{RingError, RingPair, RingReader, RingSizes, RingWriter};
use oarlock_wire::append::{AppendLayout, AppendSizes, RecordAppender};
use oarlock_wire::proto::{AppendRecords, IvRule, OpenRecords, RecordResults};
use oarlock_wire::{Message, MessageLimits, WireError, task};

use super::LadderError;
use super::measure::{LadderClock, LadderContender};
use super::workload::{KeyRing, Workload};

/// The number of operations that may be under way when a turn ends. It bounds what a turn leaves to the next one.
const MAX_UNDER_WAY: usize = 1024;

/// The maximum number of operations in one append.
const MAX_APPENDED: usize = 16_384;

/// The bytes of each ring: two of the longest appends fit.
const RING_BYTES: usize = 4 << 20;

/// The host's side: it appends the operations of its workload again and again.
#[derive(Debug)]
pub(super) struct OpenRequestHost {
    requests: RingWriter,
    answers: RingReader,
    socket: UnixStream,
    card: Option<JoinHandle<Result<(), LadderError>>>,
    /// The encoded appends of a batch, with their numbers of operations.
    appends: Vec<(Vec<u8>, usize)>,
    operations: usize,
    under_way: usize,
    /// The outputs since the last whole batch, and those of that batch.
    partial: Vec<u8>,
    results: Vec<u8>,
    output_len: usize,
    received: BytesMut,
}

/// The card's side.
struct OpenRequestCard {
    requests: RingReader,
    answers: RingWriter,
    socket: UnixStream,
    layout: AppendLayout,
    accelerator: Accelerator,
    table: KeyTable,
}

impl OpenRequestHost {
    /// Starts a card and opens a request at it.
    ///
    /// # Errors
    /// Memory, a socket or a thread cannot be made.
    pub(super) fn new(
        ring: &KeyRing,
        accelerator: &Accelerator,
        table: &KeyTable,
        workload: &Workload,
    ) -> Result<Self, LadderError> {
        let tasks = [Direction::Encrypt, Direction::Decrypt].map(|direction| ring.task(direction));
        let tasks = tasks.into_iter().map(task::write).collect::<Result<_, _>>().map_err(wire)?;
        let open = OpenRecords { tasks, iv_rule: IvRule::IvGiven.into(), aad_len: 0 };
        let layout = AppendLayout::read(&open, &MessageLimits::default()).map_err(wire)?;
        let appends = appends(&layout, workload)?;
        let sizes = RingSizes { requests: RING_BYTES, answers: RING_BYTES };
        let pair = RingPair::create(sizes).map_err(shared_memory)?;
        let file = pair.file().try_clone_to_owned()?;
        let (requests, answers) = RingPair::open(file, sizes).map_err(shared_memory)?.into_client();
        let (card_requests, card_answers) = pair.into_server();
        let (socket, other) = UnixStream::pair()?;
        let card = OpenRequestCard {
            requests: card_requests,
            answers: card_answers,
            socket: other,
            layout,
            accelerator: accelerator.clone(),
            table: table.clone(),
        };
        let card = std::thread::Builder::new().name("ladder-card".into()).spawn(move || card.serve())?;
        Ok(Self {
            requests,
            answers,
            socket,
            card: Some(card),
            appends,
            operations: workload.ops.len(),
            under_way: 0,
            partial: Vec::new(),
            results: Vec::new(),
            output_len: workload.expected.len(),
            received: BytesMut::new(),
        })
    }

    /// Takes the results that have come. Waits for some if `must_wait`.
    fn take(&mut self, must_wait: bool) -> Result<(), LadderError> {
        let mut must_wait = must_wait;
        loop {
            self.received.clear();
            if self.answers.read(&mut self.received).map_err(shared_memory)?.is_some() {
                must_wait = false;
                self.keep()?;
            } else if !must_wait {
                return Ok(());
            } else if self.answers.sleep().map_err(shared_memory)? {
                wait(&mut self.socket).and_then(|is_open| if is_open { Ok(()) } else { Err(gone()) })?;
            }
        }
    }

    fn keep(&mut self) -> Result<(), LadderError> {
        let results = RecordResults::decode(&*self.received).map_err(|error| wire(error.into()))?;
        if !results.codes.is_empty() {
            return Err(LadderError::Refused {
                record: results.first as usize,
                status: Status::EngineFailed,
            });
        }
        self.under_way = self.under_way.saturating_sub(results.count as usize);
        self.partial.extend_from_slice(&results.output);
        while self.partial.len() >= self.output_len.max(1) {
            self.results.clear();
            self.results.extend(self.partial.drain(..self.output_len));
        }
        Ok(())
    }
}

impl LadderContender for OpenRequestHost {
    fn run(&mut self) -> Result<(), LadderError> {
        for at in 0..self.appends.len() {
            while !self.requests.write(&self.appends[at].0).map_err(shared_memory)? {
                self.take(true)?;
            }
            self.under_way += self.appends[at].1;
            if self.requests.take_sleeper() {
                self.socket.write_all(&[0])?;
            }
            self.take(false)?;
        }
        // The first batch must be whole, for its results are compared.
        let max = if self.results.is_empty() { 0 } else { MAX_UNDER_WAY.saturating_sub(self.operations) };
        while self.under_way > max {
            self.take(true)?;
        }
        Ok(())
    }

    fn results(&self) -> &[u8] {
        &self.results
    }

    fn clock(&self) -> LadderClock {
        LadderClock::Wall
    }
}

/// Ends the card with the host.
impl Drop for OpenRequestHost {
    fn drop(&mut self) {
        // If the socket is closed already, the card has ended or is about to end.
        self.socket.shutdown(Shutdown::Both).ok();
        if let Some(card) = self.card.take() {
            card.join().ok();
        }
    }
}

impl OpenRequestCard {
    /// Computes what is there until the host ends.
    fn serve(mut self) -> Result<(), LadderError> {
        let limits = MessageLimits::default();
        let (mut outcome, mut received) = (BatchOutcome::default(), BytesMut::new());
        let (mut first, mut messages) = (0_u64, Vec::new());
        loop {
            let mut sizes = AppendSizes::default();
            messages.clear();
            // What has been read is one batch, whatever the number of its appends.
            while sizes.records < MAX_APPENDED
                && self.requests.read(&mut received).map_err(shared_memory)?.is_some()
            {
                let message = received.split().freeze();
                let message = AppendRecords::decode(message).map_err(|error| wire(error.into()))?;
                sizes = sizes.with(self.layout.check(&message, &limits).map_err(wire)?);
                messages.push(message);
            }
            if messages.is_empty() {
                if self.requests.sleep().map_err(shared_memory)? && !wait(&mut self.socket)? {
                    return Ok(());
                }
                continue;
            }
            let merged = self.layout.merge(&messages);
            let batch = self.layout.batch(&merged, &[], KeySource::Table).map_err(wire)?;
            self.accelerator.run_batch_into(&self.table, &batch, &mut outcome)?;
            let mut results = oarlock_wire::records::write_outcome(&outcome, |_, _| Default::default());
            (results.first, results.count) = (first, sizes.records as u32);
            first += sizes.records as u64;
            self.answer(&results)?;
        }
    }

    fn answer(&mut self, results: &RecordResults) -> Result<(), LadderError> {
        let len = results.encoded_len();
        while !self.answers.encode(len, |frame| results.encode_raw(frame)).map_err(shared_memory)? {
            // The host reads whenever it waits, so there will be space.
            std::thread::yield_now();
        }
        if self.answers.take_sleeper() {
            self.socket.write_all(&[0])?;
        }
        Ok(())
    }
}

/// Waits for a wake-up. Returns false if the other side has ended.
fn wait(socket: &mut UnixStream) -> Result<bool, LadderError> {
    let mut bytes = [0; 64];
    loop {
        match socket.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return Ok(read? > 0),
        }
    }
}

/// Returns the encoded appends of a workload, with their numbers of operations.
fn appends(layout: &AppendLayout, workload: &Workload) -> Result<Vec<(Vec<u8>, usize)>, LadderError> {
    let mut appender = RecordAppender::new(layout.clone());
    let mut appends = Vec::new();
    for part in workload.ops.chunks(MAX_APPENDED) {
        for op in part {
            let bytes = |span: oarlock::Span| &workload.data[span.range()];
            let task = u8::from(op.direction == Direction::Decrypt);
            appender.add(task, op.key, bytes(op.iv), &[], bytes(op.input)).map_err(wire)?;
        }
        if let Some(append) = appender.take() {
            appends.push((append.encode_to_vec(), part.len()));
        }
    }
    Ok(appends)
}

fn wire(error: WireError) -> LadderError {
    LadderError::Peer { reason: error.to_string() }
}

fn shared_memory(error: RingError) -> LadderError {
    LadderError::Peer { reason: error.to_string() }
}

fn gone() -> LadderError {
    LadderError::Peer { reason: "it has gone".into() }
}
