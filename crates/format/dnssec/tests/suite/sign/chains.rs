//! The chains of names and of hashed names.

use oarlock_dnssec::sign::{DenialMethod, Nsec3Options, SignOptions, ZoneDraft};

use super::zones::{RFC_4035, RFC_5155};
use super::{drafted, engines, lines, of_type, options, pair, zone};

fn nsec3(iterations: u16, salt: &[u8], is_opt_out: bool) -> SignOptions {
    let denial = DenialMethod::Nsec3(Nsec3Options { iterations, salt: salt.into(), is_opt_out });
    SignOptions { denial, ..options() }
}

/// RFC 4035 Appendix A.
#[test]
fn makes_the_nsec_chain_of_the_standard() {
    let expected = [
        "example. 3600 IN NSEC a.example. NS SOA MX RRSIG NSEC DNSKEY",
        "a.example. 3600 IN NSEC ai.example. NS DS RRSIG NSEC",
        "ai.example. 3600 IN NSEC b.example. A HINFO AAAA RRSIG NSEC",
        "b.example. 3600 IN NSEC ns1.example. NS RRSIG NSEC",
        "ns1.example. 3600 IN NSEC ns2.example. A RRSIG NSEC",
        "ns2.example. 3600 IN NSEC *.w.example. A RRSIG NSEC",
        "*.w.example. 3600 IN NSEC x.w.example. MX RRSIG NSEC",
        "x.w.example. 3600 IN NSEC x.y.w.example. MX RRSIG NSEC",
        "x.y.w.example. 3600 IN NSEC xx.example. MX RRSIG NSEC",
        "xx.example. 3600 IN NSEC example. A HINFO AAAA RRSIG NSEC",
    ];
    let escaped = expected.map(|line| line.replace("*.w", r"\*.w").replace(r"\*", "*"));
    assert_eq!(of_type(&drafted(RFC_4035, options()), "NSEC"), escaped);
}

/// RFC 5155 Appendix A.
#[test]
fn makes_the_nsec3_chain_of_the_standard_on_every_engine() {
    let expected = [
        ("0p9mhaveqvm6t7vbl5lop2u3t2rp3tom", " NS SOA MX RRSIG DNSKEY NSEC3PARAM"),
        ("2t7b4g4vsa5smi47k61mv5bv1a22bojr", " A RRSIG"),
        ("2vptu5timamqttgl4luu9kg21e0aor3s", " MX RRSIG"),
        ("35mthgpgcu1qg68fab165klnsnk3dpvl", " NS DS RRSIG"),
        ("b4um86eghhds6nea196smvmlo4ors995", " MX RRSIG"),
        ("gjeqe526plbf1g8mklp59enfd789njgi", " A HINFO AAAA RRSIG"),
        ("ji6neoaepv8b5o6k4ev33abha8ht9fgc", ""),
        ("k8udemvp1j2f7eg6jebps17vp3n8i58h", ""),
        ("kohar7mbb8dc2ce8a9qvl8hon4k53uhi", " A RRSIG"),
        ("q04jkcevqvmu85r014c7dkba38o0ji5r", " A RRSIG"),
        ("r53bq7cc2uvmubfu5ocmm6pers9tk9en", " MX RRSIG"),
        ("t644ebqk9bibcna874givr6joj62mlhv", " A HINFO AAAA RRSIG"),
    ];
    let nexts = expected.iter().cycle().skip(1);
    let expected: Vec<String> = expected
        .iter()
        .zip(nexts)
        .map(|((hash, types), (next, _))| {
            format!("{hash}.example. 3600 IN NSEC3 1 1 12 aabbccdd {next}{types}")
        })
        .collect();
    for accelerator in engines() {
        let options = nsec3(12, &[0xaa, 0xbb, 0xcc, 0xdd], true);
        let draft = ZoneDraft::new(&accelerator, &zone(RFC_5155), pair(), options, None).unwrap();
        let all: Vec<String> = lines(draft.records()).iter().map(|line| line.to_lowercase()).collect();
        assert_eq!(
            of_type(&all, "nsec3"),
            expected.iter().map(|line| line.to_lowercase()).collect::<Vec<_>>()
        );
        assert_eq!(of_type(&all, "nsec3param"), ["example. 0 in nsec3param 1 0 12 aabbccdd"]);
    }
}

#[test]
fn only_opt_out_leaves_delegations_out() {
    let whole = of_type(&drafted(RFC_5155, nsec3(0, b"", false)), "NSEC3");
    let opted = of_type(&drafted(RFC_5155, nsec3(0, b"", true)), "NSEC3");
    assert_eq!((whole.len(), opted.len()), (13, 12));
    assert!(whole.iter().all(|line| line.contains(" NSEC3 1 0 0 - ")), "{whole:?}");
    assert!(opted.iter().all(|line| line.contains(" NSEC3 1 1 0 - ")), "{opted:?}");
    // A delegation without DS records has no signature.
    assert_eq!(whole.iter().filter(|line| line.ends_with(" NS")).count(), 1);
}

/// RFC 9077 section 3.
#[test]
fn negative_answers_live_for_the_shorter_of_two_times() {
    for (ttl, minimum, expected) in [(3600, 300, "300"), (200, 300, "200"), (300, 300, "300")] {
        let text = format!("example. {ttl} SOA . . 1 2 3 4 {minimum}\nexample. 60 NS a.\n");
        for options in [options(), nsec3(0, b"", false)] {
            let lines = drafted(&text, options);
            let chain = [of_type(&lines, "NSEC"), of_type(&lines, "NSEC3")].concat();
            assert_eq!(chain.len(), 1);
            assert_eq!(chain[0].split(' ').nth(1), Some(expected));
        }
    }
}

/// RFC 5155 7.1: empty non-terminals. Those above omitted delegations only need no record.
#[test]
fn empty_names_are_in_the_chain_of_hashes_where_they_are_needed() {
    let text =
        "example. 60 SOA . . 1 2 3 4 5\nexample. NS a.\nx.a.b.example. A 192.0.2.1\nd.c.example. NS a.\n";
    for (is_opt_out, links) in [(false, 1 + 3 + 2), (true, 1 + 3)] {
        assert_eq!(of_type(&drafted(text, nsec3(0, b"", is_opt_out)), "NSEC3").len(), links);
    }
    assert_eq!(of_type(&drafted(text, options()), "NSEC").len(), 3);
}

#[test]
fn names_below_a_dname_are_not_in_the_chain() {
    let text =
        "example. 60 SOA . . 1 2 3 4 5\nexample. NS a.\nd.example. DNAME b.\nx.d.example. A 192.0.2.1\n";
    let lines = of_type(&drafted(text, options()), "NSEC");
    assert_eq!(
        lines,
        [
            "example. 5 IN NSEC d.example. NS SOA RRSIG NSEC DNSKEY",
            "d.example. 5 IN NSEC example. DNAME RRSIG NSEC",
        ]
    );
}
