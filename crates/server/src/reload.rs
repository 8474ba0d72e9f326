//! Reading certificates, keys and grants again while the server runs.

use std::sync::Arc;
use std::time::Duration;

use oarlock_io::SecretReader;
use tokio::sync::{mpsc, oneshot};
use tokio::time::interval;
use tracing::{error, info, warn};

use crate::audit::{AuditLog, EventKind, NewLogFile};
use crate::certificate::CertificateRole;
use crate::config::{Config, ServerLimits};
use crate::harden::give_memory_back;
use crate::keyring::{KeyChanges, KeySources, ResidentKeysError};
use crate::server::CryptoserverError;
use crate::service::{SharedService, resident_kb};
use crate::tls::{TlsFiles, TlsState};

/// The time between two looks at files, and at the ends of connections.
const LOOK: Duration = Duration::from_secs(1);

/// Looks after what was read from files.
pub(crate) struct Reloader {
    service: Arc<SharedService>,
    sources: KeySources,
    tls_files: Option<TlsFiles>,
    key_faults: FaultMemory,
    /// The configuration as it is at work.
    config: Config,
    /// The clock's time when certificates are looked at next, for their ends.
    remind_at: Duration,
    /// The least memory that the process has had.
    rest_kb: u64,
    /// The clock's time when memory may be given back again.
    clear_up_at: Duration,
    clear_up_wait: Duration,
}

/// Asks a running server to read its files again.
#[derive(Clone, Debug)]
pub struct ReloadHandle(mpsc::Sender<ReloadRequest>);

struct ReloadRequest {
    config: Config,
    done: oneshot::Sender<Result<(), CryptoserverError>>,
}

impl ReloadHandle {
    pub(crate) fn new() -> (Self, Reloads) {
        let (sender, reloads) = mpsc::channel(1);
        (Self(sender), Reloads(reloads))
    }

    /// Has certificates, client authorities, keys and grants read as a configuration says, and the audit log opened again. The
    /// log says what came of it.
    ///
    /// # Errors
    /// Something cannot be used: then everything stays as it was. Or the server has stopped.
    pub async fn reload(&self, config: Config) -> Result<(), CryptoserverError> {
        let (done, outcome) = oneshot::channel();
        self.0.send(ReloadRequest { config, done }).await.map_err(|_| CryptoserverError::Stopped)?;
        outcome.await.map_err(|_| CryptoserverError::Stopped)?
    }
}

/// The receiving side of a [`ReloadHandle`].
#[derive(Debug)]
pub(crate) struct Reloads(mpsc::Receiver<ReloadRequest>);

impl Reloader {
    /// Looks after files from when they were read on: `tls_files` have stamps that are older than what was read.
    pub(crate) fn new(
        service: Arc<SharedService>,
        sources: KeySources,
        tls_files: Option<TlsFiles>,
        config: Config,
    ) -> Self {
        Self {
            service,
            sources,
            tls_files,
            key_faults: FaultMemory::default(),
            config,
            remind_at: Duration::ZERO,
            rest_kb: u64::MAX,
            clear_up_at: Duration::ZERO,
            clear_up_wait: LOOK,
        }
    }

    /// Looks every second, and reads everything again when it is asked to.
    pub(crate) async fn run(mut self, mut reloads: Reloads) {
        let mut ticks = interval(LOOK);
        let mut are_open = true;
        loop {
            let reload = tokio::select! {
                _ = ticks.tick() => None,
                reload = reloads.0.recv(), if are_open => {
                    are_open = reload.is_some();
                    reload
                }
            };
            // Files are read where that holds up nobody.
            let worked = tokio::task::spawn_blocking(move || {
                match reload {
                    None => self.look(),
                    Some(ReloadRequest { config, done }) => {
                        // Whoever does not wait any more does not want it.
                        let _ = done.send(self.reload(config));
                    }
                }
                self
            });
            let Ok(back) = worked.await else { return };
            self = back;
        }
    }

    fn look(&mut self) {
        let mut found = self.sources.refresh();
        self.key_faults.forget_told(&mut found.faults);
        self.take_keys(found);
        match self.tls_files.as_mut().and_then(|files| files.refresh(self.service.lifetimes.clock())) {
            None => {}
            Some(Ok(state)) => self.take_tls(state),
            Some(Err(error)) => warn!(%error, "[tls] the certificates that were read before stay in use"),
        }
        self.service.lifetimes.sweep();
        self.remind();
        self.clear_up_after_bursts();
    }

