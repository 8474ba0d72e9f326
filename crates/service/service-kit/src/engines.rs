//! The engines of a service.

use oarlock::{Accelerator, AcceleratorBuilder};
use serde::Deserialize;
use tracing::{info, warn};

use crate::settings::{SettingsError, expect};

/// The settings for engines.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EngineSettings {
    /// The names of the allowed engines. Default: all.
    pub allowed: Option<Vec<String>>,
    /// The number of worker threads. Default: the number of cores.
    pub threads: Option<usize>,
    /// The share of results that another engine computes again, 0 to 1.
    pub cross_check: Option<f64>,
    /// False if products by the floating-point unit (the leaf `fma`) may not compute with secrets. Default: true.
    pub fma_secrets: Option<bool>,
}

impl EngineSettings {
    /// Checks the values.
    ///
    /// # Errors
    /// A value is not allowed.
    pub fn check(&self) -> Result<(), SettingsError> {
        let share = self.cross_check.unwrap_or(0.0);
        expect("[engines] cross_check", "0 to 1", (0.0..=1.0).contains(&share), share)
    }

    /// Applies these settings to the builder of an accelerator.
    #[must_use]
    pub fn builder(&self, builder: AcceleratorBuilder) -> AcceleratorBuilder {
        let builder = match &self.allowed {
            Some(names) => builder.engines(names.iter().map(String::as_str)),
            None => builder,
        };
        let builder = self.threads.into_iter().fold(builder, AcceleratorBuilder::threads);
        let builder = self.fma_secrets.into_iter().fold(builder, AcceleratorBuilder::fma_secrets);
        self.cross_check.into_iter().fold(builder, AcceleratorBuilder::cross_check)
    }

    /// Logs absent engines. If the settings name them it is a warning, because the scalar engine does their work.
    pub fn log_absent(&self, accelerator: &Accelerator) {
        for absent in accelerator.absent() {
            let (engine, reason) = (absent.name, absent.reason.to_string());
            if self.allowed.is_some() {
                warn!(engine, reason, "a configured engine is absent: the scalar engine does its work");
            } else {
                info!(engine, reason, "an engine is absent: the scalar engine does its work");
            }
        }
    }
}
