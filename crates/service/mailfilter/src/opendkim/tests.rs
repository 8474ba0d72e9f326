use std::collections::HashMap;

use super::*;
use crate::config::FilterConfig;
use crate::table::SigningTable;

/// Imports files that are given by name and content.
fn imported(sources: &ImportSources, files: &[(&str, &str)]) -> Result<ImportedFilter, ImportError> {
    let files: HashMap<&Path, &str> = files.iter().map(|(path, text)| (Path::new(*path), *text)).collect();
    let read = |path: &Path| {
        files.get(path).map(|text| (*text).to_owned()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    };
    let found = import(sources, &read)?;
    // Everything that is written can be read.
    let table = SigningTable::parse(&found.table, Path::new("signing.table")).unwrap();
    assert_eq!(table.len(), found.lines);
    let config: FilterConfig =
        toml::from_str(&found.settings).unwrap_or_else(|error| panic!("{error}\n{}", found.settings));
    config.check().unwrap();
    assert_eq!(config.signing.table.is_some(), found.lines > 0);
    Ok(found)
}

fn of_conf(files: &[(&str, &str)]) -> ImportedFilter {
    let sources =
        ImportSources { config: Some(PathBuf::from("/etc/opendkim.conf")), ..ImportSources::default() };
    imported(&sources, files).unwrap()
}

fn of_tables(form: &str, keys: &str, signing: &str) -> ImportedFilter {
    let sources = ImportSources {
        config: None,
        key_table: Some("/etc/keys".to_owned()),
        signing_table: Some(format!("{form}/etc/signing")),
    };
    imported(&sources, &[("/etc/keys", keys), ("/etc/signing", signing)]).unwrap()
}

fn warnings(found: &ImportedFilter) -> Vec<String> {
    found.warnings.iter().map(ToString::to_string).collect()
}

/// The example of OpenDKIM's README, "Complex signing configurations".
#[test]
fn imports_the_example_of_the_documentation() {
    let found = of_conf(&[
        (
            "/etc/opendkim.conf",
            "# the file of the README\nKeyTable\t/usr/local/etc/dkim/keytable\n\
             SigningTable\trefile:/usr/local/etc/dkim/signingtable # patterns\n\nCanonicalization relaxed/simple\n",
        ),
        (
            "/usr/local/etc/dkim/keytable",
            "preskey\texample.com:foo:/usr/local/etc/dkim/keys/president\n\
             comkey\texample.com:bar:/usr/local/etc/dkim/keys/excom\n\
             netkey\texample.net:baz:/usr/local/etc/dkim/keys/exnet\n",
        ),
        (
            "/usr/local/etc/dkim/signingtable",
            "president@example.com\tpreskey\n*@example.com\t\tcomkey\n*@example.net\t\tnetkey\n",
        ),
    ]);
    assert_eq!(
        found.table,
        "president@example.com foo /usr/local/etc/dkim/keys/president\n\
         example.com bar /usr/local/etc/dkim/keys/excom\n\
         example.net baz /usr/local/etc/dkim/keys/exnet\n"
    );
    assert_eq!(warnings(&found), [""; 0]);
    assert!(
        found
            .settings
            .contains("\n[signing]\ntable = \"signing.table\"\ncanonicalization = \"relaxed/simple\"\n")
    );
}

#[test]
fn a_percent_sign_stands_for_the_domain_of_the_author() {
    let keys = "any %:s1:/keys/%.pem\nexample.com example.com:s2:/keys/com.pem\n\
                example.org other.example:s3:/keys/org.pem\nfixed %:s4:/keys/fixed.pem\n";
    let signing = "*@a.example any\njoe@b.example any:joe@%\n*@example.com %\n*@*.example.net any\n\
                   * fixed\n*@sub.example.org %\n";
    let found = of_tables("refile:", keys, signing);
    assert_eq!(
        found.table,
        "a.example s1 /keys/a.example.pem\na.example s4 /keys/fixed.pem\n\
         joe@b.example s1 /keys/b.example.pem identity=joe@b.example\njoe@b.example s4 /keys/fixed.pem\n\
         example.com s2 /keys/com.pem\nexample.com s4 /keys/fixed.pem\n\
         * s4 /keys/fixed.pem\n"
    );
    let said = warnings(&found);
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(
        said[0]
            .starts_with("/etc/signing:6: *@sub.example.org: KeyTable has no usable key \"sub.example.org\"")
    );
    assert!(said[1].starts_with("/etc/signing:4: *@*.example.net: its key signs as the author's own domain"));
    assert!(said[2].starts_with("/etc/signing:5: *: its key signs as the author's own domain"), "{said:?}");
}

#[test]
fn the_uri_of_a_key_is_carried_over_as_it_is() {
    let keys = "any %:s1:pkcs11:token=mail;object=a%20key\nbad %:s2:pkcs11:object=a?pin-value=4711\n";
    let found = of_tables("refile:", keys, "*@a.example any\n");
    assert_eq!(found.table, "a.example s1 pkcs11:token=mail;object=a%20key\n");
    let said = warnings(&found);
    assert!(said[0].starts_with("/etc/keys:2: bad: the URI of the key: attribute `pin-value`"), "{said:?}");
    assert!(said.len() == 1 && !said[0].contains("4711"), "{said:?}");
}

#[test]
fn a_percent_sign_as_key_is_a_line_for_each_key_of_a_domain() {
    let keys = "example.com example.com:s1:/k1\nexample.org %:s2:/k2\nnot_only@a b.example:s3:/k3\n";
    let found = of_tables("refile:", keys, "*@* %\n");
    assert_eq!(found.table, "example.com s1 /k1\nexample.org s2 /k2\n");
    assert_eq!(warnings(&found), [""; 0]);
    let none = of_tables("refile:", keys, "*@*.example.net %\n");
    assert_eq!(none.lines, 0);
    assert!(warnings(&none)[0].contains("no key with the name of a domain that this pattern matches"));
}

const KEYS: &str = "one example.com:s1:/k1\ntwo example.com:s2:/k2\nnet example.net:s3:/k3\n";

#[test]
fn several_entries_of_a_pattern_are_several_signatures() {
    for form in ["", "file:"] {
        let found = of_tables(form, KEYS, "example.com one\nexample.com two\n.example.com net\n");
        assert_eq!(
            found.table, "example.com s1 /k1\nexample.com s2 /k2\n*.example.com s3 /k3 domain=example.net\n",
            "{form}"
        );
        assert_eq!(warnings(&found), [""; 0]);
    }
    let both = of_tables("refile:", KEYS, "*@example.com one\n*@example.com two\nboss@example.com net\n");
    assert_eq!(
        both.table,
        "example.com s1 /k1\nexample.com s2 /k2\n\
         boss@example.com s1 /k1\nboss@example.com s2 /k2\nboss@example.com s3 /k3 domain=example.net\n",
        "only the most precise pattern applies, so it repeats the others"
    );
}

#[test]
fn entries_behind_a_first_match_never_signed() {
    let conf = |table: &str, more: &str| {
        of_conf(&[
            (
                "/etc/opendkim.conf",
                &format!("KeyTable file:/k\nSigningTable {table}/s\nCanonicalization simple\n{more}"),
            ),
            ("/k", KEYS),
            (
                "/s",
                if table == "refile:" {
                    "*@example.com one\nboss@example.com net\n*@example.com two\n* net\n"
                } else {
                    "example.com one\nboss@example.com net\nexample.com two\n* net\n"
                },
            ),
        ])
    };
    let first = conf("refile:", "");
    assert_eq!(first.table, "example.com s1 /k1\n* s3 /k3 domain=example.net\n");
    let said = warnings(&first);
    assert_eq!(said.len(), 2);
    assert!(
        said[0].contains("/s:2: boss@example.com: OpenDKIM applies only the first match, which is line 1"),
        "{said:?}"
    );
    assert!(said[1].contains("/s:3: *@example.com: ") && said[1].contains("MultipleSignatures"), "{said:?}");
    // A flat file is searched from the most precise key on.
    let flat = conf("file:", "MultipleSignatures no\n");
    assert_eq!(
        flat.table,
        "example.com s1 /k1\nboss@example.com s3 /k3 domain=example.net\n* s3 /k3 domain=example.net\n"
    );
    assert_eq!(flat.warnings.len(), 1);
    let multiple = conf("refile:", "MultipleSignatures Yes\n");
    assert_eq!(
        multiple.table,
        "example.com s1 /k1\nexample.com s2 /k2\nexample.com s3 /k3 domain=example.net\n\
         boss@example.com s1 /k1\nboss@example.com s3 /k3 domain=example.net\nboss@example.com s2 /k2\n\
         * s3 /k3 domain=example.net\n"
    );
    assert_eq!(warnings(&multiple), [""; 0]);
    let flat_multiple = conf("file:", "MultipleSignatures Yes\n");
    assert!(!flat_multiple.table.contains("s2"), "a flat file has only the first of equal keys");
    assert!(warnings(&flat_multiple)[0].contains("refile"));
}

#[test]
fn reports_wrong_lines_with_their_number_and_without_their_content() {
    let secret = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let keys = format!(
        "# keys\n{secret}\nshort example.com\nk1 example.com:s1:/k1 # good\n\nk2 exa mple:s2:/k2\nk3 example.com:s..3:/k3\n\
         k4 example.com:s4:{secret}\nk5 example.com:s5:/a b\nk1 example.com:s6:/k6\nk7 example.com:s7:./k7\n"
    );
    let signing = "*@example.com k1\n*@example.com\nexample.com k1\njo*@example.com k1\n*@*.*.example k1\n\
                   *@b.example k9\n*@c.example k4\njoe@example.com k7:jane@elsewhere.example\n\n*@example.com k1\n";
    let found = of_tables("refile:", &keys, signing);
    let said = warnings(&found);
    for (number, (start, reason)) in [
        ("/etc/keys:2: expected NAME", "found 0 of the three fields"),
        ("/etc/keys:3: short: ", "found 1 of the three fields"),
        ("/etc/keys:6: k2: ", "not a domain name"),
        ("/etc/keys:7: k3: ", "not a selector"),
        ("/etc/keys:8: k4: ", "the private key is in the table itself"),
        ("/etc/keys:9: k5: ", "white space"),
        ("/etc/keys:10: k1: ", "an earlier entry has the same name"),
        ("/etc/keys:11: k7: ", "relative"),
        ("/etc/signing:2: *@example.com: ", "expected PATTERN KEY-NAME"),
        ("/etc/signing:3: example.com: ", "never matches"),
        ("/etc/signing:4: jo*@example.com: ", "no counterpart"),
        ("/etc/signing:5: *@*.*.example: ", "no counterpart"),
        ("/etc/signing:6: *@b.example: ", "no usable key \"k9\""),
        ("/etc/signing:7: *@c.example: ", "no usable key \"k4\""),
        ("/etc/signing:10: *@example.com: ", "an earlier entry signs"),
        ("/etc/signing:8: joe@example.com: ", "i= is left out: it is neither in"),
    ]
    .into_iter()
    .enumerate()
    {
        assert!(
            said[number].starts_with(start) && said[number].contains(reason),
            "{start}: {}",
            said[number]
        );
    }
    assert_eq!(said.len(), 16, "{said:#?}");
    let everything = format!("{said:?}{found:?}");
    assert!(!everything.contains(&secret[..12]), "{everything}");
    assert_eq!(found.table, "example.com s1 /k1\njoe@example.com s1 /k1\njoe@example.com s7 k7\n");
}

#[test]
fn imports_settings_and_names_those_without_counterpart() {
    let found = of_conf(&[
        (
            "/etc/opendkim.conf",
            "Mode sv\nSocket inet:8891@localhost\nUMask 002\nSyslog yes\nUserID opendkim\nDomain example.com, example.org\n\
             Selector mail\nKeyFile /etc/dkimkeys/mail.private\nSubDomains yes\nInclude /etc/more.conf\nOversignHeaders From\n\
             BodyLengths yes\nLonely\nQueryCache yes\n",
        ),
        (
            "/etc/more.conf",
            "InternalHosts /etc/trusted\nExternalIgnoreList refile:/etc/trusted\nPeerList 192.0.2.5,!192.0.2.6\n\
             ExemptDomains lists.example\nSignatureTTL 604800\nOn-Default accept\nOn-DNSError tempfail\nOn-Security r\n\
             On-BadSignature discard\nDNSTimeout 5\nMinimumKeyBits 512\nAuthservID HOSTNAME\nRequireSafeKeys false\n\
             Nameservers 192.0.2.53\n",
        ),
        (
            "/etc/trusted",
            "127.0.0.1\n::1\n[2001:db8::]/32\n*.example.com\n.example.com\nlocalhost\n!10.0.0.9\n10.0.0.0/8\n",
        ),
    ]);
    assert_eq!(
        found.table,
        "example.com mail /etc/dkimkeys/mail.private\n*.example.com mail /etc/dkimkeys/mail.private\n\
         example.org mail /etc/dkimkeys/mail.private\n*.example.org mail /etc/dkimkeys/mail.private\n"
    );
    let expected = "mode = \"both\"\n\
                    internal_hosts = [\"127.0.0.1\", \"::1\", \"2001:db8::/32\", \".example.com\", \"localhost\", \
                    \"!10.0.0.9\", \"10.0.0.0/8\"]\n\n\
                    [exempt]\nhosts = [\"192.0.2.5\", \"!192.0.2.6\"]\ndomains = [\"lists.example\"]\n\n\
                    [listen]\nsockets = [\"inet:8891@localhost\"]\nunix_mode = \"0660\"\n\n\
                    [signing]\ntable = \"signing.table\"\ncanonicalization = \"simple/simple\"\n\
                    lifetime_seconds = 604800\nallows_open_keys = true\noversigned_headers = [\"From\"]\n\n\
                    [on]\nbad_signature = \"accept\"\ninternal_error = \"accept\"\nno_signature = \"accept\"\n\
                    signing_error = \"accept\"\ndns_error = \"tempfail\"\n\n\
                    [dns]\ntimeout_ms = 5000\nservers = [\"192.0.2.53\"]\n";
    assert_eq!(found.settings, format!("{}{expected}", settings_header()));
    let said = warnings(&found);
    for (entry, reason) in [
        ("/etc/opendkim.conf:13: expected a name", ""),
        ("/etc/opendkim.conf:4: Syslog: ", "stderr"),
        ("/etc/opendkim.conf:5: UserID: ", "systemd"),
        ("/etc/opendkim.conf:12: BodyLengths: ", "whole body"),
        ("/etc/opendkim.conf:14: QueryCache: ", "no such setting"),
        ("/etc/more.conf:2: ExternalIgnoreList: ", "silences"),
        ("/etc/more.conf:8: On-Security: ", "no such fault"),
        ("/etc/more.conf:9: On-BadSignature: ", "\"discard\" has no counterpart"),
        ("/etc/more.conf:11: MinimumKeyBits: ", "from 1024 to 4096"),
        ("/etc/trusted:4: InternalHosts: \"*.example.com\"", "expected"),
    ] {
        assert!(
            said.iter().any(|said| said.starts_with(entry) && said.contains(reason)),
            "{entry}: {said:#?}"
        );
    }
    assert_eq!(said.len(), 10, "{said:#?}");
}

fn settings_header() -> &'static str {
    "# Made from the settings of OpenDKIM by `oarlock dkim import`. docs/milter.toml describes every setting.\n"
}

