//! Records that name servers refuse to load, or report.

use oarlock_dnssec::sign::{LoadRule, LoadRules, SignOptions, TargetFault, TargetUse, ZoneChange};

use super::{draft, options};

const APEX: &str = "$ORIGIN example.\n$TTL 60\n@ SOA ns h 7 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n";

fn strict() -> SignOptions {
    SignOptions { load_rules: LoadRules::Fail, ..options() }
}

/// Asserts that the rule is refused with its line, and reported if the caller accepts it.
fn assert_refused(text: &str, rule: LoadRule, record: &str) {
    assert!(rule.is_refused(), "{rule}");
    let error = draft(text, strict()).unwrap_err().to_string();
    assert_eq!(error, format!("{record}: {rule}"));
    let drafted = draft(text, options()).unwrap();
    assert_eq!(drafted.changes().count(ZoneChange::Load(rule)), 1, "{text}");
}

#[test]
fn refuses_what_name_servers_refuse() {
    use LoadRule::*;
    let address = |fault| Target(TargetUse::ApexServer, fault);
    let digest = "00".repeat(32);
    let (cds, delete) = (format!("@ CDS 1 8 2 {digest}\n"), "@ CDS 0 0 0 00\n@ CDS 1 13 2 ");
    for (more, rule, record) in [
        ("_a A 192.0.2.1\n", Owner, "line 6: _a.example. A"),
        ("a_b AAAA 2001:db8::1\n", Owner, "line 6: a_b.example. AAAA"),
        ("*.a_b MX 10 ns\n", Owner, "line 6: *.a_b.example. MX"),
        ("x.*.y A 192.0.2.1\n", Owner, "line 6: x.*.y.example. A"),
        ("b\\195\\188cher A 192.0.2.1\n", Owner, "line 6: b\\195\\188cher.example. A"),
        ("@ NS a_b.example.net.\n", HostName, "line 6: example. NS"),
        ("@ MX 1 a_b.example.net.\n", HostName, "line 6: example. MX"),
        ("_x._tcp SRV 1 1 1 *\n", HostName, "line 6: _x._tcp.example. SRV"),
        ("x AFSDB 1 _a\n", HostName, "line 6: x.example. AFSDB"),
        ("x HTTPS 1 _a\n", HostName, "line 6: x.example. HTTPS"),
        ("x DSYNC CDS NOTIFY 5359 _a\n", HostName, "line 6: x.example. DSYNC"),
        ("x RP a.b_c. .\n", Mailbox, "line 6: x.example. RP"),
        ("x MINFO a a.b_c.\n", Mailbox, "line 6: x.example. MINFO"),
        ("x MD ns\n", ObsoleteType, "line 6: x.example. MD"),
        ("*.w NS ns\n", WildcardDelegation, "line 6: *.w.example. NS"),
        ("d DNAME e.\nx.d TXT x\n", BelowDname, "line 7: x.d.example. TXT"),
        ("d DNAME e.\nd NS ns\n", DelegatedDname, "line 6: d.example. DNAME"),
        (&cds, ChildKeys, "line 6: example. CDS"),
        (&format!("{delete}{digest}\n"), ChildKeys, "line 6: example. CDS"),
        ("@ NS away\n", address(TargetFault::NoAddress), "line 6: example. NS"),
        ("@ NS w\nw CNAME ns\n", address(TargetFault::Alias), "line 6: example. NS"),
        ("@ NS a.d\nd DNAME e.\n", address(TargetFault::BelowDname), "line 6: example. NS"),
        ("x IPSECKEY 10 0 0 .\n", KeylessIpsecKey, "line 6: x.example. IPSECKEY"),
    ] {
        assert_refused(&format!("{APEX}{more}"), rule, record);
    }
    let soa = APEX.replace("SOA ns h", "SOA ns h.a_b");
    assert_refused(&soa, Mailbox, "line 3: example. SOA");
    let reverse = "2.0.192.in-addr.arpa. 60 SOA a. b. 7 2 3 4 5\n2.0.192.in-addr.arpa. 60 NS a.\n\
                   1.2.0.192.in-addr.arpa. 60 PTR a_b.example.\n";
    assert_refused(reverse, HostName, "line 3: 1.2.0.192.in-addr.arpa. PTR");
    assert_refused("example. 60 SOA a. b. 7 2 3 4 5\n", NoNameServers, "example. NS");
}

#[test]
fn reports_what_name_servers_report() {
    use TargetFault::{Alias, BelowDname, NoAddress};
    use TargetUse::{DelegatedServer, Mail, Service};
    for (more, rule) in [
        ("s NS ns.s\n", LoadRule::Target(DelegatedServer, NoAddress)),
        ("s NS away\n", LoadRule::Target(DelegatedServer, NoAddress)),
        ("a NS ns.b\nb NS ns\n", LoadRule::Target(DelegatedServer, NoAddress)),
        ("s NS w\nw CNAME ns\n", LoadRule::Target(DelegatedServer, Alias)),
        ("@ MX 1 away\n", LoadRule::Target(Mail, NoAddress)),
        ("@ MX 1 m.w\n*.w CNAME ns\n", LoadRule::Target(Mail, Alias)),
        ("@ MX 1 m.d\nd DNAME e.\n", LoadRule::Target(Mail, BelowDname)),
        ("_x._tcp SRV 1 1 1 away\n", LoadRule::Target(Service, NoAddress)),
        ("@ SPF v=spf1\n@ TXT v=spf1x\n", LoadRule::SpfWithoutTxt),
        ("x.*.y TXT a\n", LoadRule::InnerWildcard),
        ("x NXT ns A\n", LoadRule::OldDnssec),
    ] {
        assert!(!rule.is_refused(), "{rule}");
        let drafted = draft(&format!("{APEX}{more}"), strict()).unwrap();
        let told: Vec<_> = drafted.changes().iter().map(|(change, count, _)| (change, count)).collect();
        assert_eq!(told, [(ZoneChange::Load(rule), 1)], "{more}");
    }
}

#[test]
fn accepts_what_name_servers_accept_in_silence() {
    let digest = "00".repeat(32);
    for more in [
        "_a TXT x\n_a CNAME ns\n".split_once("_a CNAME").unwrap().0,
        "_a CNAME ns\n",
        "* A 192.0.2.1\n",
        "GC._MSDCS A 192.0.2.1\n",
        "1.2.3.4 A 192.0.2.1\n",
        "p PTR a_b\n",
        "c CNAME a_b\n",
        "k KX 1 a_b\n",
        "x SVCB 0 _a._b\n",
        "_443._https.x HTTPS 1 .\n",
        "@ MX 0 .\n",
        "_x._tcp SRV 0 0 0 .\n",
        "x RP a_b.c. a_b\n",
        "@ MX 1 m.s\ns NS ns\n",
        "@ MX 1 m.w\n*.w A 192.0.2.1\n",
        "@ NS ns.example.net.\n",
        "s NS ns.s\nns.s A 192.0.2.1\n",
        "a NS ns.b\nb NS ns.b\nns.b A 192.0.2.1\n",
        "@ SPF v=spf1\n@ TXT \"v=spf1 -all\"\n",
        "@ CDS 0 0 0 00\n@ CDNSKEY 0 3 0 AA==\n",
        &format!("@ CDS 1 13 2 {digest}\n"),
        &format!("x CDS 1 8 2 {digest}\n"),
        "d DNAME e.\nd A 192.0.2.1\n",
        "x AMTRELAY \\# 2 0004\n",
    ] {
        let drafted = draft(&format!("{APEX}{more}"), strict()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(drafted.changes().iter().count(), 0, "{more}");
    }
}
