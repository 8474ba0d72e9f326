//! A pool of connections to the cryptoserver of this machine, for libraries inside other programs. It needs no runtime
//! and no thread, has no global state, raises no signal, and allows forks.

mod channel;
mod error;
mod exchange;
mod idle;
mod socket;

use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use oarlock::engine_api::OwnedJob;
use oarlock::engine_api::schemes::to_digested;
use oarlock::process::ForkSafeCell;
use oarlock::{Accelerator, Job, Key, Scheme};
use oarlock::{Fingerprint, SecretBytes};

use self::channel::{AskError, OwnedKeySource, PoolChannel, PoolQuestion};
pub use self::error::PoolError;
use self::exchange::{PoolExchange, PoolReply};
use self::idle::IdleChannels;
use crate::check::AnswerCheck;
use crate::proto::KeyInfo;
use crate::{RingUnavailable, ServerUsers};

/// The answer to a job.
#[derive(Debug)]
pub struct PoolAnswer {
    /// The output: a signature, a plaintext or a shared secret.
    pub output: SecretBytes,
    /// About the CPU time that the server spent on the job. Zero from a server that does not tell it.
    pub server_cpu: Duration,
}

/// Settings of a [`ConnectionPool`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// The path of the server's UNIX socket.
    pub path: PathBuf,
    /// The users who may run the server.
    pub users: ServerUsers,
    /// The maximum time of an answer, including the connection.
    pub patience: Duration,
    /// The maximum number of idle connections that are kept.
    pub max_idle: usize,
    /// True if connections ask for shared memory. The variable `OARLOCK_NO_RING`, with another value than `0`, turns it
    /// off.
    pub has_ring: bool,
}

/// The source of the key of a job.
#[derive(Clone, Copy, Debug)]
pub enum JobKeySource<'k> {
    /// The key lives at the server.
    Resident {
        /// The server's name of the key.
        name: &'k str,
        /// The fingerprint that the key must have; `None` for any key.
        fingerprint: Option<Fingerprint>,
    },
    /// The key is local, and is sent to the server once per connection.
    Brought(&'k Key),
    /// The key is local, and only its public half is sent, once per connection. The server can verify with it.
    Public(&'k Key),
}

/// A pool of connections to one server, with one question at a time on each. A clone is the same pool.
///
/// RSA signatures are verified with the public half of the job's key before they are returned, because a faulty
/// signature reveals the key (Boneh, DeMillo, Lipton 1997). Other answers are returned as the server sends them.
///
/// A fork of the process has connections of its own. At its first question it closes the copies of its parent's
/// connections.
#[derive(Clone, Debug)]
pub struct ConnectionPool(Arc<PoolInner>);

#[derive(Debug)]
struct PoolInner {
    config: PoolConfig,
    checker: Accelerator,
    idle: IdleChannels,
    no_ring: ForkSafeCell<RingUnavailable>,
}

/// A job that the server works on. Dropping it closes the connection.
///
/// Its descriptor is readable when the answer may have come. If the server has closed an idle connection,
/// [`try_take`](Self::try_take) connects again and the descriptor changes: get it again after each `Ok(None)`. The
/// former descriptor stays open until this is dropped.
#[derive(Debug)]
pub struct PendingJob(PoolExchange);

impl ConnectionPool {
    /// Returns a pool that connects at its first question. The scalar engine of `checker` verifies answers on the
    /// thread that takes them, which may have a short stack.
    #[must_use]
    pub fn new(config: PoolConfig, checker: Accelerator) -> Self {
        let (idle, no_ring) = (IdleChannels::default(), ForkSafeCell::new());
        Self(Arc::new(PoolInner { config, checker, idle, no_ring }))
    }

    /// Returns the settings.
    #[must_use]
    pub fn config(&self) -> &PoolConfig {
        &self.0.config
    }

    /// Asks the server for a resident key's kind, its public half in DER, and the operations that this process may do
    /// with it.
    ///
    /// # Errors
    /// The server cannot be reached, or has no such key for this process: [`PoolError::Refused`].
    pub fn key_info(&self, name: &str) -> Result<KeyInfo, PoolError> {
        match wait(&mut PoolExchange::begin(&self.0, PoolQuestion::Info(name.to_owned()))?)? {
            PoolReply::Info(info) => Ok(info),
            PoolReply::Output(..) => Err(PoolError::Taken),
        }
    }

    /// Sends a job. Messages are hashed here if the scheme allows it, so that only digests are sent.
    ///
    /// The job's key is the key of the source, or a held key with its public half
    /// ([`held::from_spki`](oarlock::keys::held::from_spki)).
    ///
    /// Waits for a full backlog and for space in the socket, within the patience. Does not wait for the answer.
    ///
    /// # Errors
    /// The server cannot be reached, or the job cannot be sent.
    pub fn start(&self, job: &Job<'_>, source: JobKeySource<'_>) -> Result<PendingJob, PoolError> {
        let job = to_digested(job)?;
        let is_signature = matches!(job.scheme, Scheme::RsaPkcs1Sign { .. } | Scheme::RsaPssSign { .. });
        // An RSA signature must be verified before its release, which needs the public half.
        if is_signature && job.key.rsa_public().is_none() {
            return Err(PoolError::NoPublicKey);
        }
        let source = match source {
            JobKeySource::Resident { name, fingerprint } => {
                OwnedKeySource::Resident { name: name.to_owned(), fingerprint }
            }
            JobKeySource::Brought(key) => OwnedKeySource::Brought(key.clone()),
            JobKeySource::Public(key) => OwnedKeySource::Public(key.clone()),
        };
        PoolExchange::begin(&self.0, PoolQuestion::Job { job, source }).map(PendingJob)
    }

    /// Returns the number of idle connections of this process that have shared memory.
    #[must_use]
    pub fn idle_with_ring(&self) -> usize {
        self.0.idle.lock().iter().filter(|channel| channel.has_ring()).count()
    }

    /// Returns the reason why a connection had no shared memory, the first one if there are several.
    #[must_use]
    pub fn no_ring(&self) -> Option<&RingUnavailable> {
        self.0.no_ring.get()
    }

    /// Returns the number of idle connections of this process.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.0.idle.lock().len()
    }
}