#[test]
fn errors_name_what_cannot_be_read() {
    let error =
        |sources: &ImportSources, files: &[(&str, &str)]| imported(sources, files).unwrap_err().to_string();
    let conf = ImportSources { config: Some("/c".into()), ..ImportSources::default() };
    assert!(error(&conf, &[]).starts_with("/c: "));
    assert!(error(&conf, &[("/c", "KeyTable /k\nSigningTable /s\n"), ("/k", "")]).starts_with("/s: "));
    let one = error(&conf, &[("/c", "KeyTable /k\n"), ("/k", "")]);
    assert!(one.contains("KeyTable without SigningTable"), "{one}");
    let loops = error(&conf, &[("/c", "\nInclude /c\n")]);
    assert!(loops.contains("/c:2: Include: expected at most 5 levels"), "{loops}");
    for (table, form) in [
        ("dsn:mysql://user:password@3306+host/odkim/table=keys?keycol=a?datacol=b", "dsn:"),
        ("ldap://ldap.example/password", "ldap:"),
        ("/var/keys.db", "a Berkeley database"),
    ] {
        let said = error(&conf, &[("/c", &format!("KeyTable {table}\nSigningTable /s\n")), ("/s", "")]);
        assert!(said.starts_with(&format!("KeyTable: {form}: ")) && !said.contains("password@"), "{said}");
        assert!(!said.contains("/password"), "{said}");
    }
}

