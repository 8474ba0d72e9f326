//! The settings file, in TOML.

use std::path::{Path, PathBuf};
use std::time::Duration;

use oarlock_files::line_number;
use oarlock_wire::ServerSettings;
use serde::Deserialize;

use crate::fork::AfterFork;

/// The file that is read if [`VARIABLE`] is not set.
pub(crate) const DEFAULT_FILE: &str = "/etc/oarlock/pkcs11.toml";

/// The environment variable that names another file. Programs with raised privileges ignore it.
pub(crate) const VARIABLE: &str = "OARLOCK_PKCS11_CONF";

/// All settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModuleConfig {
    /// The state of a forked child.
    #[serde(default)]
    pub(crate) after_fork: AfterFork,
    /// The names of the engines; all if `None`.
    pub(crate) engines: Option<Vec<String>>,
    /// The number of threads of the engines; one per core if `None`.
    pub(crate) threads: Option<usize>,
    /// The slots, in the order of their numbers.
    #[serde(default, rename = "slot")]
    pub(crate) slots: Vec<SlotConfig>,
}

/// The settings of a slot.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum SlotConfig {
    /// A file of objects that programs read and write.
    Store(StoreSlotConfig),
    /// A directory of key files, which is never written.
    Keys(KeySlotConfig),
    /// The keys of a cryptoserver.
    Server(ServerSlotConfig),
}

/// The settings of a slot with a store.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreSlotConfig {
    /// The file. `C_InitToken` makes it if it is missing.
    pub(crate) path: PathBuf,
    /// The description of the slot.
    pub(crate) description: Option<String>,
    /// True if a key may wrap or unwrap and also do something else.
    #[serde(default)]
    pub(crate) compatible: bool,
    /// The maximum number of sessions.
    pub(crate) max_sessions: Option<usize>,
}

/// The settings of a slot with a directory of keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeySlotConfig {
    pub(crate) directory: PathBuf,
    /// A file with the passphrase of encrypted keys in its first line.
    pub(crate) passphrase_file: Option<PathBuf>,
    /// A file with the identities that open sealed files.
    pub(crate) identity: Option<PathBuf>,
    /// The label of the token.
    pub(crate) label: Option<String>,
    /// The description of the slot.
    pub(crate) description: Option<String>,
    /// The maximum number of sessions.
    pub(crate) max_sessions: Option<usize>,
}

/// The settings of a slot with the keys of a cryptoserver.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerSlotConfig {
    /// The server's UNIX socket, or `https://HOST:PORT`.
    pub(crate) address: String,
    /// The user who may run the server of a UNIX socket, besides root and the user of this process.
    pub(crate) server_user: Option<String>,
    /// The authority of the server's certificate, in PEM.
    pub(crate) server_ca: Option<PathBuf>,
    /// The client's chain, in PEM.
    pub(crate) certificate: Option<PathBuf>,
    /// The client's private key, in PEM.
    pub(crate) private_key: Option<PathBuf>,
    /// The maximum time of an answer in milliseconds.
    pub(crate) patience_ms: Option<u64>,
    /// The label of the token.
    pub(crate) label: Option<String>,
    /// The description of the slot.
    pub(crate) description: Option<String>,
    /// The maximum number of sessions.
    pub(crate) max_sessions: Option<usize>,
}

/// An error in the settings. No text quotes the file: it might be a key by mistake.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModuleConfigError {
    #[error("{}: {error}", path.display())]
    Read { path: PathBuf, error: std::io::Error },
    #[error("{}:{line}: {reason}", path.display())]
    Syntax { path: PathBuf, line: usize, reason: String },
    #[error("{}: {field} of slot {slot}: expected {expected}", path.display())]
    Slot { path: PathBuf, slot: usize, field: &'static str, expected: &'static str },
    #[error("{}: {field}: expected {expected}", path.display())]
    Value { path: PathBuf, field: &'static str, expected: String },
}

/// The settings outside of slots, and the slots.
const TOP_SETTINGS: [&str; 4] = ["after_fork", "engines", "threads", "slot"];

/// The maximum length of a name of the file that an error repeats.
const MAX_NAME: usize = 24;

/// The maximum number of engine threads.
const MAX_THREADS: usize = 1024;

