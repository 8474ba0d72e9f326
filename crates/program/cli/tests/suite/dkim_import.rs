//! `oarlock dkim import`, and the dates of its result, as operators run them.

use std::fs;
use std::path::Path;

use crate::program::{code, oarlock, stderr};
use serde_json::Value;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Writes settings and tables of OpenDKIM with a key. Returns the path of the settings.
fn prepare(directory: &Path) -> String {
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let made = oarlock(&["keys", "generate", "rsa2048", "--out", &path("mail.pem")]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    fs::write(path("KeyTable"), format!("mail example.com:s1:{}\nwrong example.com\n", path("mail.pem")))
        .unwrap();
    fs::write(path("SigningTable"), "*@example.com mail\njo*@example.com mail\n").unwrap();
    let conf = format!(
        "AuthservID mx.example\nSocket local:{}\nSyslog yes\nCanonicalization relaxed/relaxed\nKeyTable {}\n\
         SigningTable refile:{}\nInternalHosts 192.0.2.0/24, mx.example\n",
        path("milter.sock"),
        path("KeyTable"),
        path("SigningTable")
    );
    fs::write(path("opendkim.conf"), conf).unwrap();
    path("opendkim.conf")
}

#[test]
fn an_import_can_be_checked_and_reports_what_it_leaves_out() {
    let directory = tempfile::tempdir().unwrap();
    let conf = prepare(directory.path());
    let out = directory.path().join("new");
    let made = oarlock(&["--json", "dkim", "import", &conf, "--out", out.to_str().unwrap()]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let report: Value = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(report["signing_lines"], 1);
    let settings = fs::read_to_string(out.join("milter.toml")).unwrap();
    assert_eq!(report["settings"], settings.as_str());
    assert_eq!(report["settings_file"], out.join("milter.toml").to_str().unwrap());
    assert!(settings.contains("internal_hosts = [\"192.0.2.0/24\", \"mx.example\"]"), "{settings}");
    let warnings = report["warnings"].as_array().unwrap();
    let of = |file: &str| {
        warnings.iter().find(|warning| warning["file"].as_str().unwrap().ends_with(file)).unwrap()
    };
    assert_eq!((&of("KeyTable")["line"], &of("KeyTable")["entry"]), (&2.into(), &"wrong".into()));
    assert_eq!(
        (&of("SigningTable")["line"], &of("SigningTable")["entry"]),
        (&2.into(), &"jo*@example.com".into())
    );
    assert_eq!(of("opendkim.conf")["entry"], "Syslog");
    let said = stderr(&made);
    assert_eq!(
        said.lines().filter(|line| line.starts_with("oarlock: warning: ")).count(),
        warnings.len(),
        "{said}"
    );
    assert!(said.contains("KeyTable:2: wrong: expected NAME DOMAIN:SELECTOR:PATH"), "{said}");
    let checked = oarlock(&["milter", "--config", out.join("milter.toml").to_str().unwrap(), "--check"]);
    assert_eq!(code(&checked), 0, "{}", stderr(&checked));
    assert!(text(&checked.stdout).contains("would filter mail as mx.example"), "{}", text(&checked.stdout));
    // Existing files stay.
    fs::write(out.join("signing.table"), "mine\n").unwrap();
    let again = oarlock(&["dkim", "import", &conf, "--out", out.to_str().unwrap()]);
    assert_eq!(code(&again), 2);
    assert!(
        stderr(&again).contains("milter.toml exists") && stderr(&again).contains("--force"),
        "{}",
        stderr(&again)
    );
    assert_eq!(fs::read_to_string(out.join("signing.table")).unwrap(), "mine\n");
    let forced = oarlock(&["dkim", "import", &conf, "--out", out.to_str().unwrap(), "--force"]);
    assert_eq!(code(&forced), 0, "{}", stderr(&forced));
    assert!(text(&forced.stdout).contains("signing.table: 1 line\n"), "{}", text(&forced.stdout));
    assert_eq!(fs::read_to_string(out.join("signing.table")).unwrap(), report["table"]);
}

#[test]
fn tables_alone_are_printed() {
    let directory = tempfile::tempdir().unwrap();
    prepare(directory.path());
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let table = format!("refile:{}", path("SigningTable"));
    let printed = oarlock(&["dkim", "import", "--key-table", &path("KeyTable"), "--signing-table", &table]);
    assert_eq!(code(&printed), 0, "{}", stderr(&printed));
    let said = text(&printed.stdout);
    assert!(
        said.contains("# signing.table\nexample.com s1 ") && said.contains("table = \"signing.table\""),
        "{said}"
    );
    for arguments in [
        &["dkim", "import"][..],
        &["dkim", "import", "--key-table", &path("KeyTable")],
        &["dkim", "import", &path("nowhere")],
        &["dkim", "import", "--key-table", "dsn:mysql://user:password@host/x", "--signing-table", &table],
    ] {
        let refused = oarlock(arguments);
        assert_eq!(code(&refused), 2, "{}", stderr(&refused));
        assert!(!stderr(&refused).contains("password@"), "{}", stderr(&refused));
    }
}

#[test]
fn check_warns_of_coming_selectors_without_a_record() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let mut records = String::new();
    for selector in ["s1", "s2"] {
        let made = oarlock(&["dkim", "keygen", "example.com", selector, "--out", &path(selector)]);
        assert_eq!(code(&made), 0, "{}", stderr(&made));
        fs::write(path(&format!("{selector}.zone")), &made.stdout).unwrap();
        records += &text(&made.stdout);
    }
    // 2105 is the last year that a table can name, so these dates are to come.
    fs::write(path("table"), "example.com s1 s1 until=2105-07-01\nexample.com s2 s2 from=2105-07-01\n")
        .unwrap();
    fs::write(path("milter.toml"), "signing.table = \"table\"\nauthserv_id = \"mx.example\"\n").unwrap();
    fs::write(path("records"), records).unwrap();
    let check = |records: &str| {
        oarlock(&[
            "--json",
            "milter",
            "--config",
            &path("milter.toml"),
            "--check",
            "--keys-file",
            &path(records),
        ])
    };
    let unpublished = check("s1.zone");
    assert_eq!(code(&unpublished), 0, "{}", stderr(&unpublished));
    let said: Value = serde_json::from_slice(&unpublished.stdout).unwrap();
    let warning = said["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("s2._domainkey.example.com: DNS has no record"), "{warning}");
    assert!(
        stderr(&unpublished).contains(&format!("oarlock: warning: {warning}\n")),
        "{}",
        stderr(&unpublished)
    );
    let published = check("records");
    let said: Value = serde_json::from_slice(&published.stdout).unwrap();
    assert_eq!(said["warnings"], Value::Array(Vec::new()), "{}", stderr(&published));
    let help = oarlock(&["milter", "--help"]);
    assert!(text(&help.stdout).contains("Rotation by date"), "{}", text(&help.stdout));
}
