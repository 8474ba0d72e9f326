use oarlock_service_kit::settings::SettingsError;

use super::*;
use crate::config::ProxyConfig;

fn parse(text: &str) -> Result<ProxyConfig, SettingsError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("certificates.path = \"c\"\n{text}")).unwrap();
    ProxyConfig::read(file.path())
}

fn addresses(backend: &BackendSettings) -> Vec<String> {
    backend.endpoints().map(|endpoint| endpoint.address.to_string()).collect()
}

#[test]
fn one_table_and_several_tables_are_accepted() {
    let one = parse("[backend]\naddress = \"a:1\"\n").unwrap();
    let same = parse("[[backend]]\naddresses = [\"a:1\"]\n").unwrap();
    assert_eq!(addresses(&one.backend[0]), addresses(&same.backend[0]));
    let several = "[[backend]]\nname = \"web\"\nbalance = \"source-hash\"\n\
                   addresses = [\"a:1\", { address = \"b:1\", backup = true }, { address = \"c:1\", drain = true }]\n\
                   [[backend]]\naddress = \"unix:/run/rest.sock\"\n\
                   [[route]]\nnames = [\"a.example\"]\nbackend = \"web\"\n\
                   [[route]]\nbackend.address = \"d:1\"\n";
    let several = parse(several).unwrap();
    let web = &several.backend[0];
    assert_eq!(
        (addresses(web), web.balance),
        (vec!["a:1".into(), "b:1".into(), "c:1".into()], BalanceRule::SourceHash)
    );
    let flags: Vec<_> = web.endpoints().map(|endpoint| (endpoint.backup, endpoint.drain)).collect();
    assert_eq!(flags, [(false, false), (true, false), (false, true)]);
    assert_eq!(several.default_backend(), Some(&several.backend[1]));
    assert_eq!(several.backend_of_route(&several.route[0]).unwrap(), web);
    let all: Vec<_> = several.backend_addresses().map(|address| address.to_string()).collect();
    assert_eq!(all, ["a:1", "b:1", "c:1", "unix:/run/rest.sock", "d:1"]);
}

#[test]
fn faulty_backends_name_their_field() {
    let many: Vec<String> = (0..257).map(|number| format!("\"a{number}:1\"")).collect();
    let many = format!("[backend]\naddresses = [{}]\n", many.join(","));
    let web = "[[backend]]\nname = \"web\"\naddress = \"a:1\"\n";
    for (text, expected) in [
        (
            "[[backend]]\naddress = \"a:1\"\n[[backend]]\naddress = \"b:1\"\n",
            "[[backend]] name: expected a name in all",
        ),
        (&format!("{web}{web}"), "[[backend]] name: expected no name twice, found Some(\"web\")"),
        (web, "[backend]: expected an address in a backend without a name, or at least one [[route]]"),
        (
            &format!("{web}[[route]]\nbackend = \"wev\"\n"),
            "[[route]] backend: expected the name of a [[backend]], found \"wev\"",
        ),
        ("[[route]]\nbackend = { name = \"x\", address = \"a:1\" }\n", "[route.backend] name: expected none"),
        ("[[route]]\nbackend = 5\n", "expected the name of a [[backend]] or a table"),
        ("[backend]\nname = \"a b\"\naddress = \"a:1\"\n", "[backend] name: expected 1 to 64 letters"),
        ("[backend]\n", "[backend] addresses: expected 1 to 256 addresses, found 0"),
        (&many, "[backend] addresses: expected 1 to 256 addresses, found 257"),
        (
            "[backend]\naddress = \"a:1\"\naddresses = [\"b:1\"]\n",
            "[backend] addresses: expected none beside address",
        ),
        (
            "[backend]\naddresses = [\"a:1\", \"b:1\", \"a:1\"]\n",
            "[backend] addresses: expected no address twice, found a:1",
        ),
        ("[backend]\naddresses = [\"a\"]\n", "is not an address: expected HOST:PORT or unix:PATH"),
        ("[backend]\naddresses = [{ address = \"a:1\", drains = true }]\n", "unknown field `drains`"),
        ("[backend]\naddresses = [{ backup = true }]\n", "missing field `address`"),
        (
            "[backend]\naddresses = [{ address = \"a:1\", drain = true }]\n",
            "expected at least one without drain",
        ),
        (
            "[backend]\naddresses = [{ address = \"a:1\", backup = true }]\n",
            "expected at least one without backup",
        ),
        ("[backend]\naddress = \"a:1\"\nbalance = \"random\"\n", "unknown variant `random`"),
        (
            "[backend]\naddress = \"unix:/b\"\ntls.authorities = \"ca\"\n",
            "[backend.tls] server_name: expected a name",
        ),
        ("backend = \"a:1\"\n", "expected a table [backend] or tables [[backend]]"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn faulty_checks_and_times_name_their_field() {
    for (text, expected) in [
        ("check.kind = \"tls\"", "[backend.check] kind: expected \"tls\" only beside [backend.tls]"),
        ("check.kind = \"http\"", "unknown variant `http`"),
        ("check.kind = \"line\"", "[backend.check] expect: expected the beginning of a line"),
        ("check.expect = \"220\"", "[backend.check] expect: expected nothing, unless kind is \"line\""),
        ("check.send = \"PING\"", "[backend.check] send: expected nothing, unless kind is \"line\""),
        ("check.interval_seconds = 0", "[backend.check] interval_seconds: expected 1 to 3600, found 0"),
        (
            "check.timeout_seconds = 6",
            "[backend.check] timeout_seconds: expected 1 to interval_seconds, found 6",
        ),
        ("check.rise = 0", "[backend.check] rise: expected 1 to 100, found 0"),
        ("check.fall = 101", "[backend.check] fall: expected 1 to 100, found 101"),
        ("check.port = 80", "unknown field `port`"),
        ("resolve_seconds = 0", "[backend] resolve_seconds: expected 1 to 86400, found 0"),
    ] {
        let error = parse(&format!("[backend]\naddress = \"a:1\"\n{text}\n")).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_backup_may_serve_while_the_only_other_address_drains() {
    let text = "[backend]\naddresses = [{ address = \"a:1\", drain = true }, { address = \"b:1\", backup = true }]\n";
    parse(text).unwrap();
}
