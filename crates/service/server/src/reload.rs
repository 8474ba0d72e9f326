//! Reloads certificates, keys and grants while the server runs.

use std::sync::Arc;
use std::time::Duration;

use oarlock_hsm::{HsmKey, Pkcs11Uri};
use oarlock_key_files::SecretReader;
use oarlock_service_kit::give_memory_back;
use tokio::sync::{mpsc, oneshot};
use tokio::time::interval;
use tracing::{error, info, warn};

use crate::audit::{AuditLog, EventKind, NewLogFile};
use crate::config::{CryptoserverConfig, ServerLimits};
use crate::error::CryptoserverError;
use crate::keyring::{KeyChanges, KeySources, ResidentKeysError};
use crate::service::{SharedService, resident_kb};
use crate::tls::{TlsFiles, TlsState};

/// The time between two checks of files and of the ends of connections.
const LOOK: Duration = Duration::from_secs(1);

/// The task that checks and reloads files.
pub(crate) struct Reloader {
    service: Arc<SharedService>,
    sources: KeySources,
    tls_files: Option<TlsFiles>,
    key_faults: FaultMemory,
    /// The configuration in use.
    config: CryptoserverConfig,
    /// The elapsed time at which the ends of certificates are checked next.
    remind_at: Duration,
    /// The minimum of resident memory so far.
    rest_kb: u64,
    /// The elapsed time from which memory may be given back again.
    trim_at: Duration,
    trim_wait: Duration,
}

/// A handle that makes a running server reload its files.
#[derive(Clone, Debug)]
pub struct ReloadHandle(mpsc::Sender<ReloadRequest>);

enum ReloadRequest {
    /// Everything by a configuration.
    Config(Box<CryptoserverConfig>, oneshot::Sender<Result<(), CryptoserverError>>),
    /// One more key of a device.
    DeviceKey { name: String, uri: Box<Pkcs11Uri>, key: HsmKey, done: oneshot::Sender<()> },
}

impl ReloadHandle {
    pub(crate) fn new() -> (Self, Reloads) {
        let (sender, reloads) = mpsc::channel(1);
        (Self(sender), Reloads(reloads))
    }

    /// Reloads certificates, client authorities, keys and grants by a configuration, and opens the audit log again. The
    /// log reports the result.
    ///
    /// # Errors
    /// A file cannot be used, and then nothing changes. Or the server has stopped.
    pub async fn reload(&self, config: CryptoserverConfig) -> Result<(), CryptoserverError> {
        let (done, outcome) = oneshot::channel();
        let request = ReloadRequest::Config(Box::new(config), done);
        self.0.send(request).await.map_err(|_| CryptoserverError::Stopped)?;
        outcome.await.map_err(|_| CryptoserverError::Stopped)?
    }

    /// Adds a key that a device has described, under a name.
    ///
    /// # Errors
    /// The server has stopped.
    pub(crate) async fn add_device_key(
        &self,
        name: String,
        uri: Pkcs11Uri,
        key: HsmKey,
    ) -> Result<(), CryptoserverError> {
        let (done, outcome) = oneshot::channel();
        let request = ReloadRequest::DeviceKey { name, uri: Box::new(uri), key, done };
        self.0.send(request).await.map_err(|_| CryptoserverError::Stopped)?;
        outcome.await.map_err(|_| CryptoserverError::Stopped)
    }
}

/// The receiving side of a [`ReloadHandle`].
#[derive(Debug)]
pub(crate) struct Reloads(mpsc::Receiver<ReloadRequest>);

impl Reloader {
    /// Returns a reloader of files that were read before. The stamps of `tls_files` must be older than the content that
    /// was read, so that a change in between is found.
    pub(crate) fn new(
        service: Arc<SharedService>,
        sources: KeySources,
        tls_files: Option<TlsFiles>,
        config: CryptoserverConfig,
    ) -> Self {
        Self {
            service,
            sources,
            tls_files,
            key_faults: FaultMemory::default(),
            config,
            remind_at: Duration::ZERO,
            rest_kb: u64::MAX,
            trim_at: Duration::ZERO,
            trim_wait: LOOK,
        }
    }

