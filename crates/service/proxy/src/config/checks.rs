//! Health checks of a backend: the section `[backend.check]`.

use std::time::Duration;

use oarlock_service_kit::settings::{SettingsError, expect};
use serde::Deserialize;

/// The maximum length of a text that a check sends or expects, in bytes.
const MAX_TEXT_LEN: usize = 1_024;

/// The checks of a backend's endpoints.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckSettings {
    /// The kind of check.
    pub kind: HealthCheckKind,
    /// The text that a check of a line sends first. Default: nothing.
    pub send: Option<String>,
    /// The text with which the first line of the answer begins.
    pub expect: Option<String>,
    /// The time from one check of an endpoint to the next.
    pub interval_seconds: u64,
    /// The time limit of a check.
    pub timeout_seconds: u64,
    /// The number of checks in a row that must pass before an endpoint is used again.
    pub rise: u32,
    /// The number of checks in a row that must fail before an endpoint is not used any more.
    pub fall: u32,
}

/// The kind of a health check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthCheckKind {
    /// A connection is opened.
    #[default]
    Connect,
    /// A handshake of TLS is done, and the certificate verified.
    Tls,
    /// A line is read, over TLS if the backend has TLS.
    Line,
}

impl Default for CheckSettings {
    fn default() -> Self {
        Self {
            kind: HealthCheckKind::default(),
            send: None,
            expect: None,
            interval_seconds: 5,
            timeout_seconds: 2,
            rise: 2,
            fall: 3,
        }
    }
}

impl CheckSettings {
    pub(crate) fn interval(&self) -> Duration {
        Duration::from_secs(self.interval_seconds)
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }

    pub(super) fn check(&self, has_tls: bool) -> Result<(), SettingsError> {
        let interval = self.interval_seconds;
        expect("[backend.check] interval_seconds", "1 to 3600", (1..=3_600).contains(&interval), interval)?;
        // So that the next check of an endpoint never waits for the last one.
        let timeout = self.timeout_seconds;
        let expected = "1 to interval_seconds";
        expect("[backend.check] timeout_seconds", expected, (1..=interval).contains(&timeout), timeout)?;
        expect("[backend.check] rise", "1 to 100", (1..=100).contains(&self.rise), self.rise)?;
        expect("[backend.check] fall", "1 to 100", (1..=100).contains(&self.fall), self.fall)?;
        let is_possible = has_tls || self.kind != HealthCheckKind::Tls;
        expect(
            "[backend.check] kind",
            "\"tls\" only beside [backend.tls]",
            is_possible,
            "\"tls\" without it",
        )?;
        self.check_texts()
    }

    fn check_texts(&self) -> Result<(), SettingsError> {
        let texts = [("[backend.check] send", &self.send), ("[backend.check] expect", &self.expect)];
        for (field, text) in texts {
            let len = text.as_ref().map_or(0, String::len);
            expect(field, "at most 1024 bytes", len <= MAX_TEXT_LEN, len)?;
            let is_read = text.is_none() || self.kind == HealthCheckKind::Line;
            expect(field, "nothing, unless kind is \"line\"", is_read, format_args!("{text:?}"))?;
        }
        let has_text = self.expect.as_ref().is_some_and(|text| !text.is_empty());
        let is_good = has_text || self.kind != HealthCheckKind::Line;
        expect(
            "[backend.check] expect",
            "the beginning of a line, because kind is \"line\"",
            is_good,
            "nothing",
        )
    }
}