    /// Gives memory back that a burst has left behind. What the process needs for good is told by trying, ever less often.
    fn clear_up_after_bursts(&mut self) {
        let Some(resident_kb) = resident_kb() else { return };
        self.rest_kb = self.rest_kb.min(resident_kb);
        let now = self.service.lifetimes.clock().elapsed();
        let is_over = self.service.clients.budget().used() < QUIET_BYTES;
        if !is_over || resident_kb < self.rest_kb + LEFT_BEHIND_KB || now < self.clear_up_at {
            return;
        }
        give_memory_back();
        let given_kb = resident_kb.saturating_sub(self::resident_kb().unwrap_or(resident_kb));
        let is_fruitful = given_kb >= LEFT_BEHIND_KB / 4;
        self.clear_up_wait = if is_fruitful { LOOK } else { (2 * self.clear_up_wait).min(MAX_CLEAR_UP_WAIT) };
        self.clear_up_at = now + self.clear_up_wait;
    }

    fn reload(&mut self, config: Config) -> Result<(), CryptoserverError> {
        let outcome = self.try_reload(config);
        match &outcome {
            Ok(()) => {
                self.service.audit.event(EventKind::Reload, &"certificates, keys and grants");
                info!("certificates, keys and grants were read again");
            }
            Err(error) => error!(%error, "nothing was reloaded: what was there before stays in use"),
        }
        outcome
    }

    /// Reads everything before anything changes.
    fn try_reload(&mut self, config: Config) -> Result<(), CryptoserverError> {
        config.check()?;
        let clock = self.service.lifetimes.clock();
        let tls = match (&config.tls, &self.service.tls) {
            (Some(tls), Some(_)) => {
                Some((TlsFiles::new(tls.clone()), TlsState::read(tls, clock, SecretReader::ThisProcess)?))
            }
            _ => None,
        };
        let log = self.open_audit_again()?;
        let found = self.sources.reload(&config)?;
        // Nothing fails from here on.
        self.service.audit.replace(log);
        self.take_keys(found);
        if let Some((files, state)) = tls {
            self.tls_files = Some(files);
            self.take_tls(state);
        }
        self.service.lifetimes.set_max_connection_seconds(config.limits.max_connection_seconds);
        self.name_restarts(&config);
        self.config = config;
        self.remind_at = Duration::ZERO;
        Ok(())
    }

    /// Opens the audit log again, as a rotation by renaming needs it. The former file is written on until the new one replaces it.
    fn open_audit_again(&self) -> Result<NewLogFile, CryptoserverError> {
        let path = self.config.audit.as_ref().map(|audit| audit.file.clone()).unwrap_or_default();
        self.service.audit.open_again().map_err(|error| CryptoserverError::Audit { path, error })
    }

    fn take_keys(&self, mut found: KeyChanges) {
        tell_keys(&found);
        audit_keys(&found, &self.service.audit);
        if let Some(keyring) = found.keyring.take() {
            self.service.replace_keyring(keyring);
        }
    }

    fn take_tls(&self, state: TlsState) {
        let Some(store) = &self.service.tls else { return };
        let old = store.replace(state);
        let new = store.current();
        info!("the certificates were read again");
        if !new.trusts_as(&old) {
            let ended = self.service.lifetimes.end_untrusted(|chain| new.accepts(chain));
            info!(ended, "other authorities certify clients: connections of clients that none certifies end");
        }
    }

    /// Warns of certificates that end soon, once a day and after every reading.
    fn remind(&mut self) {
        let Some(store) = &self.service.tls else { return };
        let now = self.service.lifetimes.clock().elapsed();
        if now < self.remind_at {
            return;
        }
        self.remind_at = now + DAY;
        for (role, fault) in store.current().term_faults() {
            match role {
                CertificateRole::Server => warn!(%fault, "[tls] certificate"),
                CertificateRole::ClientCa => warn!(%fault, "[tls] client_ca"),
            }
        }
    }