/// The maximum patience in milliseconds.
const MAX_PATIENCE_MS: u64 = 600_000;

impl ModuleConfig {
    /// Reads a file. Relative paths are relative to the directory of the file.
    ///
    /// # Errors
    /// The file cannot be read, or a setting is invalid.
    pub(crate) fn read(path: &Path) -> Result<Self, ModuleConfigError> {
        let text = oarlock_files::read_text(path)
            .map_err(|error| ModuleConfigError::Read { path: path.to_owned(), error })?;
        Self::parse(path, &text)
    }

    /// Parses the content of a file.
    ///
    /// # Errors
    /// A setting is invalid.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, ModuleConfigError> {
        let mut config: Self = toml::from_str(text).map_err(|error| syntax(path, text, &error))?;
        let base = path.parent().unwrap_or(Path::new(""));
        config.slots.iter_mut().for_each(|slot| slot.resolve_paths(base));
        config.check(path)?;
        Ok(config)
    }

    fn check(&self, path: &Path) -> Result<(), ModuleConfigError> {
        let wrong = |field, expected: &str| {
            Err(ModuleConfigError::Value { path: path.to_owned(), field, expected: expected.to_owned() })
        };
        if self.threads.is_some_and(|threads| !(1..=MAX_THREADS).contains(&threads)) {
            return wrong("threads", "a number from 1 to 1024");
        }
        let is_known = |name: &String| oarlock::KNOWN_ENGINES.contains(&name.as_str());
        if self.engines.as_ref().is_some_and(|names| names.is_empty() || !names.iter().all(is_known)) {
            return wrong("engines", &format!("some of {}", oarlock::KNOWN_ENGINES.join(", ")));
        }
        for (slot, number) in self.slots.iter().zip(0..) {
            if let Some((field, expected)) = slot.fault() {
                return Err(ModuleConfigError::Slot { path: path.to_owned(), slot: number, field, expected });
            }
        }
        Ok(())
    }
}

impl SlotConfig {
    fn resolve_paths(&mut self, base: &Path) {
        let resolve = |path: &mut PathBuf| *path = base.join(&*path);
        match self {
            Self::Store(store) => resolve(&mut store.path),
            Self::Keys(keys) => {
                resolve(&mut keys.directory);
                keys.passphrase_file.iter_mut().chain(&mut keys.identity).for_each(resolve);
            }
            Self::Server(server) => {
                let files = [&mut server.server_ca, &mut server.certificate, &mut server.private_key];
                files.into_iter().flatten().for_each(resolve);
                if !server.is_tls() {
                    server.address = base.join(&server.address).to_string_lossy().into_owned();
                }
            }
        }
    }

    /// Returns the field with a fault and the allowed values.
    fn fault(&self) -> Option<(&'static str, &'static str)> {
        let max_sessions = match self {
            Self::Store(store) => store.max_sessions,
            Self::Keys(keys) => keys.max_sessions,
            Self::Server(server) => {
                if server.patience_ms.is_some_and(|ms| !(1..=MAX_PATIENCE_MS).contains(&ms)) {
                    return Some(("patience_ms", "milliseconds from 1 to 600000"));
                }
                if server.address.starts_with("http:") {
                    return Some(("address", "a UNIX socket or https://HOST:PORT"));
                }
                let has_all = [&server.server_ca, &server.certificate, &server.private_key]
                    .iter()
                    .all(|file| file.is_some());
                if server.is_tls() && !has_all {
                    return Some((
                        "address",
                        "server_ca, certificate and private_key beside an https address",
                    ));
                }
                server.max_sessions
            }
        };
        (max_sessions == Some(0)).then_some(("max_sessions", "a number from 1"))
    }
}

impl ServerSlotConfig {
    /// True if the server is reached by TLS.
    pub(crate) fn is_tls(&self) -> bool {
        self.address.starts_with("https:") || self.address.starts_with("http:")
    }

    /// Returns the settings of the connection.
    pub(crate) fn connection(&self) -> ServerSettings {
        let defaults = ServerSettings::new(&self.address);
        ServerSettings {
            server_user: self.server_user.clone().unwrap_or(defaults.server_user),
            server_ca: self.server_ca.clone(),
            certificate: self.certificate.clone(),
            private_key: self.private_key.clone(),
            patience_ms: self.patience_ms.unwrap_or(defaults.patience_ms),
            servers: defaults.servers,
        }
    }

