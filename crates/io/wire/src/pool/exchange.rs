//! The exchange of one question and its answer.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use oarlock::SecretBytes;
use oarlock::process::ProcessMark;
use zeroize::Zeroize;

use super::channel::{AskError, AwaitedIds, PoolChannel, PoolQuestion};
use super::socket::PoolSocket;
use super::{PoolError, PoolInner};
use crate::proto::{Fault, KeyInfo, Response, Results, response};
use crate::{WireError, jobs};

/// A question that has been sent.
#[derive(Debug)]
pub(super) struct PoolExchange {
    pub(super) pool: Arc<PoolInner>,
    pub(super) question: PoolQuestion,
    /// The connection; `None` after the answer or an error.
    channel: Option<Box<PoolChannel>>,
    pub(super) socket: PoolSocket,
    /// The socket of a dead connection. It stays open, so that its descriptor is not reused while the caller still
    /// polls it.
    dead: Option<PoolSocket>,
    awaited: AwaitedIds,
    /// The fault of a key that was not opened.
    unopened: Option<Fault>,
    reply: Option<Result<PoolReply, Fault>>,
    pub(super) until: Instant,
    /// True if the connection was idle before, so the server may have closed it meanwhile.
    may_ask_again: bool,
    process: ProcessMark,
}

#[derive(Debug)]
pub(super) enum PoolReply {
    /// The output of a job, and the server's CPU time for it.
    Output(SecretBytes, Duration),
    Info(KeyInfo),
}

impl PoolExchange {
    /// Sends a question on an idle connection or a new one.
    pub(super) fn begin(pool: &Arc<PoolInner>, question: PoolQuestion) -> Result<Self, PoolError> {
        let until = pool.config.until();
        let idle = pool.take(&question);
        let was_idle = idle.is_some();
        let channel = idle.map_or_else(|| PoolChannel::open(&pool.config, until), Ok)?;
        match ask_on(channel, &question, until) {
            Ok(channel) => Ok(Self::over(pool, question, channel, until, was_idle)),
            // A write to a connection that the server has closed fails. A new connection gets one try, unless the time
            // is over.
            Err(AskError::Io(error)) if was_idle && error.kind() != io::ErrorKind::TimedOut => {
                let channel = PoolChannel::open(&pool.config, until)?;
                let channel = ask_on(channel, &question, until).map_err(|error| pool.lost(error, 0))?;
                Ok(Self::over(pool, question, channel, until, false))
            }
            Err(error) => Err(pool.lost(error, 0)),
        }
    }

    fn over(
        pool: &Arc<PoolInner>,
        question: PoolQuestion,
        (channel, awaited): (Box<PoolChannel>, AwaitedIds),
        until: Instant,
        may_ask_again: bool,
    ) -> Self {
        Self {
            pool: Arc::clone(pool),
            question,
            socket: channel.socket.clone(),
            channel: Some(channel),
            dead: None,
            awaited,
            unopened: None,
            reply: None,
            until,
            may_ask_again,
            process: ProcessMark::counted(),
        }
    }

    /// Returns the reply, or `None` if it has not come yet.
    pub(super) fn try_take(&mut self) -> Result<Option<PoolReply>, PoolError> {
        if self.process != ProcessMark::counted() {
            return Err(PoolError::Forked);
        }
        let taken = self.advance();
        if taken.is_err() {
            // A late answer on this connection could be taken for the answer to another question.
            self.channel = None;
        }
        taken
    }

    fn advance(&mut self) -> Result<Option<PoolReply>, PoolError> {
        // The end of the connection, which counts only after a last look at the ring: a server that ends may have
        // answered between the look at the ring and that at the socket.
        let mut end: Option<io::Error> = None;
        loop {
            let channel = self.channel.as_mut().ok_or(PoolError::Taken)?;
            let next = channel.next().map_err(|error| PoolError::malformed(&self.pool.config.path, error))?;
            if let Some(response) = next {
                self.accept(response)?;
                if self.reply.is_some() && self.awaited.opening.is_none() {
                    return self.finish().map(Some);
                }
                continue;
            }
            if let Some(error) = end.take() {
                self.ask_again(error)?;
                continue;
            }
            match channel.read() {
                Ok(Some(1..)) => {}
                Ok(None) if Instant::now() < self.until => {
                    let path = &self.pool.config.path;
                    if channel.may_wait().map_err(|error| PoolError::malformed(path, error))? {
                        return Ok(None);
                    }
                }
                Ok(None) => return Err(self.pool.config.impatient()),
                Ok(Some(0)) => end = Some(io::ErrorKind::UnexpectedEof.into()),
                Err(error) => end = Some(error),
            }
        }
    }

