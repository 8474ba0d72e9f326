//! One connection: what is read is told to its session, and what that answers is written at once.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use oarlock_io::IdleTimer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::{Instant, interval_at, timeout};

use super::{Shared, Stream, draining};
use crate::counters::{Counters, count};
use crate::protocol::{Decoder, EncodeError, ProtocolError, Reply};
use crate::session::{Filters, MtaSocket, Next, Session, SessionError, Verdict};

/// Why a connection has ended.
#[derive(Debug)]
pub(super) enum End {
    /// As it should.
    Done,
    /// Nothing came, or nothing was taken, for too long.
    Silent,
    Lost(io::Error),
    Protocol(ProtocolError),
    Filter(SessionError),
}

pub(super) struct Connection<S, F: Filters> {
    wire: Wire<S>,
    decoder: Decoder,
    session: Session<F>,
    idle: IdleTimer,
    progress: Duration,
    is_draining: watch::Receiver<bool>,
}

/// The way out.
struct Wire<S> {
    stream: S,
    counters: Arc<Counters>,
    out: Vec<u8>,
    patience: Duration,
}

impl<S: Stream, F: Filters> Connection<S, F> {
    pub(super) fn new(stream: S, socket: MtaSocket, shared: &Shared<F>) -> Self {
        let (counters, settings) = (&shared.counters, &shared.settings);
        let patience = settings.idle;
        Self {
            wire: Wire { stream, counters: Arc::clone(counters), out: Vec::new(), patience },
            decoder: Decoder::new(settings.frame_bytes),
            session: Session::new(Arc::clone(&shared.filters), Arc::clone(counters), socket),
            idle: IdleTimer::new(patience),
            progress: settings.progress.max(Duration::from_millis(1)),
            is_draining: shared.is_draining.clone(),
        }
    }

    /// To its end.
    pub(super) async fn run(mut self) -> End {
        let end = match self.converse().await {
            Ok(()) => End::Done,
            Err(end) => end,
        };
        self.session.lost();
        end
    }

    async fn converse(&mut self) -> Result<(), End> {
        loop {
            if self.hear().await? {
                return self.wire.flush().await;
            }
            self.wire.flush().await?;
            if !self.read().await? {
                return Ok(());
            }
        }
    }

    /// Tells the session of every frame that is here. True where the MTA is done.
    async fn hear(&mut self) -> Result<bool, End> {
        while let Some(frame) = self.decoder.next_frame().map_err(End::Protocol)? {
            match self.session.handle(frame, &mut self.wire.out)? {
                Next::Read => {}
                Next::Close => return Ok(true),
                Next::Conclude => {
                    // Nothing may wait for what takes long.
                    self.wire.flush().await?;
                    let verdict = self.conclude().await?;
                    self.session.deliver(&verdict, &mut self.wire.out)?;
                    self.wire.flush().await?;
                }
            }
        }
        Ok(false)
    }

    /// Waits for what the filter makes of a message, and meanwhile asks the MTA for patience.
    async fn conclude(&mut self) -> Result<Verdict, End> {
        let mut ticks = interval_at(Instant::now() + self.progress, self.progress);
        let mut verdict = pin!(self.session.conclude());
        loop {
            tokio::select! {
                biased;
                verdict = &mut verdict => return Ok(verdict),
                _ = ticks.tick() => {
                    count(&self.wire.counters.progress, 1);
                    Reply::Progress.encode(&mut self.wire.out)?;
                    self.wire.flush().await?;
                }
            }
        }
    }

    /// Reads what comes. False where the connection is to be closed: the MTA has, or the server stops and no message is under way.
    async fn read(&mut self) -> Result<bool, End> {
        self.idle.renew();
        let is_between = self.session.is_between_messages();
        let read = tokio::select! {
            biased;
            read = self.wire.stream.read(self.decoder.space()) => read.map_err(End::Lost)?,
            () = draining(&mut self.is_draining), if is_between => return Ok(false),
            () = self.idle.expired() => return Err(End::Silent),
        };
        if read == 0 {
            return Err(End::Lost(io::ErrorKind::UnexpectedEof.into()));
        }
        count(&self.wire.counters.received_bytes, read);
        self.decoder.filled(read);
        Ok(true)
    }
}

impl<S: Stream> Wire<S> {
    /// Writes all there is at once.
    async fn flush(&mut self) -> Result<(), End> {
        if self.out.is_empty() {
            return Ok(());
        }
        let written = timeout(self.patience, self.stream.write_all(&self.out)).await;
        written.map_err(|_| End::Silent)?.map_err(End::Lost)?;
        count(&self.counters.sent_bytes, self.out.len());
        self.out.clear();
        Ok(())
    }
}

impl From<SessionError> for End {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Protocol(error) => Self::Protocol(error),
            filter => Self::Filter(filter),
        }
    }
}

impl From<EncodeError> for End {
    fn from(error: EncodeError) -> Self {
        Self::Filter(error.into())
    }
}
