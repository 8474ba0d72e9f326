//! The section `[log]`.

use std::path::PathBuf;

use oarlock_service_kit::settings::{SettingsError, expect};
use serde::Deserialize;

/// The log of connections.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogSettings {
    /// The connections that get a line at their end.
    pub connections: LoggedConnections,
    /// The file. Default: stderr.
    pub file: Option<PathBuf>,
    /// The form of a line.
    pub format: LineFormat,
    /// The maximum bytes of lines that wait for the disk. Further lines are lost, and counted.
    pub max_queue_bytes: usize,
}

/// The connections that the log has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoggedConnections {
    /// No connections.
    #[default]
    None,
    /// Those that were refused, and those that did not end by themselves.
    Failed,
    /// All connections.
    All,
}

/// The form of a line in the log of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineFormat {
    /// Pairs of a name and a value, `name=value`.
    #[default]
    Text,
    /// A JSON object.
    Json,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            connections: LoggedConnections::default(),
            file: None,
            format: LineFormat::default(),
            max_queue_bytes: 4 << 20,
        }
    }
}

impl LogSettings {
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let max = self.max_queue_bytes;
        let is_size = (1 << 16..=1 << 30).contains(&max);
        expect("[log] max_queue_bytes", "65536 to 1073741824", is_size, max)?;
        let is_path = self.file.as_ref().is_none_or(|path| !path.as_os_str().is_empty());
        expect("[log] file", "the path of a file", is_path, "an empty text")
    }
}
