use super::*;

const SMALL: &str = "backend.address = \"127.0.0.1:8080\"\ncertificates.path = \"certificates\"\n";

fn parse(text: &str) -> Result<ProxyConfig, SettingsError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    ProxyConfig::read(file.path())
}

#[test]
fn a_backend_and_certificates_are_enough() {
    let config = parse(SMALL).unwrap();
    assert_eq!(config.listeners()[0].sockets, [ListenAddress::AnyAddress(443)]);
    assert_eq!(config.limits, ProxyLimits::default());
    assert!(config.certificates.path.unwrap().is_absolute());
}

#[test]
fn the_documented_file_is_valid_and_has_the_defaults() {
    let text = include_str!("../../../../../docs/proxy.toml");
    let documented = parse(text).unwrap();
    let plain = parse(SMALL).unwrap();
    assert_eq!(documented.limits, plain.limits);
    assert_eq!(documented.tickets.lifetime_seconds, plain.tickets.lifetime_seconds);
    assert_eq!(documented.kernel, plain.kernel);
    assert_eq!(documented.tls, plain.tls);
    // Each setting behind a # is valid too.
    let is_setting = |line: &&str| line.contains('=') || line.starts_with('[');
    let all: String = text
        .lines()
        .map(|line| match line.strip_prefix("# ").filter(is_setting) {
            Some(setting) if !setting.contains(". ") && !setting.ends_with('.') => format!("{setting}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let all = parse(&all).unwrap_or_else(|error| panic!("{error}\n{all}"));
    assert!(all.clients.is_some() && all.cryptoserver.is_some() && all.tickets.keys.is_some());
    assert_eq!(all.devices.len(), 1);
}

#[test]
fn faulty_settings_name_their_field() {
    for (text, expected) in [
        ("certificates.path = \"c\"\n", "[backend]: expected an address"),
        ("backend.address = \"127.0.0.1:80\"\n", "[certificates] path: expected"),
        ("backend.address = \"127.0.0.1\"\n", "is not an address: expected HOST:PORT"),
        ("mode = \"client\"\nbackend.address = \"127.0.0.1:80\"\n", "[backend.tls]: expected TLS"),
        ("listen.sockets = []\n", "[listen] sockets: expected at least one"),
        ("listen.sockets = [\":1\", \":1\"]\n", "each address once"),
        ("listen.sockets = [\"443\"]\n", "expected ADDRESS:PORT, :PORT, unix:PATH or systemd"),
        ("listen.unix_mode = \"9\"\n", "octal digits"),
        ("limits.max_idle_seconds = 0\n", "[limits] max_idle_seconds: expected 1 or more"),
        ("tickets.lifetime_seconds = 700000\n", "a week"),
        ("tls.min_version = \"1.3\"\ntls.max_version = \"1.2\"\n", "not above max_version"),
        ("tls.min_version = \"1.1\"\n", "unknown variant `1.1`"),
        ("tls.ciphers = []\n", "[tls] ciphers: expected at least one"),
        ("tls.ciphers = [\"RC4\"]\n", "unknown variant `RC4`"),
        ("tls.alpn = [\"\"]\n", "names of 1 to 255 bytes"),
        ("clients.authorities = \"a\"\nclients.allowed_names = [\"x\"]\n", "expected DNS:NAME"),
        (
            "clients.authorities = \"a\"\nclients.max_chain_certificates = 0\n",
            "[clients] max_chain_certificates: expected 1 to 32",
        ),
        ("certificats.path = \"c\"\n", "unknown field `certificats`"),
    ] {
        let whole = if expected.starts_with("[backend")
            || expected.starts_with("[certificates")
            || text.starts_with("backend")
        {
            text.to_owned()
        } else {
            SMALL.to_owned() + text
        };
        let error = parse(&whole).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_key_in_place_of_a_path_is_not_shown() {
    let text = "backend.address = \"a:1\"\ncertificates.path = \"-----BEGIN PRIVATE KEY-----\\nMIGH\"\n";
    let error = parse(text).unwrap_err().to_string();
    assert!(error.contains("looks like a key") && !error.contains("MIGH"), "{error}");
}

#[test]
fn addresses_are_shown_as_they_were_written() {
    for text in ["127.0.0.1:80", "[::1]:80", "localhost:80", "unix:/run/b.sock"] {
        assert_eq!(text.parse::<BackendAddress>().unwrap().to_string(), text);
    }
    for text in ["127.0.0.1:443", "[::]:443", ":443", "unix:/run/l.sock", "systemd"] {
        assert_eq!(text.parse::<ListenAddress>().unwrap().to_string(), text);
    }
    for text in ["", ":80", "a:0", "a:99999", "[::1", "[x]:1", "unix:", "http://a:1"] {
        assert!(text.parse::<BackendAddress>().is_err(), "{text}");
    }
}

#[test]
fn changes_that_need_a_restart_are_named() {
    let old = parse(SMALL).unwrap();
    let new = parse(&format!("{SMALL}listen.sockets = [\":8443\"]\nlimits.max_idle_seconds = 5\n")).unwrap();
    assert_eq!(old.fixed_changes(&new), ["listen"]);
    assert_eq!(old.fixed_changes(&old), [""; 0]);
}
