//! The provider's settings: its section of openssl.cnf, and the environment, which wins for some of them.
//!
//! The section is the administrator's, the environment the user's who starts the program. The user chooses how the work is done, never
//! who gets the keys: `server_user` comes from the section alone, and a section that says `mode = local` stays local. A program with
//! raised privileges gives an empty environment to [`Config::read`].

use std::path::PathBuf;
use std::time::Duration;

use crate::error::Failure;

/// Where operations are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// By the engines of this process.
    Local,
    /// RSA private operations and held keys by a cryptoserver, everything else here.
    Service,
}

/// All settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) mode: Mode,
    /// The cryptoserver's UNIX socket.
    pub(crate) socket: PathBuf,
    /// Who may run the cryptoserver, beside root and this process's user: a name or a number.
    pub(crate) server_user: String,
    /// Engines of this process by name; None for all.
    pub(crate) engines: Option<Vec<String>>,
    /// Threads of this process's engines; None for one per core.
    pub(crate) threads: Option<usize>,
    /// How far this process's workers stand back for its other threads, as nice(1) counts.
    pub(crate) nice: u8,
    /// How long an answer of the cryptoserver may take.
    pub(crate) patience: Duration,
}

/// A setting: its name in the section, in the environment, and what may stand there.
struct Setting {
    name: &'static str,
    /// None for what the section alone decides.
    variable: Option<&'static str>,
    expected: &'static str,
}

/// Was once read, and could make another user's program the server.
const SERVER_USER_VARIABLE: &str = "OARLOCK_SERVER_USER";

const MODE: Setting = Setting { name: "mode", variable: Some("OARLOCK_MODE"), expected: "local or service" };
const SOCKET: Setting = Setting {
    name: "socket",
    variable: Some("OARLOCK_SOCKET"),
    expected: "the absolute path of a UNIX socket",
};
const SERVER_USER: Setting =
    Setting { name: "server_user", variable: None, expected: "a user's name or number" };
const ENGINES: Setting = Setting {
    name: "engines",
    variable: Some("OARLOCK_ENGINES"),
    expected: "lanes, scalar or both, with a comma",
};
const THREADS: Setting =
    Setting { name: "threads", variable: Some("OARLOCK_THREADS"), expected: "a number from 1 to 1024" };
const NICE: Setting =
    Setting { name: "nice", variable: Some("OARLOCK_NICE"), expected: "a number from 0 to 19" };
const PATIENCE: Setting = Setting {
    name: "patience_ms",
    variable: Some("OARLOCK_PATIENCE_MS"),
    expected: "milliseconds from 1 to 600000",
};

impl Config {
    /// Reads the settings: `section` and `environment` give the value of a name. The second result says which variables are set and
    /// not followed.
    ///
    /// # Errors
    /// [`Failure::Setting`] names the setting, where it was given, and what was expected.
    pub(crate) fn read(
        section: impl Fn(&str) -> Option<String>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<(Self, Vec<&'static str>), Failure> {
        let from_section = |setting: &Setting| section(setting.name).map(|value| (setting.name, value));
        let value = |setting: &Setting| {
            let variable = setting.variable.and_then(|name| environment(name).map(|value| (name, value)));
            variable.or_else(|| from_section(setting))
        };
        let mut ignored = Vec::new();
        if environment(SERVER_USER_VARIABLE).is_some() {
            ignored.push(
                "OARLOCK_SERVER_USER is not followed: server_user stands in the section of openssl.cnf",
            );
        }
        let (own, wanted) = (parsed(&MODE, from_section(&MODE), mode)?, parsed(&MODE, value(&MODE), mode)?);
        let is_sent_away = (own, wanted) == (Some(Mode::Local), Some(Mode::Service));
        if is_sent_away {
            ignored
                .push("OARLOCK_MODE = service is not followed: the section of openssl.cnf says mode = local");
        }
        let config = Self {
            mode: if is_sent_away { Mode::Local } else { wanted.unwrap_or(Mode::Local) },
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

fn parsed<T>(
    setting: &Setting,
    given: Option<(&'static str, String)>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Failure> {
    let Some((name, value)) = given else { return Ok(None) };
    match parse(value.trim()) {
        Some(parsed) => Ok(Some(parsed)),
        None => Err(Failure::Setting { name, value, expected: setting.expected }),
    }
}

fn mode(text: &str) -> Option<Mode> {
    match text {
        "local" => Some(Mode::Local),
        "service" => Some(Mode::Service),
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

    fn read(section: &[(&str, &str)], environment: &[(&str, &str)]) -> Result<Config, Failure> {
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
    fn nothing_set_means_this_process() {
        let config = read(&[], &[]).unwrap();
        assert_eq!((config.mode, config.engines, config.threads), (Mode::Local, None, None));
        assert_eq!(config.nice, 10);
        assert_eq!(config.socket, PathBuf::from("/run/oarlock/oarlock.sock"));
        assert_eq!(config.patience, Duration::from_secs(2));
    }

    #[test]
    fn the_environment_wins() {
        let section = [("mode", "service"), ("engines", "lanes, scalar"), ("threads", "2")];
        let config = read(&section, &[("OARLOCK_THREADS", "3")]).unwrap();
        assert_eq!((config.mode, config.threads), (Mode::Service, Some(3)));
        assert_eq!(config.engines, Some(vec!["lanes".to_owned(), "scalar".to_owned()]));
    }

    #[test]
    fn the_environment_never_says_who_gets_the_keys() {
        let service =
            [("OARLOCK_MODE", "service"), ("OARLOCK_SOCKET", "/home/me/sock"), ("OARLOCK_SERVER_USER", "me")];
        for section in [&[("mode", "local")][..], &[("mode", "local"), ("server_user", "oarlock")]] {
            let config = read(section, &service).unwrap();
            assert_eq!((config.mode, &*config.server_user), (Mode::Local, "oarlock"));
            assert_eq!(ignored(section, &service).len(), 2);
        }
        let config = read(&[("mode", "service"), ("server_user", "keys")], &service).unwrap();
        assert_eq!((config.mode, &*config.server_user), (Mode::Service, "keys"));
        // A section that leaves the mode open leaves it to the user, whose keys they are.
        assert_eq!(read(&[], &service[..1]).unwrap().mode, Mode::Service);
        assert!(ignored(&[], &service[..1]).is_empty());
        // Back to this process is always allowed.
        let back = [("OARLOCK_MODE", "local")];
        assert_eq!(read(&[("mode", "service")], &back).unwrap().mode, Mode::Local);
        assert!(ignored(&[("mode", "service")], &back).is_empty());
    }

    #[test]
    fn what_is_wrong_is_named_where_it_stands() {
        for (name, value, expected) in [
            ("mode", "servce", "local or service"),
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