    fn accept(&mut self, response: Response) -> Result<(), PoolError> {
        if response.id == 0 && self.may_ask_again {
            // The server announced its end before it read the question, so asking again does no work twice.
            return self.ask_again(io::ErrorKind::ConnectionAborted.into());
        }
        self.may_ask_again = false;
        let path = &self.pool.config.path;
        let unexpected =
            || PoolError::malformed(path, WireError::Missing { what: "the answer to the request" });
        match (response.id, response.body) {
            (0, Some(response::Body::Fault(fault))) => {
                return Err(PoolError::refused(&fault, &self.question.name()));
            }
            // The server answers in any order, so the opening may be answered after the job.
            (id, body) if Some(id) == self.awaited.opening => {
                self.awaited.opening = None;
                match body {
                    Some(response::Body::Key(_)) => {}
                    Some(response::Body::Fault(fault)) => self.unopened = Some(fault),
                    _ => return Err(unexpected()),
                }
            }
            (id, Some(body)) if id == self.awaited.answer && self.reply.is_none() => {
                self.reply = Some(match (body, &self.question) {
                    (response::Body::Fault(fault), _) => Err(fault),
                    (response::Body::Key(info), PoolQuestion::Info(_)) => Ok(PoolReply::Info(info)),
                    (response::Body::Results(results), PoolQuestion::Job { .. }) => {
                        output(results).map_err(|error| PoolError::malformed(path, error))?
                    }
                    _ => return Err(unexpected()),
                });
            }
            _ => return Err(unexpected()),
        }
        Ok(())
    }

    /// Returns the complete reply, and puts the connection back among the idle ones.
    fn finish(&mut self) -> Result<PoolReply, PoolError> {
        let Some(mut channel) = self.channel.take() else { return Err(PoolError::Taken) };
        // The handle is marked unused, so that the next question opens its key again.
        if self.unopened.is_some() {
            channel.forget(self.awaited.handle);
        }
        self.pool.put_back(channel);
        let refused = |fault: Fault| PoolError::refused(&fault, &self.question.name());
        match (self.unopened.take(), self.reply.take()) {
            (Some(fault), _) | (None, Some(Err(fault))) => Err(refused(fault)),
            (None, Some(Ok(reply))) => Ok(reply),
            (None, None) => Err(PoolError::Taken),
        }
    }

    /// Asks once more on a new connection, if the connection had been idle and no byte of the answer has arrived.
    fn ask_again(&mut self, error: io::Error) -> Result<(), PoolError> {
        let received = self.channel.as_ref().map_or(0, |channel| channel.received());
        if !self.may_ask_again || received > 0 {
            return Err(self.pool.lost(AskError::Io(error), received));
        }
        self.may_ask_again = false;
        let channel = PoolChannel::open(&self.pool.config, self.until)?;
        let ask_on = ask_on(channel, &self.question, self.until);
        let (channel, awaited) = ask_on.map_err(|error| self.pool.lost(error, 0))?;
        // Replaced, not closed: the caller polls the descriptor until it asks for the new one.
        self.dead = Some(std::mem::replace(&mut self.socket, channel.socket.clone()));
        (self.channel, self.awaited) = (Some(channel), awaited);
        Ok(())
    }
}

fn ask_on(
    mut channel: Box<PoolChannel>,
    question: &PoolQuestion,
    until: Instant,
) -> Result<(Box<PoolChannel>, AwaitedIds), AskError> {
    let awaited = channel.ask(question, until)?;
    Ok((channel, awaited))
}

/// Returns the output of the job, or its fault.
fn output(mut results: Results) -> Result<Result<PoolReply, Fault>, WireError> {
    let cpu_time = Duration::from_micros(results.cpu_us.into());
    let columns = jobs::ResultColumns::read(&results, 1)?;
    let first = columns.iter("the server").next();
    let output = match first {
        Some(Ok(output)) => Ok(PoolReply::Output(SecretBytes::from(output), cpu_time)),
        Some(Err(error)) => {
            let without_reason = crate::fault::fault_of(0, &error);
            Err(results.faults.pop().unwrap_or(without_reason))
        }
        None => return Err(WireError::Missing { what: "the result" }),
    };
    // The output may be a plaintext: no other copy stays in memory.
    if let Ok(mut outputs) = std::mem::take(&mut results.outputs).try_into_mut() {
        outputs.as_mut().zeroize();
    }
    Ok(output)
}