    /// Says which changes wait for a restart.
    fn name_restarts(&self, new: &Config) {
        let old = &self.config;
        let limits = ServerLimits {
            may_bring_keys: old.limits.may_bring_keys,
            max_connection_seconds: old.limits.max_connection_seconds,
            ..new.limits.clone()
        };
        let changed = [
            ("listen", old.listen != new.listen),
            ("tls", old.tls.is_some() != new.tls.is_some()),
            ("audit", old.audit != new.audit),
            ("limits", old.limits != limits),
            ("engines", old.engines != new.engines),
        ];
        let sections: Vec<_> =
            changed.iter().filter(|(_, is_changed)| *is_changed).map(|(name, _)| *name).collect();
        if !sections.is_empty() {
            warn!(?sections, "changes of these sections take effect at the next start");
        }
    }
}

/// Bytes of requests and answers below which there is no burst.
const QUIET_BYTES: usize = 8 << 20;

/// Memory that is worth giving back.
const LEFT_BEHIND_KB: u64 = 12 << 10;

/// The longest time between two tries to give memory back: each looks through all of it.
const MAX_CLEAR_UP_WAIT: Duration = Duration::from_secs(600);

/// Faults that the log has named already: a directory that is missing is missing every second.
#[derive(Debug, Default)]
struct FaultMemory(Vec<String>);

impl FaultMemory {
    /// Leaves those faults that were not there the last time.
    fn forget_told(&mut self, faults: &mut Vec<ResidentKeysError>) {
        let texts = faults.iter().map(ToString::to_string).collect();
        let told = std::mem::replace(&mut self.0, texts);
        faults.retain(|fault| !told.contains(&fault.to_string()));
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Says what came of looking at the keys.
pub(crate) fn tell_keys(found: &KeyChanges) {
    let changes = &found.changes;
    if !(changes.added.is_empty() && changes.replaced.is_empty() && changes.removed.is_empty()) {
        let (added, replaced, removed) = (&changes.added, &changes.replaced, &changes.removed);
        info!(?added, ?replaced, ?removed, "keys");
    }
    for (path, fault) in &changes.refused {
        warn!(path = %path.display(), %fault, "this file is not used; a key that it held before stays");
    }
    for fault in &found.faults {
        warn!(%fault, "what was there before stays in use");
    }
    if found.has_new_records {
        info!("symmetric keys were read");
    }
}

/// Writes down which keys are others now.
pub(crate) fn audit_keys(found: &KeyChanges, audit: &AuditLog) {
    let changes = &found.changes;
    for (names, change) in
        [(&changes.added, "added"), (&changes.replaced, "replaced"), (&changes.removed, "removed")]
    {
        names.iter().for_each(|name| audit.key_event(name, change));
    }
    if found.has_new_records {
        audit.key_event("*", "symmetric keys were read");
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::keyring::CounterUse;

    fn config(text: &str) -> Config {
        let listen = "[listen]\nunix = \"/run/oarlock/socket\"\n";
        toml::from_str(&format!("{listen}{text}")).unwrap()
    }

    #[test]
    fn a_fault_that_stays_is_told_once() {
        let place = tempfile::tempdir().unwrap();
        let (keys, records) = (place.path().join("keys"), place.path().join("records"));
        let settle = || {
            fs::create_dir(&keys).unwrap();
            fs::write(&records, "").unwrap();
            fs::set_permissions(&records, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        };
        settle();
        let config = config(&format!(
            "[keys]\ndirectory = \"{}\"\nrecords = \"{}\"\n",
            keys.display(),
            records.display()
        ));
        let (mut sources, ..) = KeySources::open(&config, CounterUse::Create).unwrap();
        let mut memory = FaultMemory::default();
        let mut told = || {
            let mut found = sources.refresh();
            memory.forget_told(&mut found.faults);
            found.faults.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(told(), [""; 0]);
        for _ in 0..2 {
            fs::remove_dir(&keys).unwrap();
            fs::remove_file(&records).unwrap();
            let first = told();
            assert_eq!(first.len(), 2, "{first:?}");
            assert!(
                first[0].contains("[keys] directory") && first[1].contains("[keys] records"),
                "{first:?}"
            );
            for _ in 0..3 {
                assert_eq!(told(), [""; 0]);
            }
            // What is well again and then missing again is told again.
            settle();
            assert_eq!(told(), [""; 0]);
        }
    }
}
