//! The provider's settings: its section of openssl.cnf, and the environment, which overrides some of them.
//!
//! The administrator writes the section; the user who starts the program sets the environment. The user may choose how
//! operations are computed, and never who gets the keys: `server_user` comes from the section alone, and `mode = local`
//! in the section cannot be overridden. A program with raised privileges passes an empty environment to
//! [`Config::read`].

use std::path::PathBuf;
use std::time::Duration;

use crate::error::ProviderError;

/// The unit that computes operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationMode {
    /// Wherever it takes the least CPU time: the engines of this process, or a cryptoserver for RSA private operations.
    Auto,
    /// The engines of this process.
    Local,
    /// A cryptoserver for RSA private operations and held keys, this process for everything else.
    Service,
}

/// The unit that verifies signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VerifyAt {
    /// The engines of this process.
    Process,
    /// The cryptoserver, whose verification tables all processes share.
    Server,
}

/// All settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) mode: OperationMode,
    /// [`VerifyAt::Process`] unless the mode is service.
    pub(crate) verify_at: VerifyAt,
    /// The cryptoserver's UNIX socket.
    pub(crate) socket: PathBuf,
    /// The user who may run the cryptoserver, besides root and this process's user: a name or a number.
    pub(crate) server_user: String,
    /// The names of the engines of this process; None means all.
    pub(crate) engines: Option<Vec<String>>,
    /// The number of threads of the engines; None means one per core.
    pub(crate) threads: Option<usize>,
    /// The nice value of the engines' threads, as for nice(1).
    pub(crate) nice: u8,
    /// The time that an answer of the cryptoserver may take.
    pub(crate) patience: Duration,
}

/// A setting: its name in the section and in the environment, and the values that it allows.
struct SettingSpec {
    name: &'static str,
    /// None if only the section decides.
    variable: Option<&'static str>,
    expected: &'static str,
}

/// A variable that is ignored with a warning: it could make another user's program the server.
const SERVER_USER_VARIABLE: &str = "OARLOCK_SERVER_USER";

const MODE: SettingSpec =
    SettingSpec { name: "mode", variable: Some("OARLOCK_MODE"), expected: "auto, local or service" };
const VERIFY_AT: SettingSpec =
    SettingSpec { name: "verify_at", variable: Some("OARLOCK_VERIFY_AT"), expected: "process or server" };
const SOCKET: SettingSpec = SettingSpec {
    name: "socket",
    variable: Some("OARLOCK_SOCKET"),
    expected: "the absolute path of a UNIX socket",
};
const SERVER_USER: SettingSpec =
    SettingSpec { name: "server_user", variable: None, expected: "a user's name or number" };
const ENGINES: SettingSpec = SettingSpec {
    name: "engines",
    variable: Some("OARLOCK_ENGINES"),
    expected: "lanes, scalar or both, with a comma",
};
const THREADS: SettingSpec =
    SettingSpec { name: "threads", variable: Some("OARLOCK_THREADS"), expected: "a number from 1 to 1024" };
const NICE: SettingSpec =
    SettingSpec { name: "nice", variable: Some("OARLOCK_NICE"), expected: "a number from 0 to 19" };
const PATIENCE: SettingSpec = SettingSpec {
    name: "patience_ms",
    variable: Some("OARLOCK_PATIENCE_MS"),
    expected: "milliseconds from 1 to 600000",
};