    /// Returns the maximum time of an answer.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_millis(self.connection().patience_ms)
    }
}

/// Makes an error that names the line. The parser's own message may quote words of the line.
fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> ModuleConfigError {
    let error_at = |line, message: &str, is_in_slot: bool| ModuleConfigError::Syntax {
        path: path.to_owned(),
        line,
        reason: reason(message, is_in_slot),
    };
    // The parser loses the position of errors in a slot, because the kind that selects its settings may come last.
    match faulty_slot(text) {
        Some((number, message)) => error_at(line_in_slot(text, number, &message), &message, true),
        None => {
            let line = line_number(text, error.span().map_or(0, |span| span.start));
            error_at(line, error.message(), false)
        }
    }
}

/// Returns the number of the first slot that cannot be read, from 0, and the parser's message.
fn faulty_slot(text: &str) -> Option<(usize, String)> {
    let table: toml::Table = toml::from_str(text).ok()?;
    let is_known = |name: &String| TOP_SETTINGS.contains(&name.as_str());
    if !table.keys().all(is_known) {
        return None;
    }
    let mut slots = table.get("slot")?.as_array()?.iter().enumerate();
    let fault = |slot: &toml::Value| slot.clone().try_into::<SlotConfig>().err();
    slots.find_map(|(number, slot)| Some((number, fault(slot)?.message().to_owned())))
}

/// Returns the line of the unknown setting of a slot, or that of the slot.
fn line_in_slot(text: &str, number: usize, message: &str) -> usize {
    let is_section = |line: &str| line.trim_start().starts_with('[');
    let is_slot = |line: &str| line.split_whitespace().collect::<String>().starts_with("[[slot]]");
    let name = unknown_setting(message).map(|(name, _)| name);
    let is_named = |line: &str| {
        let key = line.split('=').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
        name == Some(key)
    };
    let lines = || text.lines().zip(1..);
    let Some((_, slot)) = lines().filter(|(line, _)| is_slot(line)).nth(number) else { return 1 };
    let mut lines_of_slot = lines().skip(slot).take_while(|(line, _)| !is_section(line));
    lines_of_slot.find(|(line, _)| is_named(line)).map_or(slot, |(_, line)| line)
}

/// Splits the parser's message about an unknown setting into its name and the allowed ones.
fn unknown_setting(message: &str) -> Option<(&str, Vec<&str>)> {
    let mut words = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    Some((words.next()?, words.collect()))
}

