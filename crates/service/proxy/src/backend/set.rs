//! The backends of the settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::group::{Backend, BackendContext};
use crate::config::{BackendSettings, ProxyConfig};
use crate::error::ProxyServiceError;

/// The backends of the settings. Routes with equal settings share one.
#[derive(Debug, Default)]
pub(crate) struct BackendSet {
    /// By name or first address. Backends of several routes may have the same first address, and differ otherwise.
    by_label: BTreeMap<String, Vec<(BackendSettings, Arc<Backend>)>>,
}

impl BackendSet {
    /// Opens all backends.
    pub(crate) fn open(
        config: &ProxyConfig,
        context: &BackendContext<'_>,
    ) -> Result<Self, ProxyServiceError> {
        let mut set = Self::default();
        for settings in config.backends() {
            let namesakes = set.by_label.entry(settings.label()).or_default();
            if namesakes.iter().any(|(other, _)| other == settings) {
                continue;
            }
            let label = match namesakes.len() {
                0 => settings.label(),
                // Each has health and metrics of its own.
                others => format!("{} ({})", settings.label(), others + 1),
            };
            let backend = Backend::open(settings, &label, context)?;
            namesakes.push((settings.clone(), Arc::new(backend)));
        }
        Ok(set)
    }

    /// Returns the backend with these settings.
    pub(crate) fn find(&self, settings: &BackendSettings) -> Result<Arc<Backend>, ProxyServiceError> {
        let label = settings.label();
        let namesakes = self.by_label.get(&label).into_iter().flatten();
        let found = namesakes.into_iter().find(|(other, _)| other == settings);
        let found = found.map(|(_, backend)| Arc::clone(backend));
        found.ok_or_else(|| ProxyServiceError::Start(format!("the backend {label} was not opened")))
    }

    /// Returns all backends.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Backend>> {
        self.by_label.values().flatten().map(|(_, backend)| backend)
    }
}