impl PendingJob {
    /// Returns the answer, or `None` if it has not come yet. Does not wait. If the server has closed the connection
    /// since its last use, this connects and asks once more.
    ///
    /// # Errors
    /// There will be no answer. Afterwards, and after the answer was taken, the error is [`PoolError::Taken`].
    pub fn try_take(&mut self) -> Result<Option<PoolAnswer>, PoolError> {
        self.0.try_take()?.map(|reply| self.check_answer(reply)).transpose()
    }

    /// Waits for the answer, within the rest of the patience.
    ///
    /// # Errors
    /// As [`try_take`](Self::try_take).
    pub fn wait(mut self) -> Result<PoolAnswer, PoolError> {
        let reply = wait(&mut self.0)?;
        self.check_answer(reply)
    }

    /// Returns the answer if its signature verifies.
    fn check_answer(&self, reply: PoolReply) -> Result<PoolAnswer, PoolError> {
        let (PoolReply::Output(output, server_cpu), PoolQuestion::Job { job, .. }) =
            (reply, &self.0.question)
        else {
            return Err(PoolError::Taken);
        };
        self.0.pool.check(job, &output)?;
        Ok(PoolAnswer { output, server_cpu })
    }
}

impl AsFd for PendingJob {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.socket.as_fd()
    }
}

fn wait(exchange: &mut PoolExchange) -> Result<PoolReply, PoolError> {
    loop {
        if let Some(reply) = exchange.try_take()? {
            return Ok(reply);
        }
        // The descriptor is readable when the answer has arrived: the server wakes a side that sleeps.
        let waited = exchange.socket.wait_for_answer(exchange.until);
        if !waited.map_err(|error| exchange.pool.lost(AskError::Io(error), 0))? {
            return Err(exchange.pool.config.impatient());
        }
    }
}

/// The maximum patience. A longer one would overflow the clock on some systems.
const MAX_PATIENCE: Duration = Duration::from_secs(365 * 24 * 3600);

impl PoolConfig {
    fn until(&self) -> Instant {
        Instant::now() + self.patience.min(MAX_PATIENCE)
    }

    fn impatient(&self) -> PoolError {
        PoolError::TimedOut { path: self.path.clone(), patience: self.patience }
    }
}

impl PoolInner {
    /// Returns an idle connection, preferably one with the question's key open. A connection with a message to read
    /// is closed: the server is ending it.
    fn take(&self, question: &PoolQuestion) -> Option<Box<PoolChannel>> {
        let mut idle = self.idle.lock();
        // From the end: the most recently used connection is the least likely to be closed.
        while let Some(last) = idle.len().checked_sub(1) {
            let preferred = idle.iter().rposition(|channel| channel.has_key_of(question));
            let mut channel = idle.remove(preferred.unwrap_or(last));
            if channel.is_quiet() {
                return Some(channel);
            }
        }
        None
    }

    fn put_back(&self, channel: Box<PoolChannel>) {
        if let Some(reason) = channel.no_ring() {
            self.no_ring.get_or_make(|| reason.clone());
        }
        let mut idle = self.idle.lock();
        // Otherwise the connection is dropped, which closes it.
        if idle.len() < self.config.max_idle {
            idle.push(channel);
        }
    }

    fn check(&self, job: &OwnedJob, answer: &SecretBytes) -> Result<(), PoolError> {
        match AnswerCheck::Rsa.is_wrong(self.checker.diagnostics().referee(), job, answer.expose()) {
            false => Ok(()),
            true => Err(PoolError::WrongAnswer { path: self.config.path.clone() }),
        }
    }

    fn lost(&self, error: AskError, received: usize) -> PoolError {
        match error {
            AskError::Pool(error) => error,
            AskError::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => self.config.impatient(),
            AskError::Io(error) => PoolError::Truncated { path: self.config.path.clone(), received, error },
        }
    }
}
