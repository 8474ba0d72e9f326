use super::*;

fn read(text: &str) -> Result<FilterConfig, FilterConfigError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("milter.toml");
    std::fs::write(&path, text).unwrap();
    FilterConfig::read(&path)
}

#[test]
fn the_default_settings_are_valid() {
    let config = read("").unwrap();
    assert_eq!(format!("{config:?}"), format!("{:?}", FilterConfig::default()));
    assert_eq!((config.policy(), config.canonicalization().unwrap()), Default::default());
    assert_eq!(config.coverage(), HeaderCoverage::default());
    assert_eq!(config.settings().unwrap(), MilterSettings::default());
    assert_eq!(config.sockets().unwrap().len(), 1);
}

#[test]
fn the_documented_file_has_every_setting_with_its_default() {
    let text = include_str!("../../../../../docs/milter.toml");
    let mut shown: FilterConfig = toml::from_str(text).unwrap();
    shown.check().unwrap();
    // A setting without a default is shown as an example.
    shown.signing.table = None;
    shown.authserv_id = None;
    assert_eq!(format!("{shown:?}"), format!("{:?}", FilterConfig::default()));
    // Settings that are commented out must be valid as well.
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
    let config = read(&all).unwrap();
    assert!(config.cryptoserver.is_some() && config.devices.len() == 1);
    assert!(config.arc.seal.is_some() && config.listen.metrics.is_some());
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[test]
fn reports_unknown_settings_with_their_line() {
    for (text, line, name) in [
        ("mod = \"sign\"", ":1:", "mod"),
        ("[signing]\n\nkey = 1", ":3:", "key"),
        ("[on]\ndns = \"accept\"", ":2:", "dns"),
        ("[arc.seal]\ndomain = \"a\"\nselector = \"b\"\nkey = \"c\"\nfoo = 1", ":5:", "foo"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(line) && error.contains(&format!("`{name}`")), "{error}");
    }
}

#[test]
fn reports_invalid_values_with_the_allowed_ones() {
    for (text, name) in [
        ("listen.sockets = []", "[listen] sockets"),
        ("listen.sockets = [\"nowhere\"]", "[listen] sockets"),
        ("listen.unix_mode = \"rw\"", "[listen] unix_mode"),
        ("signing.canonicalization = \"loose\"", "[signing] canonicalization"),
        ("signing.signed_headers = [\"From:\"]", "[signing] signed_headers"),
        ("signing.oversigned_headers = [\"a:b\"]", "oversigned_headers"),
        ("verifying.min_rsa_bits = 512", "[verifying] min_rsa_bits"),
        ("limits.max_headers = 0", "[limits] max_headers"),
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
fn relative_paths_start_at_the_directory_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("milter.toml");
    std::fs::write(
        &path,
        "signing.table = \"a\"\n[arc.seal]\ndomain = \"d\"\nselector = \"s\"\nkey = \"/k\"",
    )
    .unwrap();
    let config = FilterConfig::read(&path).unwrap();
    assert_eq!(config.signing.table.unwrap(), directory.path().join("a"));
    assert_eq!(config.arc.seal.unwrap().key, Path::new("/k"));
}

#[test]
fn the_sources_of_the_signing_address_must_be_known_and_distinct() {
    for text in ["[]", "[\"from\", \"from\"]", "[\"sender\", \"from\", \"sender\"]"] {
        let error = read(&format!("[signing]\ndomain_from = {text}")).unwrap_err().to_string();
        assert!(error.contains("[signing] domain_from") && error.contains("each once"), "{error}");
    }
    let error = read("[signing]\ndomain_from = [\"reply_to\"]").unwrap_err().to_string();
    assert!(error.contains("reply_to") && error.contains("mail_from"), "{error}");
}

#[test]
fn dnssec_is_required_only_if_it_is_asked_for() {
    let error = read("[verifying]\nrequires_dnssec = true").unwrap_err().to_string();
    assert!(
        error.contains("[verifying] requires_dnssec") && error.contains("[dns] dnssec = true"),
        "{error}"
    );
    let config =
        read("[verifying]\nrequires_dnssec = true\n[dns]\ndnssec = true\ntrusted_resolvers = [\"::1\"]");
    assert_eq!(config.unwrap().validators(), Some(TrustedValidators(vec!["::1".parse().unwrap()])));
    assert_eq!(FilterConfig::default().validators(), None);
    let error = read("[dns]\ntrusted_resolvers = [\"ns.example\"]").unwrap_err().to_string();
    assert!(error.contains("IP address") || error.contains("trusted_resolvers"), "{error}");
}