impl Config {
    /// Reads the settings: `section` and `environment` return the value of a name. The second result has a warning for
    /// each variable that is set and ignored.
    ///
    /// # Errors
    /// [`ProviderError::Setting`] names the setting, its value, and the values that it allows.
    pub(crate) fn read(
        section: impl Fn(&str) -> Option<String>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<(Self, Vec<&'static str>), ProviderError> {
        let from_section = |setting: &SettingSpec| section(setting.name).map(|value| (setting.name, value));
        let value = |setting: &SettingSpec| {
            let variable = setting.variable.and_then(|name| environment(name).map(|value| (name, value)));
            variable.or_else(|| from_section(setting))
        };
        let mut ignored = Vec::new();
        if environment(SERVER_USER_VARIABLE).is_some() {
            ignored.push("OARLOCK_SERVER_USER is ignored: set server_user in the section of openssl.cnf");
        }
        let (of_section, wanted) =
            (parsed(&MODE, from_section(&MODE), mode)?, parsed(&MODE, value(&MODE), mode)?);
        // The administrator's decision that keys stay in the process is not the user's to change.
        let is_local = of_section == Some(OperationMode::Local);
        if is_local && wanted != of_section {
            ignored.push("OARLOCK_MODE is ignored: the section of openssl.cnf says mode = local");
        }
        let mode = if is_local { OperationMode::Local } else { wanted.unwrap_or(OperationMode::Auto) };
        let verify_at = parsed(&VERIFY_AT, value(&VERIFY_AT), verify_at)?.unwrap_or(VerifyAt::Process);
        if mode != OperationMode::Service && verify_at == VerifyAt::Server {
            ignored.push("verify_at = server is ignored: it needs mode = service");
        }
        let config = Self {
            mode,
            verify_at: if mode == OperationMode::Service { verify_at } else { VerifyAt::Process },
            socket: parsed(&SOCKET, value(&SOCKET), path)?
                .unwrap_or_else(|| PathBuf::from("/run/oarlock/oarlock.sock")),
            server_user: parsed(&SERVER_USER, value(&SERVER_USER), word)?
                .unwrap_or_else(|| "oarlock".to_owned()),
            engines: parsed(&ENGINES, value(&ENGINES), names)?,
            threads: parsed(&THREADS, value(&THREADS), |text| number(text, 1024))?
                .map(|count| count as usize),
            nice: parsed(&NICE, value(&NICE), |text| text.parse().ok().filter(|nice| *nice <= 19))?
                .unwrap_or(10),
            patience: parsed(&PATIENCE, value(&PATIENCE), |text| number(text, 600_000))?
                .map_or(Duration::from_secs(2), Duration::from_millis),
        };
        Ok((config, ignored))
    }
}

impl Config {
    /// True if this engine of the process may compute.
    pub(crate) fn allows(&self, engine: &str) -> bool {
        match (self.mode, &self.engines) {
            (OperationMode::Service, _) | (_, None) => true,
            (_, Some(names)) => names.iter().any(|name| name == engine),
        }
    }
}

fn parsed<T>(
    setting: &SettingSpec,
    given: Option<(&'static str, String)>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, ProviderError> {
    let Some((name, value)) = given else { return Ok(None) };
    match parse(value.trim()) {
        Some(parsed) => Ok(Some(parsed)),
        None => Err(ProviderError::Setting { name, value, expected: setting.expected }),
    }
}

fn mode(text: &str) -> Option<OperationMode> {
    match text {
        "auto" => Some(OperationMode::Auto),
        "local" => Some(OperationMode::Local),
        "service" => Some(OperationMode::Service),
        _ => None,
    }
}

fn verify_at(text: &str) -> Option<VerifyAt> {
    match text {
        "process" => Some(VerifyAt::Process),
        "server" => Some(VerifyAt::Server),
        _ => None,
    }
}

fn path(text: &str) -> Option<PathBuf> {
    Some(PathBuf::from(text)).filter(|path| path.is_absolute())
}

fn word(text: &str) -> Option<String> {
    (!text.is_empty() && !text.contains(char::is_whitespace)).then(|| text.to_owned())
}

fn names(text: &str) -> Option<Vec<String>> {
    let known = |name: &str| oarlock::KNOWN_ENGINES.contains(&name).then(|| name.to_owned());
    text.split(',').map(|name| known(name.trim())).collect()
}

fn number(text: &str, max: u64) -> Option<u64> {
    text.parse().ok().filter(|number| (1..=max).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(section: &[(&str, &str)], environment: &[(&str, &str)]) -> Result<Config, ProviderError> {
        let of = |pairs: &[(&str, &str)], name: &str| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        Config::read(|name| of(section, name), |name| of(environment, name)).map(|(config, _)| config)
    }

    fn ignored(section: &[(&str, &str)], environment: &[(&str, &str)]) -> Vec<&'static str> {
        let of = |pairs: &[(&str, &str)], name: &str| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        Config::read(|name| of(section, name), |name| of(environment, name)).unwrap().1
    }

    #[test]
    fn without_settings_measured_costs_decide() {
        let config = read(&[], &[]).unwrap();
        assert_eq!((config.mode, config.engines, config.threads), (OperationMode::Auto, None, None));
        assert_eq!(config.nice, 10);
        assert_eq!(config.socket, PathBuf::from("/run/oarlock/oarlock.sock"));
        assert_eq!(config.patience, Duration::from_secs(2));
    }

    #[test]
    fn the_environment_overrides_the_section() {
        let section = [("mode", "service"), ("engines", "lanes, scalar"), ("threads", "2")];
        let config = read(&section, &[("OARLOCK_THREADS", "3")]).unwrap();
        assert_eq!((config.mode, config.threads), (OperationMode::Service, Some(3)));
        assert_eq!(config.engines, Some(vec!["lanes".to_owned(), "scalar".to_owned()]));
    }

    #[test]
    fn the_environment_cannot_choose_who_gets_the_keys() {
        let service =
            [("OARLOCK_MODE", "service"), ("OARLOCK_SOCKET", "/home/me/sock"), ("OARLOCK_SERVER_USER", "me")];
        for section in [&[("mode", "local")][..], &[("mode", "local"), ("server_user", "oarlock")]] {
            let config = read(section, &service).unwrap();
            assert_eq!((config.mode, &*config.server_user), (OperationMode::Local, "oarlock"));
            assert_eq!(ignored(section, &service).len(), 2);
        }
        for user in ["auto", "service"] {
            let variable = [("OARLOCK_MODE", user)];
            assert_eq!(read(&[("mode", "local")], &variable).unwrap().mode, OperationMode::Local);
            assert_eq!(ignored(&[("mode", "local")], &variable).len(), 1);
        }
        let config = read(&[("mode", "service"), ("server_user", "keys")], &service).unwrap();
        assert_eq!((config.mode, &*config.server_user), (OperationMode::Service, "keys"));
        // Without a mode in the section the user decides: the keys are the user's own.
        assert_eq!(read(&[], &service[..1]).unwrap().mode, OperationMode::Service);
        assert!(ignored(&[], &service[..1]).is_empty());
        // A return to this process is always allowed.
        let back = [("OARLOCK_MODE", "local")];
        assert_eq!(read(&[("mode", "service")], &back).unwrap().mode, OperationMode::Local);
        assert!(ignored(&[("mode", "service")], &back).is_empty());
    }

    #[test]
    fn the_server_verifies_only_in_service_mode() {
        for (mode, at, expected) in [
            ("service", None, VerifyAt::Process),
            ("service", Some("process"), VerifyAt::Process),
            ("service", Some("server"), VerifyAt::Server),
            ("local", Some("server"), VerifyAt::Process),
            ("auto", Some("server"), VerifyAt::Process),
        ] {
            let section: Vec<_> =
                [("mode", mode)].into_iter().chain(at.map(|at| ("verify_at", at))).collect();
            assert_eq!(read(&section, &[]).unwrap().verify_at, expected, "{section:?}");
            assert_eq!(ignored(&section, &[]).len(), usize::from(mode != "service"), "{section:?}");
        }
        let by_variable = read(&[("mode", "service")], &[("OARLOCK_VERIFY_AT", "server")]).unwrap();
        assert_eq!(by_variable.verify_at, VerifyAt::Server);
    }

    #[test]
    fn an_error_names_the_setting_its_value_and_the_allowed_values() {
        for (name, value, expected) in [
            ("mode", "servce", "auto, local or service"),
            ("verify_at", "service", "process or server"),
            ("socket", "oarlock.sock", "the absolute path"),
            ("server_user", "", "a user's name"),
            ("engines", "lanes,,scalar", "lanes, scalar or both"),
            ("engines", "gpu", "lanes, scalar or both"),
            ("threads", "0", "a number from 1"),
            ("threads", "two", "a number from 1"),
            ("nice", "20", "a number from 0 to 19"),
            ("nice", "-1", "a number from 0 to 19"),
            ("patience_ms", "600001", "milliseconds"),
        ] {
            let said = read(&[(name, value)], &[]).unwrap_err().to_string();
            assert!(said.contains(name) && said.contains(value) && said.contains(expected), "{said}");
        }
        let said = read(&[("mode", "local")], &[("OARLOCK_MODE", "remote")]).unwrap_err().to_string();
        assert!(said.starts_with("OARLOCK_MODE = \"remote\""), "{said}");
    }
}