/// The smallest generator: the tests need no distribution.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn the_result_of_any_tables_can_be_read() {
    let words = [
        "%",
        "*",
        "*@*",
        "example.com",
        ".example.com",
        "*@example.com",
        "*@*.example.com",
        "joe@example.com",
        "joe@*",
        "a:b:/c",
        "%:s:/%",
        "example.com:s1:/k",
        "k1",
        "k2",
        ":",
        "#",
        "\t",
        "\n",
        " ",
        "k1:joe@%",
        "refile:",
        "b\u{fc}cher.example",
        "\u{0}",
        "Include",
        "Nameservers x\n",
        "OversignHeaders a:b\n",
        "AuthservID a\"b\n",
        "MaximumHeaders 1\n",
        "Mode sv",
        "InternalHosts 10.0.0.0/8",
        "On-Default x",
        "\"",
        "\\",
        "AuthservID",
        "Domain",
        "Selector s",
    ];
    let mut state = 7;
    for _ in 0..3_000 {
        let mut text = |len: u64| -> String {
            let count = next(&mut state) % len;
            (0..count)
                .map(|_| words[next(&mut state) as usize % words.len()])
                .collect::<Vec<_>>()
                .join(if next(&mut state).is_multiple_of(2) { " " } else { "" })
        };
        let (keys, signing, conf) = (text(40), text(40), text(20));
        of_tables("refile:", &keys, &signing);
        of_tables("", &keys, &signing);
        let conf = format!("{conf}\nKeyTable /k\nSigningTable refile:/s\n");
        let sources = ImportSources { config: Some("/c".into()), ..ImportSources::default() };
        // Errors are allowed. A result must be readable, which `imported` checks.
        let _ = imported(&sources, &[("/c", &conf), ("/k", &keys), ("/s", &signing)]);
    }
}

