//! Connections to the cryptoserver of this machine, for a library that lives inside other people's programs: no runtime, no thread,
//! nothing global, no signal, and forks.

mod channel;
mod error;
mod exchange;
mod idle;
mod socket;

use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use oarlock::engine_api::HeldJob;
use oarlock::{Accelerator, Job, Key, Scheme};
use oarlock::{Fingerprint, SecretBytes};

use self::channel::{AskError, OwnedKeySource, PoolChannel, PoolQuestion};
pub use self::error::PoolError;
use self::exchange::{PoolExchange, PoolReply};
use self::idle::IdleChannels;
use crate::check::AnswerCheck;
use crate::proto::KeyInfo;

/// What a job gave: signature, plaintext or shared secret.
pub type PoolAnswer = SecretBytes;

/// Settings of a [`ConnectionPool`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// The server's UNIX socket.
    pub path: PathBuf,
    /// Users who may run the server. To others nothing is sent.
    pub server_uids: Vec<u32>,
    /// How long an answer may take, connecting included.
    pub patience: Duration,
    /// Connections that are kept for later.
    pub max_idle: usize,
}

/// Where the private key of a job comes from.
#[derive(Clone, Copy, Debug)]
pub enum PrivateKeySource<'k> {
    /// It lives at the server.
    Resident {
        /// What the server calls it.
        name: &'k str,
        /// Which key it must be; any where None.
        fingerprint: Option<Fingerprint>,
    },
    /// It is here, and goes to the server once per connection.
    Brought(&'k Key),
}

/// Connections to one server, with one question each at a time. A clone is the same pool.
///
/// Answers to RSA signatures are verified with the public half of the job's key before they are returned: a faulty one gives the key
/// away (Boneh, DeMillo, Lipton 1997). Other answers are as the server gave them.
///
/// A fork of the process has connections of its own, and closes what came along when it asks for the first time.
#[derive(Clone, Debug)]
pub struct ConnectionPool(Arc<PoolInner>);

#[derive(Debug)]
struct PoolInner {
    config: PoolConfig,
    checker: Accelerator,
    idle: IdleChannels,
}

/// A job that the server works on. Dropping it closes its connection.
///
/// Its descriptor is readable when the answer may be there. Where the server was found to have left, it is another one after
/// [`try_take`](Self::try_take): ask for it again after each `Ok(None)`. The former one stays open, and nobody else's, until this is
/// dropped.
#[derive(Debug)]
pub struct PendingJob(PoolExchange);

impl ConnectionPool {
    /// A pool that connects when it is asked for the first time. The scalar engine of `checker` verifies answers, on the thread that
    /// takes them, which may have a short stack.
    #[must_use]
    pub fn new(config: PoolConfig, checker: Accelerator) -> Self {
        Self(Arc::new(PoolInner { config, checker, idle: IdleChannels::default() }))
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &PoolConfig {
        &self.0.config
    }

    /// What the server tells of a resident key: its kind, its public half in DER, what this process may do with it. Waits for that.
    ///
    /// # Errors
    /// The server cannot be had, or has no such key for this process: [`PoolError::Refused`].
    pub fn key_info(&self, name: &str) -> Result<KeyInfo, PoolError> {
        match wait(&mut PoolExchange::begin(&self.0, PoolQuestion::Info(name.to_owned()))?)? {
            PoolReply::Info(info) => Ok(info),
            PoolReply::Output(_) => Err(PoolError::Taken),
        }
    }

    /// Sends a job. What is hashed is hashed here: digests are sent, not messages.
    ///
    /// The job's key is the one that the source names, or its public half with its home elsewhere
    /// ([`held::from_spki`](oarlock::keys::held::from_spki)).
    ///
    /// Waits for a place in a full backlog and for room in the socket, as long as the patience allows; for the answer it does not wait.
    ///
    /// # Errors
    /// The server cannot be had, or the job cannot be sent.
    pub fn start(&self, job: &Job<'_>, source: PrivateKeySource<'_>) -> Result<PendingJob, PoolError> {
        let job = job.to_held()?;
        let is_signature = matches!(job.scheme, Scheme::RsaPkcs1Sign { .. } | Scheme::RsaPssSign { .. });
        if is_signature && job.key.rsa_public().is_none() {
            return Err(PoolError::NoPublicKey);
        }
        let source = match source {
            PrivateKeySource::Resident { name, fingerprint } => {
                OwnedKeySource::Resident { name: name.to_owned(), fingerprint }
            }
            PrivateKeySource::Brought(key) => OwnedKeySource::Brought(key.clone()),
        };
        PoolExchange::begin(&self.0, PoolQuestion::Job { job, source }).map(PendingJob)
    }

    /// Connections that wait for work, in this process.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.0.idle.lock().len()
    }
}

impl PendingJob {
    /// The answer, where it is there. Does not wait for it; where the server has left since the connection was last used, it connects
    /// and asks once more.
    ///
    /// # Errors
    /// There will be none: [`PoolError`] says why. Then, and once it was taken, [`PoolError::Taken`].
    pub fn try_take(&mut self) -> Result<Option<PoolAnswer>, PoolError> {
        self.0.try_take()?.map(|reply| self.released(reply)).transpose()
    }

    /// Waits for the answer, as long as is left of the patience.
    ///
    /// # Errors
    /// As [`try_take`](Self::try_take).
    pub fn wait(mut self) -> Result<PoolAnswer, PoolError> {
        let reply = wait(&mut self.0)?;
        self.released(reply)
    }

    /// The answer, unless it is wrong.
    fn released(&self, reply: PoolReply) -> Result<PoolAnswer, PoolError> {
        let (PoolReply::Output(answer), PoolQuestion::Job { job, .. }) = (reply, &self.0.question) else {
            return Err(PoolError::Taken);
        };
        self.0.pool.check(job, &answer)?;
        Ok(answer)
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
        let waited = exchange.socket.wait_for_answer(exchange.until);
        if !waited.map_err(|error| exchange.pool.lost(AskError::Io(error), 0))? {
            return Err(exchange.pool.config.impatient());
        }
    }
}

/// Who has more patience than that has as much.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

impl PoolConfig {
    fn until(&self) -> Instant {
        Instant::now() + self.patience.min(LONGEST)
    }

    fn impatient(&self) -> PoolError {
        PoolError::TimedOut { path: self.path.clone(), patience: self.patience }
    }
}

impl PoolInner {
    /// An idle connection, one that has the key open before others. What has something to say is not idle: the server leaves.
    fn take(&self, question: &PoolQuestion) -> Option<PoolChannel> {
        let mut idle = self.idle.lock();
        while let Some(last) = idle.len().checked_sub(1) {
            let place = idle.iter().rposition(|channel| channel.has_key_of(question));
            let channel = idle.remove(place.unwrap_or(last));
            if channel.socket.is_quiet() {
                return Some(channel);
            }
        }
        None
    }

    fn put_back(&self, channel: PoolChannel) {
        let mut idle = self.idle.lock();
        if idle.len() < self.config.max_idle {
            idle.push(channel);
        }
    }

    fn check(&self, job: &HeldJob, answer: &SecretBytes) -> Result<(), PoolError> {
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
