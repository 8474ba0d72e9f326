//! One question and its answer.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use oarlock::SecretBytes;
use zeroize::Zeroize;

use super::channel::{AskError, AwaitedIds, PoolChannel, PoolQuestion};
use super::socket::PoolSocket;
use super::{PoolError, PoolInner};
use crate::proto::{Fault, KeyInfo, Response, Results, response};
use crate::{WireError, jobs};

/// A question that has been asked.
#[derive(Debug)]
pub(super) struct PoolExchange {
    pub(super) pool: Arc<PoolInner>,
    pub(super) question: PoolQuestion,
    /// None when the answer has been taken, or there will be none.
    channel: Option<PoolChannel>,
    pub(super) socket: PoolSocket,
    /// A connection that turned out to be dead. It stays open, so that its descriptor is nobody else's while somebody polls it.
    dead: Option<PoolSocket>,
    awaited: AwaitedIds,
    /// Why the key was not opened.
    unopened: Option<Fault>,
    reply: Option<Result<PoolReply, Fault>>,
    pub(super) until: Instant,
    /// The connection was idle before, so that its server may have left meanwhile.
    may_ask_again: bool,
    process: u32,
}

#[derive(Debug)]
pub(super) enum PoolReply {
    Output(SecretBytes),
    Info(KeyInfo),
}

impl PoolExchange {
    /// Asks, on an idle connection or a new one.
    pub(super) fn begin(pool: &Arc<PoolInner>, question: PoolQuestion) -> Result<Self, PoolError> {
        let until = pool.config.until();
        let idle = pool.take(&question);
        let was_idle = idle.is_some();
        let channel = idle.map_or_else(|| PoolChannel::open(&pool.config, until), Ok)?;
        match asked(channel, &question, until) {
            Ok(channel) => Ok(Self::over(pool, question, channel, until, was_idle)),
            Err(AskError::Io(error)) if was_idle && error.kind() != io::ErrorKind::TimedOut => {
                let channel = PoolChannel::open(&pool.config, until)?;
                let channel = asked(channel, &question, until).map_err(|error| pool.lost(error, 0))?;
                Ok(Self::over(pool, question, channel, until, false))
            }
            Err(error) => Err(pool.lost(error, 0)),
        }
    }

    fn over(
        pool: &Arc<PoolInner>,
        question: PoolQuestion,
        (channel, awaited): (PoolChannel, AwaitedIds),
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
            process: std::process::id(),
        }
    }

    /// The reply, where it is there.
    pub(super) fn try_take(&mut self) -> Result<Option<PoolReply>, PoolError> {
        if self.process != std::process::id() {
            return Err(PoolError::Forked);
        }
        let taken = self.advance();
        if taken.is_err() {
            // What may still come on it would be taken for an answer to something else.
            self.channel = None;
        }
        taken
    }

    fn advance(&mut self) -> Result<Option<PoolReply>, PoolError> {
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
            match channel.read() {
                Ok(Some(1..)) => {}
                Ok(None) if Instant::now() < self.until => return Ok(None),
                Ok(None) => return Err(self.pool.config.impatient()),
                Ok(Some(0)) => self.ask_again(io::ErrorKind::UnexpectedEof.into())?,
                Err(error) => self.ask_again(error)?,
            }
        }
    }

    fn accept(&mut self, response: Response) -> Result<(), PoolError> {
        if response.id == 0 && self.may_ask_again {
            // A server that was leaving has said so.
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

    /// All is there: the connection is idle again.
    fn finish(&mut self) -> Result<PoolReply, PoolError> {
        let Some(mut channel) = self.channel.take() else { return Err(PoolError::Taken) };
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

    /// Asks once more on a new connection, where not a byte of the answer has come on one that had been idle.
    fn ask_again(&mut self, error: io::Error) -> Result<(), PoolError> {
        let received = self.channel.as_ref().map_or(0, PoolChannel::received);
        if !self.may_ask_again || received > 0 {
            return Err(self.pool.lost(AskError::Io(error), received));
        }
        self.may_ask_again = false;
        let channel = PoolChannel::open(&self.pool.config, self.until)?;
        let asked = asked(channel, &self.question, self.until);
        let (channel, awaited) = asked.map_err(|error| self.pool.lost(error, 0))?;
        self.dead = Some(std::mem::replace(&mut self.socket, channel.socket.clone()));
        (self.channel, self.awaited) = (Some(channel), awaited);
        Ok(())
    }
}

fn asked(
    mut channel: PoolChannel,
    question: &PoolQuestion,
    until: Instant,
) -> Result<(PoolChannel, AwaitedIds), AskError> {
    let awaited = channel.ask(question, until)?;
    Ok((channel, awaited))
}

/// The one output, or why there is none.
fn output(mut results: Results) -> Result<Result<PoolReply, Fault>, WireError> {
    let columns = jobs::ResultColumns::read(&results, 1)?;
    let first = columns.iter("the server").next();
    let output = match first {
        Some(Ok(output)) => Ok(PoolReply::Output(SecretBytes::from(output))),
        Some(Err(error)) => {
            let plain = crate::fault::fault_of(0, &error);
            Err(results.faults.pop().unwrap_or(plain))
        }
        None => return Err(WireError::Missing { what: "the result" }),
    };
    // What was decrypted stays nowhere else.
    if let Ok(mut outputs) = std::mem::take(&mut results.outputs).try_into_mut() {
        outputs.as_mut().zeroize();
    }
    Ok(output)
}