#[test]
fn the_sources_of_the_signing_address_are_carried_over() {
    let sources = |lines: &str| {
        let found = of_conf(&[("/etc/opendkim.conf", lines)]);
        let config: FilterConfig = toml::from_str(&found.settings).unwrap();
        (config.signing.domain_from, warnings(&found))
    };
    use crate::config::AddressSource::{From, MailFrom, Sender};
    assert_eq!(sources("SenderHeaders Sender,From\n"), (vec![Sender, From], Vec::new()));
    assert_eq!(sources("SenderHeaders from\n"), (vec![From], Vec::new()));
    assert_eq!(sources("SenderMacro {mail_addr}\n"), (vec![MailFrom, From], Vec::new()));
    let both = "SenderHeaders Sender\nSenderMacro mail_addr\n";
    assert_eq!(sources(both), (vec![MailFrom, Sender, From], Vec::new()));
    let (found, warned) = sources("SenderHeaders Resent-Sender,Sender\nSenderMacro {auth_author}\n");
    assert_eq!((found, warned.len()), (vec![Sender, From], 2));
    assert!(warned[0].contains("Resent-Sender has no counterpart"), "{warned:?}");
    let (found, warned) = sources("SenderHeaders Reply-To\n");
    assert_eq!((found, warned.len()), (vec![From], 1));
}
