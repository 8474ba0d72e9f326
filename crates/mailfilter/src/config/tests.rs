use super::*;

fn read(text: &str) -> Result<Config, ConfigError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("milter.toml");
    std::fs::write(&path, text).unwrap();
    Config::read(&path)
}

#[test]
fn defaults_are_whole_and_work() {
    let config = read("").unwrap();
    assert_eq!(format!("{config:?}"), format!("{:?}", Config::default()));
    assert_eq!((config.policy(), config.canonicalization().unwrap()), Default::default());
    assert_eq!(config.coverage(), Coverage::default());
    assert_eq!(config.settings().unwrap(), Settings::default());
    assert_eq!(config.sockets().unwrap().len(), 1);
}

#[test]
fn the_documented_file_has_every_setting_at_its_default() {
    let text = include_str!("../../../../docs/milter.toml");
    let mut shown: Config = toml::from_str(text).unwrap();
    shown.check().unwrap();
    // What has no default stands there as an example.
    shown.signing.table = None;
    shown.authserv_id = None;
    assert_eq!(format!("{shown:?}"), format!("{:?}", Config::default()));
    // Settings that are off are settings nevertheless.
    let all: String = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest)
                if rest.starts_with('[') || rest.split_once(" = ").is_some_and(|(name, _)| is_name(name)) =>
            {
                rest
            }
            _ => line,
        })
        .fold(String::new(), |text, line| text + line + "\n");
    let config: Config = toml::from_str(&all).unwrap();
    config.check().unwrap();
    assert!(config.cryptoserver.is_some() && config.arc.seal.is_some() && config.listen.metrics.is_some());
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[test]
fn unknown_settings_are_refused_with_their_place() {
    for (text, place, name) in [
        ("mod = \"sign\"", ":1:", "mod"),
        ("[signing]\n\nkey = 1", ":3:", "key"),
        ("[on]\ndns = \"accept\"", ":2:", "dns"),
        ("[arc.seal]\ndomain = \"a\"\nselector = \"b\"\nkey = \"c\"\nfoo = 1", ":5:", "foo"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(place) && error.contains(&format!("`{name}`")), "{error}");
    }
}

#[test]
fn what_cannot_work_is_told_with_what_would() {
    for (text, name) in [
        ("listen.sockets = []", "[listen] sockets"),
        ("listen.sockets = [\"nowhere\"]", "[listen] sockets"),
        ("listen.unix_mode = \"rw\"", "[listen] unix_mode"),
        ("signing.canonicalization = \"loose\"", "[signing] canonicalization"),
        ("signing.signed_headers = [\"From:\"]", "[signing] signed_headers"),
        ("signing.oversigned_headers = [\"a:b\"]", "oversigned_headers"),
        ("verifying.min_rsa_bits = 512", "[verifying] min_rsa_bits"),
        ("limits.headers = 0", "[limits] headers"),
        ("engines.cross_check = 2.0", "[engines] cross_check"),
        ("authserv_id = \"a b\"", "authserv_id"),
        ("internal_networks = [\"10.0.0.0/40\"]", "10.0.0.0/40"),
        ("on.no_signature = \"drop\"", "drop"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn paths_count_from_the_files_directory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("milter.toml");
    std::fs::write(
        &path,
        "signing.table = \"a\"\n[arc.seal]\ndomain = \"d\"\nselector = \"s\"\nkey = \"/k\"",
    )
    .unwrap();
    let config = Config::read(&path).unwrap();
    assert_eq!(config.signing.table.unwrap(), directory.path().join("a"));
    assert_eq!(config.arc.seal.unwrap().key, Path::new("/k"));
}
