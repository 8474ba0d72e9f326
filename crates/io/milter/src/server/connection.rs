//! One connection: its session gets the frames, and the replies are written at once.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use oarlock_network::{DrainWatch, HandshakeSlot, IdleTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, interval_at, timeout};

use super::{MilterStream, ServerContext};
use crate::counters::{MilterCounters, count};
use crate::protocol::{EncodeError, FilterReply, MilterDecoder, ProtocolError};
use crate::session::{FilterFactory, FilterVerdict, MilterSession, MtaSocket, NextStep, SessionError};

/// The reason why a connection ended.
#[derive(Debug)]
pub(super) enum ConnectionEnd {
    /// The MTA ended the connection.
    Done,
    /// A newer connection has taken its place before it sent anything.
    Evicted,
    /// The MTA sent or read nothing for too long.
    Silent,
    Lost(io::Error),
    Protocol(ProtocolError),
    Filter(SessionError),
}

pub(super) struct MilterConnection<S, F: FilterFactory> {
    writer: FrameWriter<S>,
    decoder: MilterDecoder,
    session: MilterSession<F>,
    idle: IdleTimer,
    progress: Duration,
    drain: DrainWatch,
    /// The place among the silent connections, until the first bytes.
    silent: Option<HandshakeSlot>,
}

/// The writing half of a connection.
struct FrameWriter<S> {
    stream: S,
    counters: Arc<MilterCounters>,
    out: Vec<u8>,
    patience: Duration,
}

impl<S: MilterStream, F: FilterFactory> MilterConnection<S, F> {
    pub(super) fn new(stream: S, socket: MtaSocket, shared: &ServerContext<F>, slot: HandshakeSlot) -> Self {
        let (counters, settings) = (&shared.counters, &shared.settings);
        let patience = settings.max_idle;
        Self {
            writer: FrameWriter { stream, counters: Arc::clone(counters), out: Vec::new(), patience },
            decoder: MilterDecoder::new(settings.max_frame_bytes),
            session: MilterSession::new(Arc::clone(&shared.filters), Arc::clone(counters), socket),
            idle: IdleTimer::new(patience),
            progress: settings.progress_interval.max(Duration::from_millis(1)),
            drain: shared.drain.clone(),
            silent: Some(slot),
        }
    }

    /// Runs the connection to its end.
    pub(super) async fn run(mut self) -> ConnectionEnd {
        let end = match self.converse().await {
            Ok(()) => ConnectionEnd::Done,
            Err(end) => end,
        };
        // The filter must drop a message in progress, however the connection ended.
        self.session.lost();
        end
    }

    async fn converse(&mut self) -> Result<(), ConnectionEnd> {
        loop {
            if self.handle_frames().await? {
                return self.writer.flush().await;
            }
            self.writer.flush().await?;
            if !self.read().await? {
                return Ok(());
            }
        }
    }

    /// Passes every complete frame to the session. Returns true if the MTA has ended the connection.
    async fn handle_frames(&mut self) -> Result<bool, ConnectionEnd> {
        while let Some(frame) = self.decoder.next_frame().map_err(ConnectionEnd::Protocol)? {
            match self.session.handle(frame, &mut self.writer.out)? {
                NextStep::Read => {}
                NextStep::Close => return Ok(true),
                NextStep::Conclude => {
                    // Earlier replies must not wait for the filter's work.
                    self.writer.flush().await?;
                    let verdict = self.conclude().await?;
                    self.session.deliver(&verdict, &mut self.writer.out)?;
                    self.writer.flush().await?;
                }
            }
        }
        Ok(false)
    }

    /// Waits for the filter's verdict and sends progress replies meanwhile.
    async fn conclude(&mut self) -> Result<FilterVerdict, ConnectionEnd> {
        let mut ticks = interval_at(Instant::now() + self.progress, self.progress);
        let mut verdict = pin!(self.session.conclude());
        loop {
            tokio::select! {
                biased;
                verdict = &mut verdict => return Ok(verdict),
                _ = ticks.tick() => {
                    count(&self.writer.counters.progress, 1);
                    FilterReply::Progress.encode(&mut self.writer.out)?;
                    self.writer.flush().await?;
                }
            }
        }
    }

    /// Reads the next bytes. Returns false if the server stops and no message is in progress.
    async fn read(&mut self) -> Result<bool, ConnectionEnd> {
        self.idle.renew();
        let is_between = self.session.is_between_messages();
        let read = tokio::select! {
            biased;
            read = self.writer.stream.read(self.decoder.space()) => read.map_err(ConnectionEnd::Lost)?,
            // Received bytes come first, so that a command that has arrived is answered before the server closes.
            () = self.drain.thrown(), if is_between => return Ok(false),
            () = self.idle.expired() => return Err(ConnectionEnd::Silent),
        };
        if read == 0 {
            return Err(ConnectionEnd::Lost(io::ErrorKind::UnexpectedEof.into()));
        }
        self.silent = None;
        count(&self.writer.counters.received_bytes, read);
        self.decoder.filled(read);
        Ok(true)
    }
}

impl<S: MilterStream> FrameWriter<S> {
    /// Writes all pending bytes at once.
    async fn flush(&mut self) -> Result<(), ConnectionEnd> {
        if self.out.is_empty() {
            return Ok(());
        }
        let written = timeout(self.patience, self.stream.write_all(&self.out)).await;
        written.map_err(|_| ConnectionEnd::Silent)?.map_err(ConnectionEnd::Lost)?;
        count(&self.counters.sent_bytes, self.out.len());
        self.out.clear();
        Ok(())
    }
}

impl From<SessionError> for ConnectionEnd {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Protocol(error) => Self::Protocol(error),
            filter => Self::Filter(filter),
        }
    }
}

impl From<EncodeError> for ConnectionEnd {
    fn from(error: EncodeError) -> Self {
        Self::Filter(error.into())
    }
}