/// Returns true if a word of the file can be repeated, because it looks like a setting and not like a key.
fn is_quotable(name: &str) -> bool {
    name.len() <= MAX_NAME && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Says what is wrong, in words of this crate and the names of settings.
fn reason(message: &str, is_in_slot: bool) -> String {
    if let Some((name, allowed)) = unknown_setting(message) {
        let name = if is_quotable(name) { format!("setting `{name}`") } else { "setting".to_owned() };
        let allowed = allowed.join(", ");
        return match is_in_slot {
            // The parser does not list the setting that selects the others.
            true => format!("unknown {name} in [[slot]]; of this kind are allowed: kind, {allowed}"),
            false => format!("unknown {name}; allowed are {allowed}"),
        };
    }
    let reason = if message.starts_with("unknown variant") {
        "an unknown value; expected store, keys or server for kind, and continue or reset for after_fork"
    } else if message.starts_with("missing field `kind`") {
        "expected kind = \"store\", \"keys\" or \"server\""
    } else if message.starts_with("missing field `path`") {
        "expected path = \"FILE\" for a store"
    } else if message.starts_with("missing field `directory`") {
        "expected directory = \"DIRECTORY\" for keys"
    } else if message.starts_with("missing field `address`") {
        "expected address = \"SOCKET\" or \"https://HOST:PORT\" for a server"
    } else if message.starts_with("invalid type") {
        "a value of a wrong type"
    } else {
        "not TOML"
    };
    reason.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ModuleConfig, ModuleConfigError> {
        ModuleConfig::parse(Path::new("/etc/oarlock/pkcs11.toml"), text)
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        let text = "threads = 2\n[[slot]]\nkind = \"store\"\npath = \"token\"\n\
                    [[slot]]\nkind = \"keys\"\ndirectory = \"/keys\"\npassphrase_file = \"secret\"\n\
                    [[slot]]\nkind = \"server\"\naddress = \"/run/oarlock.sock\"\n";
        let config = parse(text).unwrap();
        assert_eq!((config.after_fork, config.threads), (AfterFork::Continue, Some(2)));
        let [SlotConfig::Store(store), SlotConfig::Keys(keys), SlotConfig::Server(server)] =
            &config.slots[..]
        else {
            panic!("{config:?}");
        };
        assert_eq!(store.path, Path::new("/etc/oarlock/token"));
        assert_eq!(keys.directory, Path::new("/keys"));
        assert_eq!(keys.passphrase_file.as_deref(), Some(Path::new("/etc/oarlock/secret")));
        assert_eq!(server.address, "/run/oarlock.sock");
        assert_eq!(server.patience(), Duration::from_secs(2));
    }

    #[test]
    fn an_error_names_the_line_or_the_field_and_what_is_allowed() {
        for (text, expected) in [
            ("after_fork = \"never\"", "pkcs11.toml:1: an unknown value"),
            (
                "thread = 2",
                "pkcs11.toml:1: unknown setting `thread`; allowed are after_fork, engines, threads, slot",
            ),
            (
                "[[slot]]\nkind = \"store\"\nlabel = \"x\"\npath = \"y\"\n",
                "pkcs11.toml:3: unknown setting `label` in [[slot]]; of this kind are allowed: kind, path, description",
            ),
            (
                "[[slot]]\nkind = \"store\"\npath = \"x\"\n\n\
                 [[ slot ]]\npath = \"y\"\nkind = \"keys\"\ndirectory = \"d\"\n",
                "pkcs11.toml:6: unknown setting `path` in [[slot]]; of this kind are allowed: kind, directory",
            ),
            ("threads = 2\n[[slot]]\nkind = \"store\"\n", "pkcs11.toml:2: expected path"),
            ("[[slot]]\nkind = \"store\"\npath = 3\n", "pkcs11.toml:1: a value of a wrong type"),
            ("threads = 0", "threads: expected a number from 1 to 1024"),
            ("threads = \"two\"", "a value of a wrong type"),
            ("engines = [\"gpu\"]", "engines: expected some of"),
            ("engines = []", "engines: expected some of"),
            ("[[slot]]\npath = \"x\"", "expected kind"),
            ("\n[[slot]]\nkind = \"disk\"\n", "an unknown value"),
            ("[[slot]]\nkind = \"store\"\n", "expected path"),
            ("[[slot]]\nkind = \"keys\"\n", "expected directory"),
            ("[[slot]]\nkind = \"server\"\n", "expected address"),
            ("[[slot]]\nkind = \"server\"\naddress = \"http://a:1\"\n", "address of slot 0"),
            ("[[slot]]\nkind = \"server\"\naddress = \"https://a:1\"\n", "server_ca, certificate"),
            ("[[slot]]\nkind = \"server\"\naddress = \"s\"\npatience_ms = 0\n", "patience_ms of slot 0"),
            ("[[slot]]\nkind = \"store\"\npath = \"s\"\nmax_sessions = 0\n", "max_sessions of slot 0"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains(expected), "{text:?}: {said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }

    /// A key in place of the settings must not end up in a log.
    #[test]
    fn no_error_quotes_the_file() {
        let body = "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v";
        for text in [
            format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"),
            format!("{body} = 1\n"),
            format!("after_fork = \"{body}\"\n"),
            format!("threads = \"{body}\"\n"),
            format!("[[slot]]\nkind = \"{body}\"\n"),
            format!("[{body}]\n"),
            format!("[[slot]]\nkind = \"store\"\npath = \"x\"\n{body} = 1\n"),
        ] {
            let error = parse(&text).unwrap_err();
            let said = format!("{error} {error:?}");
            assert!(!said.contains(&body[..8]), "{said}");
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let said = ModuleConfig::read(Path::new("/nonexistent/pkcs11.toml")).unwrap_err().to_string();
        assert!(said.starts_with("/nonexistent/pkcs11.toml: "), "{said}");
    }
}
