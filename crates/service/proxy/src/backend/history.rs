//! The health and the counters of backends and their endpoints, which outlive the settings.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use oarlock_service_kit::Current;
use tokio::sync::Notify;

use super::endpoint::{BackendEndpoint, EndpointTarget};
use super::group::Backend;
use super::host::BackendHost;
use super::set::BackendSet;

/// The backends that the settings or open connections use.
#[derive(Debug)]
pub(crate) struct BackendRegistry {
    by_label: SharedMap<BackendHistory>,
    /// The backends of the settings in force.
    current: Current<Vec<Arc<Backend>>>,
    replaced: Notify,
}

/// The part of a backend that a reload keeps.
#[derive(Debug)]
pub(super) struct BackendHistory {
    pub(super) label: String,
    /// The number of choices of an endpoint.
    pub(super) turns: AtomicUsize,
    /// The number of connections that reached no endpoint.
    pub(super) unavailable: AtomicU64,
    endpoints: SharedMap<BackendEndpoint>,
    hosts: SharedMap<BackendHost>,
}

impl BackendRegistry {
    /// Makes these the backends in force.
    pub(crate) fn install(&self, backends: &BackendSet) {
        self.current.replace(backends.iter().cloned().collect::<Vec<_>>());
        self.replaced.notify_one();
    }

    /// Returns the backends in force.
    pub(super) fn current(&self) -> Arc<Vec<Arc<Backend>>> {
        self.current.get()
    }

    /// Waits until the backends in force are others. Only one task may wait.
    pub(super) async fn replaced(&self) {
        self.replaced.notified().await;
    }

    /// Returns the history of a backend, a new one if nobody uses it.
    pub(super) fn history(&self, label: &str) -> Arc<BackendHistory> {
        self.by_label.get_or_insert(label, || BackendHistory {
            label: label.to_owned(),
            turns: AtomicUsize::new(0),
            unavailable: AtomicU64::new(0),
            endpoints: SharedMap::default(),
            hosts: SharedMap::default(),
        })
    }
}

impl Default for BackendRegistry {
    fn default() -> Self {
        Self { by_label: SharedMap::default(), current: Current::new(Vec::new()), replaced: Notify::new() }
    }
}

impl BackendHistory {
    /// Returns an endpoint of the backend, a new one if nobody uses it.
    pub(super) fn endpoint(self: &Arc<Self>, target: EndpointTarget) -> Arc<BackendEndpoint> {
        let label = target.to_string();
        self.endpoints.get_or_insert(&label, || BackendEndpoint::new(Arc::clone(self), target))
    }

    /// Returns a name of the backend, a new one if nobody uses it.
    pub(super) fn host(&self, name: &str, port: u16) -> Arc<BackendHost> {
        self.hosts.get_or_insert(&format!("{name}:{port}"), || BackendHost::new(name, port))
    }
}

/// Values by name, which live as long as somebody else uses them.
#[derive(Debug)]
struct SharedMap<T>(Mutex<BTreeMap<String, Weak<T>>>);

impl<T> SharedMap<T> {
    fn get_or_insert(&self, name: &str, make: impl FnOnce() -> T) -> Arc<T> {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = values.get(name).and_then(Weak::upgrade) {
            return value;
        }
        // Names that nobody uses take no memory after the next new one.
        values.retain(|_, value| value.strong_count() > 0);
        let value = Arc::new(make());
        values.insert(name.to_owned(), Arc::downgrade(&value));
        value
    }
}

impl<T> Default for SharedMap<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lives_as_long_as_somebody_uses_it() {
        let registry = BackendRegistry::default();
        let address = || EndpointTarget::Tcp(([127, 0, 0, 1], 1).into());
        let endpoint = registry.history("a").endpoint(address());
        assert!(Arc::ptr_eq(&endpoint, &registry.history("a").endpoint(address())));
        assert!(!Arc::ptr_eq(&endpoint, &registry.history("b").endpoint(address())));
        drop(endpoint);
        let lasting = registry.history("c");
        assert_eq!(registry.by_label.0.lock().unwrap().keys().collect::<Vec<_>>(), ["c"]);
        drop(lasting);
    }
}
