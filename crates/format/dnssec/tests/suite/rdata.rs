//! The data of every type: text into wire format and back, and rejected texts.

use oarlock_dnssec::rdata::{DataError, canonical, print};
use oarlock_dnssec::zone::{ZoneReader, write_record};
use oarlock_dnssec::{DomainName, RecordType, ZoneRecords};

/// Returns the wire format of one record's type and data, relative to `example.`.
fn wire(text: &str) -> Result<Vec<u8>, String> {
    let origin = b"\x07example\0";
    let mut records = ZoneRecords::new();
    let include = &mut |_: &str| Err(String::new());
    let mut reader = ZoneReader::new(Some(DomainName::new(origin).unwrap()), include);
    reader.read(format!("x 1 IN {text}\n").as_bytes(), true, &mut records);
    match reader.faults() {
        [] => Ok(records.get(0).data.to_vec()),
        [fault, ..] => Err(fault.error.to_string()),
    }
}

/// Returns the text of data.
fn text(rtype: RecordType, data: &[u8]) -> String {
    let mut out = Vec::new();
    print(rtype, data, &mut out);
    format!("{rtype} {}", String::from_utf8(out).unwrap()).trim_end().to_owned()
}

/// Returns a record in the text form of the zone writer, without owner, TTL and class.
fn line_of(rtype: RecordType, data: &[u8]) -> String {
    let mut records = ZoneRecords::new();
    let owner = records.add_owner(DomainName::ROOT).unwrap();
    let add = |out: &mut Vec<u8>| {
        out.extend_from_slice(data);
        Ok::<_, oarlock_dnssec::ZoneRecordsError>(())
    };
    records.add(owner, rtype, 1, 0, add).unwrap();
    let mut out = Vec::new();
    write_record(&records.get(0), &mut out);
    String::from_utf8(out).unwrap().strip_prefix(". 1 IN ").unwrap().trim_end().to_owned()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

const EXAMPLE: &str = "076578616d706c6500";

/// A text, its wire format in hex (`@` stands for the name `example.`), and the printed text if it differs.
const CASES: &[(&str, &str, &str)] = &[
    ("A 192.0.2.1", "c0000201", ""),
    ("NS Ns.Example.", "026e73@", "NS ns.example."),
    ("MD @", "@", "MD example."),
    ("MF @", "@", "MF example."),
    ("CNAME @", "@", "CNAME example."),
    (
        "SOA @ a 1 2 3 1h 4294967295",
        "@0161@000000010000000200000003 00000e10ffffffff",
        "SOA example. a.example. 1 2 3 3600 4294967295",
    ),
    ("MB @", "@", "MB example."),
    ("MG @", "@", "MG example."),
    ("MR @", "@", "MR example."),
    ("PTR @", "@", "PTR example."),
    ("HINFO PC \"a b\"", "025043 03612062", "HINFO \"PC\" \"a b\""),
    ("MINFO @ .", "@00", "MINFO example. ."),
    ("MX 10 A.b", "000a 01610162@", "MX 10 a.b.example."),
    ("TXT a \"\" \"\\\"\\\\\\000\\200~\"", "0161 00 05225c00c87e", "TXT \"a\" \"\" \"\\\"\\\\\\000\\200~\""),
    ("SPF a", "0161", "SPF \"a\""),
    ("AVC a", "0161", "AVC \"a\""),
    (
        "RESINFO qnamemin exterr=15,16",
        "08716e616d656d696e 0c6578746572723d31352c3136",
        "RESINFO \"qnamemin\" \"exterr=15,16\"",
    ),
    ("WALLET a", "0161", "WALLET \"a\""),
    ("RP A. @", "016100@", "RP a. example."),
    ("AFSDB 1 @", "0001@", "AFSDB 1 example."),
    ("X25 311061700956", "0c333131303631373030393536", "X25 \"311061700956\""),
    (
        "ISDN 150862028003217 004",
        "0f313530383632303238303033323137 03303034",
        "ISDN \"150862028003217\" \"004\"",
    ),
    ("ISDN 1", "0131", "ISDN \"1\""),
    ("RT 2 @", "0002@", "RT 2 example."),
    ("NSAP 0x47.0005.80.005a00", "47000580005a00", "NSAP 0x47000580005A00"),
    (
        "KEY 256 3 RSASHA1 AQPSKmynfzW4kyBv015MUG2DeIQ3",
        "0100 03 05 0103d22a6ca77f35b893206fd35e4c506d83788437",
        "KEY 256 3 5 AQPSKmynfzW4kyBv015MUG2DeIQ3",
    ),
    ("KEY 49152 3 1", "c000 03 01", "KEY \\# 4 C0000301"),
    ("PX 10 @ A.", "000a @ 016100", "PX 10 example. a."),
    (
        "GPOS -32.6882 116.8652 10.0",
        "082d33322e36383832 083131362e38363532 0431302e30",
        "GPOS \"-32.6882\" \"116.8652\" \"10.0\"",
    ),
    ("AAAA 2001:DB8::1", "20010db8000000000000000000000001", "AAAA 2001:db8::1"),
    // RFC 1876 section 4.
    (
        "LOC 42 21 54 N 71 06 18 W -24m 30m",
        "00 33 16 13 89172dd0 70be15f0 00988d20",
        "LOC 42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m",
    ),
    (
        "LOC 0 N 180 W 0",
        "00 12 16 13 80000000 59604e00 00989680",
        "LOC 0 0 0.000 N 180 0 0.000 W 0.00m 1.00m 10000.00m 10.00m",
    ),
    ("NXT A. A SIG NXT", "016100 40 00 00 82", "NXT a. A TYPE24 TYPE30"),
    ("SRV 0 1 65535 @", "0000 0001 ffff @", "SRV 0 1 65535 example."),
    (
        "NAPTR 100 50 s http+I2L \"\" A",
        "0064 0032 0173 08687474702b49324c 00 0161@",
        "NAPTR 100 50 \"s\" \"http+I2L\" \"\" a.example.",
    ),
    ("KX 1 @", "0001@", "KX 1 example."),
    ("CERT PKIX 1 RSASHA256 AQID", "0001 0001 08 010203", "CERT 1 1 8 AQID"),
    ("DNAME @", "@", "DNAME example."),
    // RFC 3123 section 5.
    ("APL 1:192.168.32.0/21 !1:192.168.38.0/28", "0001 15 03 c0a820 0001 1c 83 c0a826", ""),
    ("APL 2:2001:db8::/32 1:0.0.0.0/0", "0002 20 04 20010db8 0001 00 00", ""),
    ("APL", "", ""),
    // RFC 4034 5.4.
    (
        "DS 60485 5 SHA-1 ( 2BB183AF5F22588179A53B0A 98631FAD1A292118 )",
        "ec45 05 01 2bb183af5f22588179a53b0a98631fad1a292118",
        "DS 60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118",
    ),
    ("CDS 0 0 0 00", "0000 00 00 00", ""),
    ("DLV 1 8 3 AB C D", "0001 08 03 abcd", "DLV 1 8 3 ABCD"),
    (
        "TA 14796 RSASHA256 sha256 2BB183AF5F22588179A53B0A98631FAD1A2921182BB183AF5F22588179A53B0A",
        "39cc 08 02 2bb183af5f22588179a53b0a98631fad1a2921182bb183af5f22588179a53b0a",
        "TA 14796 8 2 2BB183AF5F22588179A53B0A98631FAD1A2921182BB183AF5F22588179A53B0A",
    ),
    (
        "SSHFP 2 1 123456789abcdef67890123456789abcdef67890",
        "02 01 123456789abcdef67890123456789abcdef67890",
        "SSHFP 2 1 123456789ABCDEF67890123456789ABCDEF67890",
    ),
    ("SSHFP 0 0 ab", "00 00 ab", "SSHFP 0 0 AB"),
    ("SSHFP 7 0", "07 00", "SSHFP \\# 2 0700"),
    (
        "NAPTR 1 2 \"\" u \"!^(.*)$!\\\\1!i\" .",
        "0001 0002 00 0175 0c 215e282e2a2924215c312169 00",
        "NAPTR 1 2 \"\" \"u\" \"!^(.*)$!\\\\1!i\" .",
    ),
    ("DNSKEY zone|KSK dnssec 8 AQID", "0101 03 08 010203", "DNSKEY 257 3 8 AQID"),
    ("KEY NOKEY TLS 8", "c000 01 08", "KEY \\# 4 C0000108"),
    ("KEY NOCONF|SIG5|HOST ALL DSA AQID", "4205 ff 03 010203", "KEY 16901 255 3 AQID"),
    ("CDNSKEY ZONE DNSSEC 8 AQID", "0100 03 08 010203", "CDNSKEY 256 3 8 AQID"),
    ("RKEY USER NONE 8 AQID", "0000 00 08 010203", "RKEY 0 0 8 AQID"),
    ("CLA \"TCP-v4-v6\" BSSP", "095443502d76342d7636 0442535350", "CLA \"TCP-v4-v6\" \"BSSP\""),
    ("IPN 18446744073709551615", "ffffffffffffffff", ""),
    ("IPN 977000.1", "000ee868 00000001", "IPN 4196183048192001"),
    ("SVCB 1 . ech", "0001 00 0005 0000", "SVCB 1 . key5"),
    ("SVCB 1 . ech=\"\"", "0001 00 0005 0000", "SVCB 1 . key5"),
    ("WKS 192.0.2.1 Icmp", "c0000201 01", "WKS 192.0.2.1 1"),
    ("WKS 192.0.2.1 sctp 7", "c0000201 84 01", "WKS 192.0.2.1 132 7"),
    // RFC 4025 3.2.
    ("IPSECKEY 10 1 2 192.0.2.38 AQNR", "0a 01 02 c0000226 010351", ""),
    ("IPSECKEY 10 0 2 . AQNR", "0a 00 02 010351", ""),
    ("IPSECKEY 10 3 2 Gw AQNR", "0a 03 02 024777@ 010351", "IPSECKEY 10 3 2 Gw.example. AQNR"),
    // RFC 4025 2.4: algorithm 0 is that of no key.
    ("IPSECKEY 10 0 0 .", "0a 00 00", "IPSECKEY \\# 3 0A0000"),
    ("IPSECKEY 10 1 0 192.0.2.1", "0a 01 00 c0000201", "IPSECKEY \\# 7 0A0100C0000201"),
    ("IPSECKEY 10 2 0 2001:db8::1 AQNR", "0a 02 00 20010db8000000000000000000000001 010351", ""),
    // RFC 4034 3.3, shortened.
    (
        "RRSIG A 5 3 86400 20030322173103 ( 20030220173103 2642 Example. oJB1W6WNGv+ldvQ3 WDG0MQkg5IEhjRip8WTr )",
        "0001 05 03 00015180 3e7c9dd7 3e5510d7 0a52 @ a090755ba58d1affa576f4375831b4310920e481218d18a9f164eb",
        "RRSIG A 5 3 86400 20030322173103 20030220173103 2642 example. oJB1W6WNGv+ldvQ3WDG0MQkg5IEhjRip8WTr",
    ),
    (
        "SIG TYPE731 8 0 3600 1 2 3 . AA==",
        "02db 08 00 00000e10 00000001 00000002 0003 00 00",
        "SIG TYPE731 8 0 3600 19700101000001 19700101000002 3 . AA==",
    ),
    // RFC 4034 4.3. The next name keeps its case.
    (
        "NSEC Host.example. A MX RRSIG NSEC TYPE1234",
        "04486f7374@ 0006 400100000003 041b 000000000000000000000000000000000000000000000000000020",
        "",
    ),
    (
        "NSEC . TYPE65535 TYPE256 A A",
        "00 0001 40 0101 80 ff20 0000000000000000000000000000000000000000000000000000000000000001",
        "NSEC . A URI TYPE65535",
    ),
    (
        "DNSKEY 257 3 ED25519 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=",
        "0101 03 0f 974d96a22d224bc01adb91509147 7d44ccd91c9a41a114300101 17d52c59240e",
        "DNSKEY 257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=",
    ),
    ("CDNSKEY 0 3 0 AA==", "0000 03 00 00", ""),
    ("DHCID AAIBY2/AuCcc", "000201636fc0b8271c", ""),
    // RFC 5155 appendix A.
    (
        "NSEC3 1 1 12 aabbccdd 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR NS",
        "01 01 000c 04aabbccdd 14 174eb2409fe28bcb4887a1836f957f0a8425e27b 0001 20",
        "NSEC3 1 1 12 AABBCCDD 2t7b4g4vsa5smi47k61mv5bv1a22bojr NS",
    ),
    (
        "NSEC3 1 0 0 - 0p9mhaveqvm6t7vbl5lop2u3t2rp3tom",
        "01 00 0000 00 14 065368abeed7ec6e9feba96b8c8bc3e8b791f716",
        "NSEC3 1 0 0 - 0p9mhaveqvm6t7vbl5lop2u3t2rp3tom",
    ),
    ("NSEC3 2 0 1 - 00 A", "02 00 0001 00 01 00 0001 40", ""),
    ("NSEC3PARAM 1 0 12 aabbccdd", "01 00 000c 04aabbccdd", "NSEC3PARAM 1 0 12 AABBCCDD"),
    ("TLSA 3 1 1 d2ab", "03 01 01 d2ab", "TLSA 3 1 1 D2AB"),
    ("SMIMEA 0 0 0 00", "00 00 00 00", ""),
    // RFC 8005 appendix, shortened.
    (
        "HIP 2 200100107B1A74DF365639CC39F1D578 AwEAAbdx Rvs.example.",
        "10 02 0006 200100107b1a74df365639cc39f1d578 0301 0001b771 03527673@",
        "",
    ),
    ("TALINK A.example. .", "0141@ 00", ""),
    ("OPENPGPKEY AQID BA==", "01020304", "OPENPGPKEY AQIDBA=="),
    ("CSYNC 66 3 A NS AAAA", "00000042 0003 0004 60000008", ""),
    (
        "ZONEMD 2018031500 1 240 febdef01 0203040506070809",
        "7848b78c 01 f0 febdef010203040506070809",
        "ZONEMD 2018031500 1 240 FEBDEF010203040506070809",
    ),
    // RFC 9460 appendix D.
    ("SVCB 0 foo.example.com.", "0000 03666f6f076578616d706c6503636f6d00", ""),
    ("HTTPS 1 .", "0001 00", ""),
    ("SVCB 16 . port=53", "0010 00 0003 0002 0035", ""),
    ("SVCB 1 . key667=hello", "0001 00 029b 0005 68656c6c6f", "SVCB 1 . key667=\"hello\""),
    ("SVCB 1 . key667=\"hello\\210qoo\"", "0001 00 029b 0009 68656c6c6fd2716f6f", ""),
    (
        "SVCB 1 . ipv6hint=\"2001:db8::1,2001:db8::53:1\"",
        "0001 00 0006 0020 20010db8000000000000000000000001 20010db8000000000000000000530001",
        "SVCB 1 . ipv6hint=2001:db8::1,2001:db8::53:1",
    ),
    (
        "SVCB 16 Foo alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1",
        "0010 03466f6f@ 0000 0004 0001 0004 0001 0009 02 6832 05 68332d3139 0004 0004 c0000201",
        "SVCB 16 Foo.example. mandatory=alpn,ipv4hint alpn=\"h2,h3-19\" ipv4hint=192.0.2.1",
    ),
    ("SVCB 16 . alpn=\"f\\\\\\\\oo\\\\,bar,h2\"", "0010 00 0001 000c 08 665c6f6f2c626172 02 6832", ""),
    (
        "SVCB 16 . alpn=f\\\\\\092oo\\092,bar,h2",
        "0010 00 0001 000c 08 665c6f6f2c626172 02 6832",
        "SVCB 16 . alpn=\"f\\\\\\\\oo\\\\,bar,h2\"",
    ),
    (
        "HTTPS 1 . no-default-alpn alpn=h3 ech=AQID",
        "0001 00 0001 0003 026833 0002 0000 0005 0003 010203",
        "HTTPS 1 . alpn=\"h3\" no-default-alpn ech=AQID",
    ),
    // Keys that some readers do not know by name are written by number.
    ("SVCB 1 . dohpath=/q{?dns}", "0001 00 0007 0008 2f717b3f646e737d", "SVCB 1 . key7=\"/q{?dns}\""),
    ("SVCB 1 . ohttp", "0001 00 0008 0000", "SVCB 1 . key8"),
    (
        "SVCB 1 . tls-supported-groups=29,23",
        "0001 00 0009 0004 001d0017",
        "SVCB 1 . key9=\"\\000\\029\\000\\023\"",
    ),
    ("SVCB 1 . docpath", "0001 00 000a 0000", "SVCB 1 . key10"),
    ("SVCB 1 . docpath=", "0001 00 000a 0000", "SVCB 1 . key10"),
    ("SVCB 1 . docpath=dns,b", "0001 00 000a 0006 03646e73 0162", "SVCB 1 . key10=\"\\003dns\\001b\""),
    ("SVCB 1 . pvd", "0001 00 000b 0000", "SVCB 1 . key11"),
    ("SVCB 1 . oots=\"a b\"", "0001 00 000c 0003 612062", "SVCB 1 . key12=\"a b\""),
    (
        "SVCB 1 . mandatory=docpath docpath",
        "0001 00 0000 0002 000a 000a 0000",
        "SVCB 1 . mandatory=key10 key10",
    ),
    ("SVCB 1 . port=00080", "0001 00 0003 0002 0050", "SVCB 1 . port=80"),
    ("DSYNC CDS NOTIFY 5359 @", "003b 01 14ef @", "DSYNC CDS 1 5359 example."),
    ("NID 10 0014:4fff:ff20:ee64", "000a 00144fffff20ee64", "NID 10 0014:4FFF:FF20:EE64"),
    ("L32 10 10.1.2.0", "000a 0a010200", ""),
    ("L64 10 2001:DB8:0:0", "000a 20010db800000000", "L64 10 2001:0DB8:0000:0000"),
    ("LP 10 L64-subnet1", "000a 0b4c36342d7375626e657431@", "LP 10 L64-subnet1.example."),
    ("EUI48 00-00-5e-00-53-2a", "00005e00532a", "EUI48 00-00-5E-00-53-2A"),
    ("EUI64 00-00-5e-ef-10-00-00-2a", "00005eef1000002a", "EUI64 00-00-5E-EF-10-00-00-2A"),
    ("URI 10 1 \"ftp://a\"", "000a 0001 6674703a2f2f61", ""),
    ("CAA 128 issue \"ca.example; x=y\"", "80 056973737565 63612e6578616d706c653b20783d79", ""),
    ("AMTRELAY 10 1 3 Relay", "0a 83 0552656c6179@", "AMTRELAY 10 1 3 Relay.example."),
    ("AMTRELAY 10 0 0 .", "0a 00", ""),
    ("AMTRELAY 10 0 1 203.0.113.15", "0a 01 cb00710f", ""),
    // Kinds of relays that RFC 8777 leaves unassigned, as BIND 9.18 takes them.
    ("AMTRELAY \\# 2 0004", "00 04", "AMTRELAY \\# 2 0004"),
    ("AMTRELAY \\# 4 0AFFABCD", "0a ff abcd", ""),
    // The forms of BIND 9.18.
    ("WKS 192.0.2.1 TCP smtp 21 ftp", "c0000201 06 00000440", "WKS 192.0.2.1 6 21 25"),
    ("WKS 192.0.2.1 17", "c0000201 11", ""),
    ("NSAP-PTR Foo.Example.", "03666f6f@", "NSAP-PTR foo.example."),
    ("EID 01 2f", "012f", "EID 012F"),
    ("NIMLOC 32251a03", "32251a03", "NIMLOC 32251A03"),
    ("ATMA +61.200000000", "01 3631323030303030303030", "ATMA +61200000000"),
    ("ATMA 39.246f.00", "00 39246f00", "ATMA 39246F00"),
    ("A6 0 2001:db8::1", "00 20010db8000000000000000000000001", ""),
    ("A6 64 ::1 Foo", "40 0000000000000001 03666f6f@", "A6 64 ::1 foo.example."),
    ("A6 12 ffff:ffff::1 .", "0c 0fffff00000000000000000000 0001 00", "A6 12 f:ffff::1 ."),
    ("A6 128 .", "80 00", ""),
    ("SINK 1 2 3 AQID", "01 02 03 010203", ""),
    ("SINK 64 0 0", "40 00 00", ""),
    ("NINFO \"a\" b", "0161 0162", "NINFO \"a\" \"b\""),
    ("RKEY 0 255 1 AQID", "0000 ff 01 010203", ""),
    ("HHIT AQID", "010203", ""),
    ("BRID AQ ID", "010203", "BRID AQID"),
    (
        "DOA 1 2 3 \"text/plain\" AQ ID",
        "00000001 00000002 03 0a746578742f706c61696e 010203",
        "DOA 1 2 3 \"text/plain\" AQID",
    ),
    ("DOA 4294967295 1 255 \"\" -", "ffffffff 00000001 ff 00", ""),
    ("HHIT \\# 3 010203", "010203", "HHIT AQID"),
    ("UINFO \\# 1 00", "00", ""),
    ("UID \\# 4 00000001", "00000001", ""),
    ("GID \\# 4 00000001", "00000001", ""),
    ("UNSPEC \\# 1 00", "00", ""),
    ("CLA \\# 2 0161", "0161", "CLA \"a\""),
    ("IPN \\# 8 0000000000000001", "0000000000000001", "IPN 1"),
    ("ATMA \\# 2 0201", "0201", ""),
    // RFC 3597 section 5: unknown types, and known types whose names become lower case.
    ("TYPE731 \\# 6 abcd ( ef 01 23 45 )", "abcdef012345", "TYPE731 \\# 6 ABCDEF012345"),
    ("TYPE62347 \\# 0", "", ""),
    ("NS \\# 3 014100", "016100", "NS a."),
    ("NULL \\# 1 00", "00", ""),
    ("NSEC \\# 6 014100 000140", "014100000140", "NSEC A. A"),
];

#[test]
fn every_type_goes_from_text_to_wire_and_back() {
    for (from, hex, to) in CASES {
        let rtype: RecordType = from.split(' ').next().unwrap().parse().unwrap();
        let expected = unhex(&hex.replace('@', EXAMPLE));
        let data = wire(from).unwrap_or_else(|error| panic!("{from}: {error}"));
        assert_eq!(data, expected, "{from}");
        let written = text(rtype, &data);
        assert_eq!(written, if to.is_empty() { *from } else { *to });
        assert_eq!(wire(&written).as_deref(), Ok(&*data), "{written}");
        let mut checked = Vec::new();
        canonical(rtype, &data, &mut checked).unwrap();
        assert_eq!(checked, data, "{from}");
        let line = line_of(rtype, &data);
        assert_eq!(wire(&line).as_deref(), Ok(&*data), "{line}");
    }
}

/// Some verifiers reject unknown mnemonics, or read them as type 0. All of them know numbers.
#[test]
fn types_that_some_verifiers_do_not_know_are_written_by_number() {
    let named = wire("NSEC a A HHIT NXNAME UID TA A6 NSEC").unwrap();
    assert_eq!(named, wire("NSEC a TYPE1 TYPE67 TYPE128 TYPE101 TYPE32768 TYPE38 TYPE47").unwrap());
    let written_nsec = line_of(RecordType::NSEC, &named);
    assert_eq!(written_nsec, "NSEC a.example. A TYPE38 NSEC TYPE67 TYPE101 TYPE128 TYPE32768");
    assert_eq!(line_of(RecordType::HHIT, &[1, 2, 3]), "TYPE67 \\# 3 010203");
    let signature = wire("RRSIG HHIT 8 1 1 20300101000000 20200101000000 3 . AA==").unwrap();
    assert!(line_of(RecordType::RRSIG, &signature).starts_with("RRSIG TYPE67 8 1 "));
}

/// RFC 3597 section 5: generic data fits every type without a text. Types of messages and questions occur in no zone.
#[test]
fn every_mnemonic_takes_generic_data_unless_no_zone_may_hold_it() {
    let has_text = |rtype: RecordType| {
        CASES.iter().any(|(from, ..)| from.split(' ').next() == rtype.mnemonic() && !from.contains("\\#"))
    };
    let (mut generic, mut meta) = (Vec::new(), 0);
    for rtype in (1..=u16::MAX).map(RecordType).filter(|rtype| rtype.mnemonic().is_some()) {
        let read = wire(&format!("{rtype} \\# 1 00"));
        if rtype.is_meta() {
            assert!(read.is_err_and(|error| error.contains("not allowed in a zone")), "{rtype}");
            meta += 1;
        } else if !has_text(rtype) {
            assert_eq!(read.as_deref(), Ok(&[0][..]), "{rtype}");
            generic.push(rtype.to_string());
        }
    }
    assert_eq!(generic, ["NULL", "UINFO", "UID", "GID", "UNSPEC"]);
    assert_eq!(meta, 9);
}

/// A type with fields and without a case would not be tested.
#[test]
fn every_type_with_a_text_has_a_case() {
    let with_case = |rtype: RecordType| {
        CASES.iter().any(|(from, ..)| from.split(' ').next() == rtype.mnemonic() && !from.contains("\\#"))
    };
    for rtype in (1..=u16::MAX).map(RecordType).filter(|rtype| rtype.mnemonic().is_some() && !rtype.is_meta())
    {
        let error = wire(&format!("{rtype} x y z")).err().unwrap_or_default();
        assert!(error.contains("is unknown") || with_case(rtype), "{rtype}");
    }
}

#[test]
fn every_cut_of_data_is_refused_or_written_in_generic_form() {
    for (from, ..) in CASES {
        let rtype: RecordType = from.split(' ').next().unwrap().parse().unwrap();
        let data = wire(from).unwrap();
        for len in 0..data.len() {
            let written = text(rtype, &data[..len]);
            let checked = canonical(rtype, &data[..len], &mut Vec::new());
            assert_eq!(wire(&written).is_ok(), checked.is_ok(), "{written}");
        }
    }
}

#[test]
fn rejects_data_that_does_not_match_its_type() {
    let long = format!("TXT {}", "a".repeat(256));
    let cases = [
        "A 1.2.3",
        "A 1.2.3.4 5",
        "A",
        "AAAA 1.2.3.4",
        "AAAA ::g",
        "MX a b",
        "MX 65536 a",
        "MX 1",
        "TXT",
        &long,
        "TXT \"\\256\"",
        "SOA a b 1 2 3 4",
        "SOA a b 4294967296 2 3 4 5",
        "NS a..b",
        "NS \"a\"",
        "DS 1 8 2",
        "DS 1 8 2 abc",
        "DS 1 8 2 xy",
        "DS 1 NOALG 2 ab",
        "DNSKEY 1 3 8 A",
        "DNSKEY 1 3 8 AAA=A",
        "DNSKEY 1 3 256 AA==",
        "RRSIG A 8 1 1 20040101x 2 3 . AA==",
        "RRSIG A 8 1 1 20041301000000 2 3 . AA==",
        "RRSIG A 8 1 1 1 2 3 .",
        "RRSIG NOPE 8 1 1 1 2 3 . AA==",
        "NSEC a NOPE",
        "NXT a CAA",
        "NSEC3 1 0 0 - 0",
        "NSEC3 1 0 0 -",
        "NSEC3 1 0 0 a 00",
        "LOC 91 N 0 E 0",
        "LOC 90 0 0.001 N 0 E 0",
        "LOC 1 60 N 0 E 0",
        "LOC 1 E 1 E 0",
        "LOC 1 N 1 E x",
        "LOC 1 N 1 E -100001",
        "APL 3:1.2.3.4/1",
        "APL 1:1.2.3.4/33",
        "APL 1:1.2.3.4",
        "IPSECKEY 1 4 2 . AA==",
        "IPSECKEY 1 0 2 a AA==",
        "HIP 1 ab",
        "EUI48 00-00-5e-00-53",
        "EUI48 00-00-5e-00-53-2a-00",
        "EUI64 00-00-5e-ef-10-00-00-2",
        "NID 1 1:2:3",
        "NID 1 1:2:3:12345",
        "NID 1 1:2:3:g",
        "NSAP 47",
        "NSAP 0x4",
        "CAA 0 is-sue x",
        "CAA 0 \"\" x",
        "SVCB 1 . port=x",
        "SVCB 1 . port=1 port=2",
        "SVCB 1 . mandatory=alpn",
        "SVCB 1 . alpn",
        "SVCB 1 . alpn=a,,b",
        "SVCB 1 . mandatory=alpn,alpn alpn=h2",
        "SVCB 1 . mandatory=mandatory",
        "SVCB 1 . ipv4hint=::1",
        "SVCB 1 . no-default-alpn",
        "SVCB 1 . key65536=x",
        "SVCB 1 . key01=x",
        "SVCB 1 . nokey=x",
        "SVCB 1 . key65535=x",
        "TYPE731 x",
        "TYPE731 \\# 1",
        "TYPE731 \\# 65536 00",
        "SVCB 1 . alpn=\"h2",
        "A \\# 3 010203",
        "MX \\# 3 000100 00",
        "CNAME \\# 2 c00c",
        "SVCB \\# 7 0001 00 00030001",
        "GPOS a b",
        "TLSA 3 1 1",
        "SMIMEA 3 1 1",
        "TLSA \\# 3 030101",
        "SSHFP 1 1",
        "SSHFP 1 1 ab",
        "SSHFP 4 2 ab",
        "DNSKEY 257 3 13",
        "DNSKEY 49152 3 1",
        "KEY 0 0 0",
        "KEY 256 3 5",
        "KEY \\# 4 00000000",
        "KEY 49152 3 1 AA==",
        "RKEY 0 3 1",
        "RKEY 1 2 3 AQID",
        "CDNSKEY 257 3 13",
        "CDNSKEY 0 3 0",
        "CDS 0 0 0",
        "CDS 1 8 1 00",
        "DS 1 8 1 00",
        "DS 1 8 2 00",
        "DS 1 8 4 00",
        "DLV 1 8 2 00",
        "TA 1 8 2 ABCD",
        "NSAP 0x",
        "NSAP \\# 0",
        "ZONEMD 1 1 1 00",
        "ZONEMD 1 1 1 000102030405060708090a0b",
        "ZONEMD 1 1 2 000102030405060708090a0b",
        "ZONEMD 1 1 240 0001",
        "ZONEMD 1 241 1 0001",
        "NSEC a",
        "NSEC \\# 3 016100",
        "NSEC3 1 0 1 - 0000 A",
        "IPSECKEY 10 0 2 .",
        "IPSECKEY \\# 3 0a0002",
        "IPSECKEY \\# 3 0a0400",
        "AMTRELAY 10 0 4 .",
        "AMTRELAY \\# 3 000000",
        "IPSECKEY 10 1 2 192.0.2.1",
        "CERT PKIX 1 RSASHA256",
        "DHCID",
        "OPENPGPKEY",
        "HHIT",
        "HHIT \\# 0",
        "EID",
        "NIMLOC \\# 0",
        "NINFO",
        "X25 311",
        "X25 3110a",
        "X25 \\# 5 0461626364",
        "WKS 192.0.2.1",
        "WKS 192.0.2.1 256",
        "WKS 192.0.2.1 tcp 65536",
        "WKS 192.0.2.1 tcp nosuch",
        "WKS \\# 6 c0000201 06 00",
        "A6 64 ::1",
        "A6 128 :: foo",
        "A6 129 ::1",
        "A6 \\# 18 01 ffffffffffffffffffffffffffffffff 00",
        "ATMA +",
        "ATMA +1..2",
        "ATMA +1a",
        "ATMA .00",
        "ATMA 0",
        "ATMA \\# 1 00",
        "ATMA \\# 2 01ff",
        "SINK 1 2",
        "SINK 1 2 AQID",
        "DOA 1 2 3 \"text/plain\"",
        "DOA 1 2 3 \"\" \"\"",
        "UID 5",
        "CLA",
        "IPN",
        "IPN -1",
        "IPN 18446744073709551616",
        "IPN 1.",
        "IPN .1",
        "IPN 1.2.3",
        "IPN 1.4294967296",
        "IPN 1 2",
        "IPN \\# 7 00000000000001",
        "NXNAME \\# 0",
        "NULL",
        "LOC 0 0 0 N 0 0 0 E 0 90000000.01m",
        "LOC 0 0 0 N 0 0 0 E 0 90000001m",
        "LOC 0 0 0 N 0 0 0 E 42849672.96",
        "LOC 0 0 0 N 0 0 0 E -100000.01",
        "LOC 0 0 0 N 0 0 0 E 0 0x10",
        "LOC 0 0 0 N 0 0 0 E 0 1 2 3 4",
        "SVCB 1 . PORT=0",
        "SVCB 1 . Key7=/q{?dns}",
        "SVCB 1 . mandatory=PORT port=1",
        "SVCB 1 . port=65536",
        "SVCB 1 . port=",
        "SVCB 1 . port",
        "SVCB 1 . tls-supported-groups",
        "SVCB 1 . tls-supported-groups=",
        "SVCB 1 . tls-supported-groups=29,,23",
        "SVCB 1 . tls-supported-groups=65536",
        "SVCB 1 . key9=a",
        "SVCB 1 . docpath=a,,b",
        "SVCB 1 . key10=\\002a",
        "SVCB 1 . dohpath",
        "SVCB 1 . dohpath=",
        "SVCB 1 . dohpath=/q",
        "SVCB 1 . dohpath=q{?dns}",
        "SVCB 1 . key7=/q",
        "SVCB 1 . key7",
        "SVCB 1 . mandatory",
        "SVCB 1 . mandatory=",
        "SVCB 1 . no-default-alpn=x alpn=h2",
        "SVCB 1 . alpn=",
        "SVCB 1 . alpn=,h2",
        "SVCB 1 . alpn=h2 alpn=h3",
        "SVCB 1 . ipv4hint=",
        "SVCB 1 . ipv4hint=1.2.3.4,",
        "SVCB 1 . ohttp=x",
        "SVCB 1 . key0=x",
        "SVCB 1 . key1=h2",
        "SVCB 1 . key3=443",
        "SVCB 1 . key65536=x",
        "URI 10 1 http://x/",
        "URI 10 1",
        "CAA 0 issue",
        "CAA 256 issue x",
        "NAPTR 1 1 a b c",
        "NAPTR 1 1 a b bad .",
        "NAPTR 1 1 a b \"!^.*$!\" .",
        "NAPTR 1 1 a b \"!^.*$!\\\\1!\" .",
        "NAPTR \\# 11 0001 0001 00 00 03 626164 00",
        "DNSKEY REVOKE DNSSEC 8 AQID",
        "DNSKEY ZONE| DNSSEC 8 AQID",
        "DNSKEY ZONE DNS 8 AQID",
        "DNSKEY SIG16 DNSSEC 8 AQID",
        "KEY NOKEY NONE 8 AQID",
        "RKEY ZONE NONE 8 AQID",
        "WKS 192.0.2.1 nosuch 21",
        "LOC 0 n 0 e 0",
        "LOC 0 N 0 e 0",
        "LOC 0 N 0 E 0M",
        "RRSIG A 8 1 1h 20300101000000 20200101000000 3 . AA==",
        "SIG A 8 1 1h 20300101000000 20200101000000 3 . AA==",
    ];
    for case in cases {
        assert!(wire(case).is_err(), "{case}");
    }
}

#[test]
fn errors_state_the_allowed_values() {
    let cases = [
        ("TLSA 3 1 1", "the entry ends, expected hexadecimal digits"),
        ("DS 1 8 2 00", "the length of a SHA-256 digest is 1: 32 bytes are allowed"),
        ("ZONEMD 1 1 240 00", "the length of a zone digest is 1: at least 12 bytes are allowed"),
        (
            "LOC 1 N 1 E 0 90000001m",
            "found `90000001m`, expected a size or precision from 0.00m to 90000000.00m",
        ),
        ("LOC 1 N 1 E 42849673m", "found `42849673m`, expected an altitude from -100000.00m to 42849672.95m"),
        ("URI 1 1 http://x/", "found `http://x/`, expected a URI in quotes"),
        ("NSEC a NOPE", "found `NOPE`, expected a registered type, or TYPE and a number up to 65535"),
        (
            "DNSKEY KSX 3 8 AQID",
            "found `KSX`, expected flags up to 65535, or their mnemonics with | between them, such as ZONE|KSK",
        ),
        ("WKS 192.0.2.1 tcp x", "found `x`, expected the name of a service, or a port up to 65535"),
    ];
    for (case, error) in cases {
        assert_eq!(wire(case), Err(error.to_owned()), "{case}");
    }
    assert!(wire("SVCB 1 . PORT=1").unwrap_err().contains("a parameter in small letters (mandatory, alpn"));
    assert!(wire("SVCB 1 . dohpath=/q").unwrap_err().contains("such as /dns-query{?dns}"));
}

#[test]
fn checks_data_field_by_field() {
    let check = |rtype, data: &[u8]| canonical(rtype, data, &mut Vec::new());
    assert_eq!(check(RecordType::A, &[1, 2, 3]), Err(DataError::Short));
    assert_eq!(check(RecordType::A, &[1, 2, 3, 4, 5]), Err(DataError::Long(1)));
    assert_eq!(check(RecordType::TXT, &[]), Err(DataError::Short));
    assert!(matches!(check(RecordType::NS, &[0xc0, 0x0c]), Err(DataError::Name(_))));
    assert!(
        check(RecordType::NSEC, &[0, 0, 1, 0]).is_err()
            && check(RecordType::NSEC, &[0, 1, 1, 1, 0, 1, 1]).is_err()
    );
    assert!(check(RecordType::LOC, &[1; 16]).is_err());
    assert!(check(RecordType::SVCB, &[0, 1, 0, 0, 3, 0, 2, 0, 1, 0, 3, 0, 2, 0, 1]).is_err());
    assert_eq!(check(RecordType(65280), &[9; 9]), Ok(()));
    let mut out = Vec::new();
    canonical(
        RecordType::RRSIG,
        &[0, 1, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, b'A', 0, b'B'],
        &mut out,
    )
    .unwrap();
    assert_eq!(&out[18..], b"\x01a\0B");
}
