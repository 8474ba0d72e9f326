//! docs/oarlock.toml is true and whole.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt;
use std::path::Path;

use oarlock_server::Config;
use oarlock_server::config::{Audit, Engines, Grant, Keys, Limits, Listen, Tls};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

fn text() -> String {
    std::fs::read_to_string(path()).unwrap()
}

fn path() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/oarlock.toml"))
}

/// The file with what is off switched on.
fn with_everything() -> String {
    let is_setting = |line: &str| {
        let name = line.split(" = ").next().filter(|name| *name != line);
        let is_name = |name: &str| name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
        line.starts_with('[') || name.is_some_and(is_name)
    };
    let lines = text()
        .lines()
        .map(|line| line.strip_prefix("# ").filter(|rest| is_setting(rest)).unwrap_or(line).to_owned())
        .collect::<Vec<_>>();
    lines.join("\n")
}

#[test]
fn every_value_is_the_default() {
    let config = Config::read(path()).unwrap();
    assert_eq!(format!("{:?}", config.limits), format!("{:?}", Limits::default()));
    assert_eq!(config.engines.cross_check, Some(oarlock::Config::default().cross_check));
    assert_eq!((&config.engines.allowed, config.engines.threads), (&None, None));
    assert!(config.audit.is_none() && config.keys.directory.is_none() && config.listen.metrics.is_none());
    assert_eq!((config.grants[0].schemes[0].as_str(), config.grants[0].rate), ("*", None));
    assert_eq!(config.tls.unwrap().certificate, path().with_file_name("server.pem"));
    assert_eq!(config.listen.unix_mode, None);
}

#[test]
fn every_setting_is_there() {
    let whole: toml::Table = toml::from_str(&with_everything()).unwrap();
    for (section, fields) in [
        ("listen", fields::<Listen>()),
        ("tls", fields::<Tls>()),
        ("keys", fields::<Keys>()),
        ("grant", fields::<Grant>()),
        ("audit", fields::<Audit>()),
        ("limits", fields::<Limits>()),
        ("engines", fields::<Engines>()),
    ] {
        let own = &whole[section];
        let own = own.as_array().map_or(own, |sections| &sections[0]).as_table().unwrap();
        let missing: Vec<_> = fields.iter().filter(|field| !own.contains_key(**field)).collect();
        assert!(missing.is_empty(), "[{section}] says nothing of {missing:?}");
    }
    assert_eq!(fields::<Config>().len(), whole.len());
    let config: Config = toml::from_str(&with_everything()).unwrap();
    config.check().unwrap();
}

/// The fields that a structure is read from.
fn fields<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    match T::deserialize(Fields) {
        Err(Found(fields)) => fields,
        Ok(_) => panic!("it was read from nothing"),
    }
}

/// Reads nothing, and tells what was to be read.
struct Fields;

#[derive(Debug)]
struct Found(&'static [&'static str]);

impl<'de> Deserializer<'de> for Fields {
    type Error = Found;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Found> {
        panic!("it is no structure")
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Found> {
        Err(Found(fields))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl Error for Found {
    fn custom<T: fmt::Display>(message: T) -> Self {
        panic!("{message}")
    }
}

impl std::error::Error for Found {}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
