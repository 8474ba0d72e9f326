//! Tests that docs/oarlock.toml is correct and complete.

use std::fmt;
use std::path::Path;

use oarlock::ConfirmRule;
use oarlock_hsm::HsmSettings;
use oarlock_server::CryptoserverConfig;
use oarlock_server::config::{
    AuditConfig, EnginesConfig, GrantConfig, KeysConfig, ListenConfig, ServerLimits, TlsConfig,
};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

fn text() -> String {
    std::fs::read_to_string(path()).unwrap()
}

fn path() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/oarlock.toml"))
}

/// Returns the file with every commented setting switched on.
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
fn shows_the_default_of_every_setting() {
    let config = CryptoserverConfig::read(path()).unwrap();
    assert_eq!(format!("{:?}", config.limits), format!("{:?}", ServerLimits::default()));
    assert_eq!(config.engines.cross_check, Some(oarlock::SchedulerConfig::default().cross_check));
    assert_eq!(ConfirmRule::from(config.engines.confirm), oarlock::SchedulerConfig::default().confirm);
    assert_eq!((&config.engines.allowed, config.engines.threads), (&None, None));
    assert!(config.audit.is_none() && config.keys.directory.is_none() && config.listen.metrics.is_none());
    assert_eq!((config.grants[0].schemes[0].as_str(), config.grants[0].rate), ("*", None));
    assert_eq!(config.tls.unwrap().certificate, path().with_file_name("server.pem"));
    assert_eq!(config.listen.unix_mode, None);
}

#[test]
fn contains_every_setting() {
    let whole: toml::Table = toml::from_str(&with_everything()).unwrap();
    for (section, fields) in [
        ("listen", fields::<ListenConfig>()),
        ("tls", fields::<TlsConfig>()),
        ("keys", fields::<KeysConfig>()),
        ("hsm", fields::<HsmSettings>()),
        ("grant", fields::<GrantConfig>()),
        ("audit", fields::<AuditConfig>()),
        ("limits", fields::<ServerLimits>()),
        ("engines", fields::<EnginesConfig>()),
    ] {
        let value = &whole[section];
        let sections = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        let has = |field: &str| sections.iter().any(|section| section.get(field).is_some());
        let missing: Vec<_> = fields.iter().filter(|field| !has(field)).collect();
        assert!(missing.is_empty(), "[{section}] says nothing of {missing:?}");
    }
    assert_eq!(fields::<CryptoserverConfig>().len(), whole.len());
    let config: CryptoserverConfig = toml::from_str(&with_everything()).unwrap();
    config.check().unwrap();
}

/// Returns the fields of a deserialized structure.
fn fields<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    match T::deserialize(FieldsDeserializer) {
        Err(FoundFields(fields)) => fields,
        Ok(_) => panic!("it was read from nothing"),
    }
}

/// A deserializer that reads nothing and reports the requested fields.
struct FieldsDeserializer;

#[derive(Debug)]
struct FoundFields(&'static [&'static str]);

impl<'de> Deserializer<'de> for FieldsDeserializer {
    type Error = FoundFields;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, FoundFields> {
        panic!("it is no structure")
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, FoundFields> {
        Err(FoundFields(fields))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl Error for FoundFields {
    fn custom<T: fmt::Display>(message: T) -> Self {
        panic!("{message}")
    }
}

impl std::error::Error for FoundFields {}

impl fmt::Display for FoundFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
