//! The engines of a process, which its providers share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use oarlock::Accelerator;
use oarlock::process::ProcessLocal;

use crate::config::{Config, OperationMode};

/// A caller outside of jobs waits for the answer. On an idle machine, its own thread is faster than a worker that must
/// wake up.
const CALLER_BUDGET: Duration = Duration::from_secs(1);

/// The settings of an accelerator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AcceleratorSettings {
    /// All engines if None.
    names: Option<Vec<String>>,
    threads: Option<usize>,
    nice: u8,
}

/// The engine that computes one job at a time.
pub(crate) const SCALAR: &str = "scalar";

impl AcceleratorSettings {
    /// Returns the settings of the engines that compute.
    pub(crate) fn from_config(config: &Config) -> Self {
        match config.mode {
            OperationMode::Auto | OperationMode::Local => {
                Self { names: config.engines.clone(), threads: config.threads, nice: config.nice }
            }
            // The service has the engines. This process verifies, and computes if the service is unavailable.
            OperationMode::Service => Self::scalar(config.nice),
        }
    }

    /// Returns the settings of the engines for single verifications. The scalar engine keeps tables of recurring keys
    /// only if it is alone, and with them it verifies one signature faster than the lanes do. If it is not allowed, the
    /// allowed engines verify.
    pub(crate) fn for_verification(self) -> Self {
        match &self.names {
            Some(names) if !names.iter().any(|name| name == SCALAR) => self,
            _ => Self::scalar(self.nice),
        }
    }

    fn scalar(nice: u8) -> Self {
        Self { names: Some(vec![SCALAR.to_owned()]), threads: Some(1), nice }
    }
}

type SharedEngines = Vec<(AcceleratorSettings, Weak<Accelerator>)>;

/// The accelerators of this process. The lock is held for a look or an insertion, and never while engines are created.
static SHARED: ProcessLocal<Mutex<SharedEngines>> = ProcessLocal::new();

/// Returns the engines with these settings, which all providers of this process share.
pub(crate) fn shared_engines(settings: AcceleratorSettings) -> Result<Arc<Accelerator>, String> {
    let known = |shared: &SharedEngines| {
        shared.iter().find(|(other, _)| *other == settings).and_then(|(_, engines)| engines.upgrade())
    };
    if let Some(engines) = known(&lock_inherited(&SHARED)) {
        return Ok(engines);
    }
    let made = Arc::new(new_engines(&settings)?);
    let mut shared = lock_inherited(&SHARED);
    // Another thread may have been faster. Its accelerator is used, because jobs share batches within one only.
    if let Some(engines) = known(&shared) {
        return Ok(engines);
    }
    shared.retain(|(_, engines)| engines.strong_count() > 0);
    // Weak: threads end with the last provider that uses them, and a later provider creates new ones.
    shared.push((settings, Arc::downgrade(&made)));
    Ok(made)
}

/// Locks a value that a forked child inherits, unless a thread of its parent held the lock.
pub(crate) fn lock_inherited<T: Clone + Default>(local: &ProcessLocal<Mutex<T>>) -> MutexGuard<'_, T> {
    let inherit = |parent: &Mutex<T>| parent.try_lock().ok().map(|value| value.clone());
    let value = local.get(|parent| Mutex::new(parent.and_then(inherit).unwrap_or_default()));
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

fn new_engines(settings: &AcceleratorSettings) -> Result<Accelerator, String> {
    let AcceleratorSettings { names, threads, nice } = settings;
    let config = oarlock::SchedulerConfig::default().with_caller_budget(CALLER_BUDGET).with_nice(*nice);
    let mut builder = Accelerator::builder().config(config).lazy();
    // A privileged process takes nothing from its environment, and no file that it names.
    if !oarlock_ffi::is_privileged() {
        builder = builder.environment(true).cost_cache(oarlock::default_cost_cache());
    }
    if let Some(names) = names {
        builder = builder.engines(names.clone());
    }
    if let Some(threads) = threads {
        builder = builder.threads(*threads);
    }
    builder.build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use oarlock::process::ProcessMark;

    use super::*;

    #[test]
    fn providers_with_equal_settings_share_engines() {
        let settings = AcceleratorSettings::scalar(10);
        let first = shared_engines(settings.clone()).unwrap();
        assert!(Arc::ptr_eq(&first, &shared_engines(settings).unwrap()));
    }

    #[test]
    fn a_child_inherits_a_value_unless_a_thread_of_its_parent_held_the_lock() {
        for is_held in [false, true] {
            let local = ProcessLocal::new();
            let parent = local.get_for(ProcessMark::imaginary(1), |_| Mutex::new(7));
            let held = is_held.then(|| parent.lock());
            assert_eq!(*lock_inherited(&local), if is_held { 0 } else { 7 });
            drop(held);
        }
    }

    #[test]
    fn single_verifications_have_tables_beside_lanes_too() {
        let (config, _) = Config::read(|_| None, |_| None).unwrap();
        let verifier = shared_engines(AcceleratorSettings::from_config(&config).for_verification()).unwrap();
        assert_eq!(verifier.engine_names().collect::<Vec<_>>(), [SCALAR]);
        assert!(verifier.max_prepared_bytes() > 0);
    }

    #[test]
    fn only_allowed_engines_verify() {
        let (config, _) = Config::read(|_| None, |_| None).unwrap();
        let config = Config { engines: Some(vec!["lanes".to_owned()]), ..config };
        let settings = AcceleratorSettings::from_config(&config);
        assert_eq!(settings.clone().for_verification(), settings);
        let both = Config { engines: Some(vec!["lanes".to_owned(), SCALAR.to_owned()]), ..config };
        assert_eq!(
            AcceleratorSettings::from_config(&both).for_verification(),
            AcceleratorSettings::scalar(both.nice)
        );
    }
}