    /// Checks for changes every second, and reloads everything on request.
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
            // Reading files blocks, so it happens outside the event loop.
            let worked = tokio::task::spawn_blocking(move || {
                match reload {
                    None => self.check_files(),
                    Some(ReloadRequest::Config(config, done)) => {
                        // An error means that the caller no longer waits for the result.
                        let _ = done.send(self.reload(*config));
                    }
                    Some(ReloadRequest::DeviceKey { name, uri, key, done }) => {
                        let found = self.sources.add_device_key(name, *uri, key);
                        self.apply_keys(found);
                        let _ = done.send(());
                    }
                }
                self
            });
            // An error means that the runtime stops, or that a check panicked. Without the reloader the old files stay
            // in use.
            let Ok(back) = worked.await else { return };
            self = back;
        }
    }

    fn check_files(&mut self) {
        let mut found = self.sources.refresh();
        self.key_faults.drop_reported(&mut found.faults);
        self.apply_keys(found);
        match self.tls_files.as_mut().and_then(|files| files.refresh(self.service.lifetimes.clock())) {
            None => {}
            Some(Ok(state)) => self.apply_tls(state),
            Some(Err(error)) => warn!(%error, "[tls] the certificates that were read before stay in use"),
        }
        self.service.lifetimes.sweep();
        self.remind();
        self.trim_memory_after_bursts();
    }

    /// Gives back memory that a burst of requests has left unused. Memory that stays in use looks the same from
    /// outside, so a trial without success doubles the time to the next.
    fn trim_memory_after_bursts(&mut self) {
        let Some(resident_kb) = resident_kb() else { return };
        self.rest_kb = self.rest_kb.min(resident_kb);
        let now = self.service.lifetimes.clock().elapsed();
        // During a burst the memory is in use, and searching it would slow the burst down.
        let is_over = self.service.clients.budget().used() < QUIET_BYTES;
        if !is_over || resident_kb < self.rest_kb + LEFT_BEHIND_KB || now < self.trim_at {
            return;
        }
        give_memory_back();
        let given_kb = resident_kb.saturating_sub(self::resident_kb().unwrap_or(resident_kb));
        let is_fruitful = given_kb >= LEFT_BEHIND_KB / 4;
        self.trim_wait = if is_fruitful { LOOK } else { (2 * self.trim_wait).min(MAX_TRIM_WAIT) };
        self.trim_at = now + self.trim_wait;
    }

    fn reload(&mut self, config: CryptoserverConfig) -> Result<(), CryptoserverError> {
        let outcome = self.try_reload(config);
        match &outcome {
            Ok(()) => {
                self.service.audit.event(EventKind::Reload, &"certificates, keys and grants");
                info!("certificates, keys and grants were read again");
            }
            Err(error) => error!(%error, "nothing was reloaded: the last content stays in use"),
        }
        outcome
    }

    /// Reads everything before it changes anything.
    fn try_reload(&mut self, config: CryptoserverConfig) -> Result<(), CryptoserverError> {
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
        // Everything that can fail is above this line, so a reload changes all or nothing.
        self.service.audit.replace(log);
        self.apply_keys(found);
        if let Some((files, state)) = tls {
            self.tls_files = Some(files);
            self.apply_tls(state);
        }
        self.service.lifetimes.set_max_connection_seconds(config.limits.max_connection_seconds);
        self.warn_about_restarts(&config);
        self.config = config;
        self.remind_at = Duration::ZERO;
        Ok(())
    }

    /// Opens the audit log again, for log rotation by renaming. The former file stays in use until the new file
    /// replaces it.
    fn open_audit_again(&self) -> Result<NewLogFile, CryptoserverError> {
        let path = self.config.audit.as_ref().map(|audit| audit.file.clone()).unwrap_or_default();
        self.service.audit.open_again().map_err(|error| CryptoserverError::Audit { path, error })
    }

    fn apply_keys(&self, mut found: KeyChanges) {
        log_key_changes(&found);
        // Written before the keyring is in use, so that the entry about a key precedes those of its operations.
        audit_keys(&found, &self.service.audit);
        if let Some(keyring) = found.keyring.take() {
            self.service.replace_keyring(keyring);
        }
    }

    fn apply_tls(&self, state: TlsState) {
        let Some(store) = &self.service.tls else { return };
        // Replaced first: a handshake in progress compares its state with the new one when it ends.
        let old = store.replace(state);
        let new = store.get();
        info!("the certificates were read again");
        if !new.trusts_as(&old) {
            let ended = self.service.lifetimes.end_untrusted(|chain| new.accepts(chain));
            info!(
                ended,
                "the authorities of clients have changed: connections without a trusted certificate end"
            );
        }
    }

    /// Warns about certificates that end soon or do not belong to their chain, once a day and after every reload.
    fn remind(&mut self) {
        let Some(store) = &self.service.tls else { return };
        let now = self.service.lifetimes.clock().elapsed();
        // The clock of the server, so that a test can advance it.
        if now < self.remind_at {
            return;
        }
        self.remind_at = now + DAY;
        let state = store.get();
        if let Some(fault) = &state.unlinked {
            warn!(%fault, "[tls] certificate");
        }
        for (role, fault) in state.term_faults() {
            warn!(%fault, "[tls] {}", role.setting());
        }
    }

    /// Warns about changes that need a restart.
    fn warn_about_restarts(&self, new: &CryptoserverConfig) {
        let old = &self.config;
        // These two settings take effect at a reload, so a change of them needs no restart.
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
            ("hsm", old.devices != new.devices),
        ];
        let sections: Vec<_> =
            changed.iter().filter(|(_, is_changed)| *is_changed).map(|(name, _)| *name).collect();
        if !sections.is_empty() {
            warn!(?sections, "changes of these sections take effect at the next start");
        }
    }
}

/// The bytes of requests and answers below which there is no burst.
const QUIET_BYTES: usize = 8 << 20;

/// The minimum of unused memory that is worth giving back.
const LEFT_BEHIND_KB: u64 = 12 << 10;

/// The maximum time between two trials to give memory back: each trial searches all memory.
const MAX_TRIM_WAIT: Duration = Duration::from_secs(600);

/// The faults that the log has reported already. Otherwise a missing directory would be reported every second.
#[derive(Debug, Default)]
struct FaultMemory(Vec<String>);

impl FaultMemory {
    /// Removes the faults that the last check found too.
    fn drop_reported(&mut self, faults: &mut Vec<ResidentKeysError>) {
        let texts = faults.iter().map(ToString::to_string).collect();
        let reported = std::mem::replace(&mut self.0, texts);
        faults.retain(|fault| !reported.contains(&fault.to_string()));
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Logs the changes of keys and the faults of their sources.
pub(crate) fn log_key_changes(found: &KeyChanges) {
    let changes = &found.changes;
    if !(changes.added.is_empty() && changes.replaced.is_empty() && changes.removed.is_empty()) {
        let (added, replaced, removed) = (&changes.added, &changes.replaced, &changes.removed);
        info!(?added, ?replaced, ?removed, "keys");
    }
    for (path, fault) in &changes.refused {
        let path_text = path.display();
        if found.former_keys.contains(path) {
            warn!(path = %path_text, %fault, "this file is not used; the last key of the file stays in use");
        } else {
            warn!(path = %path_text, %fault, "this file is not used, and no key of it was read before");
        }
    }
    for (path, fault) in &found.chain_faults {
        warn!(path = %path.display(), %fault, "these certificates are not used; the key is");
    }
    for (name, fault) in &found.missing {
        warn!(name, %fault, "a key of a device is not available; the device is asked every second");
    }
    for fault in &found.faults {
        warn!(%fault, "the last content stays in use");
    }
    if found.has_new_records {
        info!("symmetric keys were read");
    }
}

/// Writes audit entries about keys that have changed.
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

    fn config(text: &str) -> CryptoserverConfig {
        let listen = "[listen]\nunix = \"/run/oarlock/socket\"\n";
        toml::from_str(&format!("{listen}{text}")).unwrap()
    }

    #[test]
    fn reports_a_lasting_fault_once() {
        let directory = tempfile::tempdir().unwrap();
        let (keys, records) = (directory.path().join("keys"), directory.path().join("records"));
        let create = || {
            fs::create_dir(&keys).unwrap();
            fs::write(&records, "").unwrap();
            fs::set_permissions(&records, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        };
        create();
        let config = config(&format!(
            "[keys]\ndirectory = \"{}\"\nrecords = \"{}\"\n",
            keys.display(),
            records.display()
        ));
        let (mut sources, ..) = KeySources::open(&config, None, CounterUse::Create).unwrap();
        let mut memory = FaultMemory::default();
        let mut reported = || {
            let mut found = sources.refresh();
            memory.drop_reported(&mut found.faults);
            found.faults.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(reported(), [""; 0]);
        for _ in 0..2 {
            fs::remove_dir(&keys).unwrap();
            fs::remove_file(&records).unwrap();
            let first = reported();
            assert_eq!(first.len(), 2, "{first:?}");
            assert!(
                first[0].contains("[keys] directory") && first[1].contains("[keys] records"),
                "{first:?}"
            );
            for _ in 0..3 {
                assert_eq!(reported(), [""; 0]);
            }
            // A fault that has gone is reported again if it returns.
            create();
            assert_eq!(reported(), [""; 0]);
        }
    }
}
