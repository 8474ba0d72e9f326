//! Zone files: records, faults and their lines, read whole and in blocks.

use oarlock_dnssec::zone::{EntryError, FaultyEntry, ZoneReader, write_record};
use oarlock_dnssec::{DomainName, DomainNameBuf, LetterCase, NameError, RecordType, ZoneRecords};

/// The records as lines, and the faults.
type Read = (Vec<String>, Vec<(u32, EntryError)>);

fn lines(records: &ZoneRecords) -> Vec<String> {
    let line = |record| {
        let mut out = Vec::new();
        write_record(&record, &mut out);
        format!("{}:{}", record.line, String::from_utf8_lossy(&out).trim_end())
    };
    records.iter().map(line).collect()
}

fn found(faults: &[FaultyEntry]) -> Vec<(u32, EntryError)> {
    faults.iter().map(|fault| (fault.line, fault.error.clone())).collect()
}

fn read_with(text: &[u8], include: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>) -> Read {
    let mut records = ZoneRecords::new();
    let mut reader = ZoneReader::new(None, include);
    assert_eq!(reader.read(text, true, &mut records), text.len());
    (lines(&records), found(reader.faults()))
}

fn read(text: &str) -> Read {
    read_with(text.as_bytes(), &mut |path| Err(format!("no {path}")))
}

fn good(text: &str) -> Vec<String> {
    let (lines, faults) = read(text);
    assert_eq!(faults, [], "{text}");
    lines
}

fn word(word: &str, expected: &'static str) -> EntryError {
    EntryError::Word { word: word.into(), expected }
}

/// The expectation of errors about TTLs.
const TTL: &str = "a TTL of up to 2147483647 seconds, or one such as 1w2d3h4m5s";

const TRICKY: &str = "$ORIGIN Example.\r\n$TTL 1h\r\n@ IN SOA ns ( ; start\r\n hostmaster.mail 1 ; serial ) \" (\r\n 2h 30m\r\n 1w2d ) 600\r\n \
 NS ns\r\n\r\n  ; nothing\r\nns 300 A 192.0.2.1\n IN 400 A 192.0.2.2\n\tCLASS1 TYPE28 \\# 16 20010db8 00000000000000000000 0001\nA\\.b\\046c TXT \
 \"semi;colon (\" un\\ quoted ( \"x\\\"y\" ) ; \"\nA\\.B\\046C 5 TXT a\"b\"c\\;d\n\\000\\255 MX 10 @\n(paren 7 (A)192.0.2.3)\nbad A \
 192.0.2.256\n\"quoted A 192.0.2.1\nopen TXT \"x\nwww CNAME .\n$ORIGIN sub\nwww AAAA ::1\n\x01ctl A 192.0.2.9";

#[test]
fn reads_the_entries_of_the_standard() {
    let (lines, faults) = read(TRICKY);
    assert_eq!(
        lines,
        [
            "3:example. 3600 IN SOA ns.example. hostmaster.mail.example. 1 7200 1800 777600 600",
            "7:example. 3600 IN NS ns.example.",
            "10:ns.example. 300 IN A 192.0.2.1",
            "11:ns.example. 400 IN A 192.0.2.2",
            "12:ns.example. 3600 IN AAAA 2001:db8::1",
            r#"13:a\.b\.c.example. 3600 IN TXT "semi;colon (" "un quoted" "x\"y""#,
            r#"14:a\.b\.c.example. 5 IN TXT "a" "b" "c;d""#,
            r"15:\000\255.example. 3600 IN MX 10 example.",
            "16:paren.example. 7 IN A 192.0.2.3",
            "20:www.example. 3600 IN CNAME .",
            "22:www.sub.example. 3600 IN AAAA ::1",
            r"23:\001ctl.sub.example. 3600 IN A 192.0.2.9",
        ]
    );
    assert_eq!(
        faults,
        [
            (17, word("192.0.2.256", "an IPv4 address")),
            (18, EntryError::OpenQuote),
            (19, EntryError::OpenQuote),
        ]
    );
}

/// Reads a text that is cut at every position of `cuts`. The unread rest is passed again.
fn read_in_pieces(text: &[u8], cuts: &[usize]) -> Read {
    let mut records = ZoneRecords::new();
    let include = &mut |_: &str| Ok(b"x A 192.0.2.77\n".to_vec());
    let mut reader = ZoneReader::new(None, include);
    let mut start = 0;
    for end in cuts {
        start += reader.read(&text[start..*end], false, &mut records);
        assert!(start <= *end);
    }
    assert_eq!(reader.read(&text[start..], true, &mut records), text.len() - start);
    (lines(&records), found(reader.faults()))
}

#[test]
fn reads_the_same_records_from_blocks_of_any_length() {
    let more = "\n$INCLUDE \"some file\"\n$GENERATE 1-2 g$ A 192.0.2.$\nh ( A\n 192.0.2.1\n\ni A 192.0.2.2 )\nk ( TXT\nl A 192.0.2.3\n$NO)x y\nm ) A\n";
    for text in [TRICKY.to_owned(), format!("{TRICKY}{more}"), TRICKY.replace("\r\n", "\n")] {
        let whole = read_in_pieces(text.as_bytes(), &[]);
        assert!(whole.0.len() > 10 && whole.1.len() > 2);
        for cut in 0..text.len() {
            assert_eq!(read_in_pieces(text.as_bytes(), &[cut]), whole, "cut at {cut}");
            assert_eq!(read_in_pieces(text.as_bytes(), &[cut / 2, cut]), whole, "cut at {cut}");
        }
        let all: Vec<usize> = (0..text.len()).collect();
        assert_eq!(read_in_pieces(text.as_bytes(), &all), whole);
    }
}

#[test]
fn an_error_skips_one_entry_and_names_its_line() {
    let text = "a. 1 A 192.0.2.1\na. 1 NOTYPE x\na. 1 CH A 192.0.2.1\na. 1 CLASS7 A 192.0.2.1\na. 1 A\na. 1 A 192.0.2.1 x\nb..c. 1 A 192.0.2.1\n 1 A \
                192.0.2.2\nc. A 192.0.2.3\nrel 1 A 192.0.2.1\n$NOTHING\n$TTL x\n$ORIGIN\na. 1 ANY x\na. 1 UID x\na. ) A 192.0.2.1\na. 1 A \\# 5 \
                0102030405\na. 1 A \\# 4 010203\nlast. A 192.0.2.9\n";
    let (lines, faults) = read(text);
    assert_eq!(lines, ["1:a. 1 IN A 192.0.2.1", "9:c. 1 IN A 192.0.2.3", "19:last. 1 IN A 192.0.2.9"]);
    let expected = [
        (2, EntryError::UnknownType("NOTYPE".into())),
        (3, EntryError::Class("CH".into())),
        (4, EntryError::Class("CLASS7".into())),
        (5, EntryError::Missing("an IPv4 address")),
        (6, EntryError::SecondInput("x".into())),
        (7, EntryError::Name { word: "b..c.".into(), error: NameError::EmptyLabel }),
        (8, EntryError::NoOwner),
        (10, EntryError::NoOrigin("rel".into())),
        (11, EntryError::Directive("$NOTHING".into())),
        (12, word("x", TTL)),
        (13, EntryError::Missing("a name")),
        (14, EntryError::MetaType(RecordType::ANY)),
        (15, EntryError::GenericOnly(RecordType::UID)),
        (16, EntryError::ClosingParenthesis),
        (17, EntryError::Data(oarlock_dnssec::rdata::DataError::Long(1))),
        (18, word("4", "the number of bytes that follow")),
    ];
    assert_eq!(faults, expected);
    let shown: Vec<String> = faults.iter().map(|(_, error)| error.to_string()).collect();
    assert_eq!(shown[2], "class `CLASS7`: only IN is supported");
}

#[test]
fn reports_the_line_that_opened_an_unclosed_parenthesis() {
    let (lines, faults) = read(
        "a. 1 A 192.0.2.1\nb. 1 TXT x\n y. 1 SOA (\nc. 1 A 192.0.2.2\nd. 1 TXT ( \"(\" \n ) \ne. 1 A 192.0.2.3",
    );
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert_eq!(faults, [(3, EntryError::OpenParenthesis)]);
    let many = "a. 1 TXT (\n".repeat(150);
    let (lines, faults) = read(&format!("{many}a. 1 TXT x\n"));
    assert_eq!((lines.len(), faults.len()), (0, 101));
    assert_eq!(faults[99], (100, EntryError::OpenParenthesis));
    assert_eq!(faults[100], (100, EntryError::GaveUp));
}

#[test]
fn reports_a_truncated_zone_file() {
    let whole = "a. 1 SOA b. c. ( 1 2 3\n 4 5 )\n";
    assert_eq!(good(whole).len(), 1);
    for len in ["a. 1 SOA b. c. (".len(), whole.len() - 3, whole.len() - 2] {
        assert_eq!(read(&whole[..len]).1[0], (1, EntryError::OpenParenthesis), "{len}");
    }
    assert_eq!(read("a. 1 TXT x\nb. 1 TXT \"x").1, [(2, EntryError::OpenQuote)]);
    assert_eq!(read("a. 1 TXT x\nb. 1").1, [(2, EntryError::Missing("a type"))]);
    // The last line may lack its end.
    assert_eq!(good("a. 1 TXT x\nb. 1 A 192.0.2.1").len(), 2);
}

#[test]
fn entries_have_at_most_a_mebibyte() {
    let blanks = " ".repeat(1 << 20);
    let long = format!(
        "a. 1 A {blanks}192.0.2.1\nb. 1 A 192.0.2.2\nc. 1 TXT ({}\nx )\nd. 1 A 192.0.2.3\n",
        "\n".repeat(1 << 20)
    );
    let expected = [(1, EntryError::Long), (3, EntryError::OpenParenthesis)];
    let (lines, faults) = read(&long);
    assert_eq!(faults[..2], expected);
    assert_eq!((lines.len(), faults.len()), (2, 3), "{faults:?}");
    for size in [100_000, 1 << 20, (1 << 20) + 7] {
        let cuts: Vec<usize> = (1..).map(|count| count * size).take_while(|cut| *cut < long.len()).collect();
        assert_eq!(read_in_pieces(long.as_bytes(), &cuts), (lines.clone(), faults.clone()));
    }
}

#[test]
fn names_may_have_255_bytes() {
    let label = "a".repeat(63);
    let longest = format!("{label}.{label}.{label}.{}.", "b".repeat(61));
    let lines = good(&format!("{longest} 1 NS {longest}\n"));
    assert_eq!(lines, [format!("1:{longest} 1 IN NS {longest}")]);
    let longer = longest.replace("b.", "bb.");
    assert!(matches!(
        read(&format!("{longer} 1 A 192.0.2.1")).1[0].1,
        EntryError::Name { error: NameError::Long, .. }
    ));
    assert!(matches!(
        read(&format!("{label}c. 1 A 192.0.2.1")).1[0].1,
        EntryError::Name { error: NameError::LongLabel, .. }
    ));
    let escaped = r"\097".repeat(63);
    assert_eq!(good(&format!("{escaped}. 1 A 192.0.2.1\n")), [format!("1:{label}. 1 IN A 192.0.2.1")]);
}

/// RFC 2308 section 4, RFC 1035 5.1.
#[test]
fn takes_ttls_from_the_first_known_source() {
    assert_eq!(read("a. A 192.0.2.1\n").1, [(1, EntryError::NoTtl)]);
    let soa = "a. SOA b. c. 1 2 3 4 77\n";
    assert_eq!(good(&format!("{soa}a. A 192.0.2.1\n"))[1], "2:a. 77 IN A 192.0.2.1");
    assert_eq!(good(&format!("{soa}a. 5 A 192.0.2.1\na. A 192.0.2.2\n"))[2], "3:a. 5 IN A 192.0.2.2");
    assert_eq!(good(&format!("$TTL 9\n{soa}a. 5 A 192.0.2.1\na. A 192.0.2.2\n"))[2], "4:a. 9 IN A 192.0.2.2");
}

/// RFC 2181 section 8.
#[test]
fn ttls_have_31_bits() {
    let soa = "a. 2147483647 SOA b. c. 1 2 3 4 4294967295\n";
    let (lines, faults) = read(&format!(
        "{soa}a. 2147483648 A 192.0.2.1\na. IN 4294967295 A 192.0.2.1\n$TTL 7101w\na. A 192.0.2.1\n"
    ));
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[1].starts_with("5:a. 2147483647 IN A"), "{lines:?}");
    assert_eq!(faults, [(2, word("2147483648", TTL)), (3, word("4294967295", TTL)), (4, word("7101w", TTL))]);
    // A minimum has 32 bits, but a TTL has 31.
    let (lines, faults) = read("a. SOA b. c. 1 2 3 4 2147483648\n");
    assert_eq!((lines.len(), faults), (0, vec![(1, EntryError::LongMinimum(2_147_483_648))]));
    assert_eq!(
        good("a. SOA b. c. 1 2 3 4 2147483647\n")[0],
        "1:a. 2147483647 IN SOA b. c. 1 2 3 4 2147483647"
    );
    assert_eq!(
        read("w. 4294967295 A 192.0.2.1\n").1[0].1.to_string(),
        "found `4294967295`, expected a TTL of up to 2147483647 seconds, or one such as 1w2d3h4m5s"
    );
}

#[test]
fn the_first_soa_is_the_origin_if_none_is_stated() {
    let lines = good("Example. 1 SOA ns host 1 2 3 4 5\nwww A 192.0.2.1\n@ NS ns\n");
    assert_eq!(lines[0], "1:example. 1 IN SOA ns.example. host.example. 1 2 3 4 5");
    assert_eq!(lines[1..], ["2:www.example. 1 IN A 192.0.2.1", "3:example. 1 IN NS ns.example."]);
    let origin = DomainNameBuf::parse(b"Given.", DomainName::ROOT, LetterCase::Kept).unwrap();
    let mut records = ZoneRecords::new();
    let include = &mut |_: &str| Err(String::new());
    let mut reader = ZoneReader::new(Some(origin.name()), include);
    reader.read(b"@ 1 A 192.0.2.1\n", true, &mut records);
    assert_eq!(lines_of_owner(&records), ["given."]);
}

fn lines_of_owner(records: &ZoneRecords) -> Vec<String> {
    records.iter().map(|record| record.owner.to_string()).collect()
}

/// RFC 6840 5.1: the signature of an NSEC covers its next name as written.
#[test]
fn an_origin_keeps_its_case_in_names_that_keep_theirs() {
    let lines = good("$ORIGIN Example.\nA 1 NSEC B A\nA 1 NS B\n$ORIGIN Sub\nA 1 NSEC B A\n");
    let expected = [
        "2:a.example. 1 IN NSEC B.Example. A",
        "3:a.example. 1 IN NS b.example.",
        "5:a.sub.example. 1 IN NSEC B.Sub.Example. A",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn files_include_files() {
    let include = &mut |path: &str| match path {
        "one" => {
            Ok(b"$ORIGIN deep\nx 1 A 192.0.2.1\nbad 1 A x\n$INCLUDE two other.\n A 192.0.2.3\n".to_vec())
        }
        "two" => Ok(b"y A 192.0.2.2".to_vec()),
        "loop" => Ok(b"l 1 A 192.0.2.4\n$INCLUDE loop\n".to_vec()),
        _ => Err("not found".to_owned()),
    };
    let mut records = ZoneRecords::new();
    records.begin_file("zone");
    let mut reader = ZoneReader::new(None, include);
    let text = b"$ORIGIN a.\nw 1 A 192.0.2.0\n$INCLUDE one\n A 192.0.2.5\nrel A 192.0.2.6\n$INCLUDE missing\n$INCLUDE loop\nend A 192.0.2.7\n";
    reader.read(text, true, &mut records);
    let describe = |index| format!("{} {}", records.file(index).unwrap(), lines(&records)[index]);
    let expected = [
        "zone 2:w.a. 1 IN A 192.0.2.0",
        "one 2:x.deep.a. 1 IN A 192.0.2.1",
        "two 1:y.other. 1 IN A 192.0.2.2",
        "one 5:bad.deep.a. 1 IN A 192.0.2.3",
        "zone 4:w.a. 1 IN A 192.0.2.5",
        "zone 5:rel.a. 1 IN A 192.0.2.6",
    ];
    assert_eq!((0..6).map(describe).collect::<Vec<_>>(), expected);
    assert_eq!(records.len(), 6 + 16 + 1);
    assert_eq!(describe(records.len() - 1), "zone 8:end.a. 1 IN A 192.0.2.7");
    let (faults, more) = reader.into_faults();
    let faults: Vec<String> = faults.iter().map(FaultyEntry::to_string).collect();
    assert_eq!(
        faults,
        [
            "one: line 3: found `x`, expected an IPv4 address",
            "line 6: cannot include `missing`: not found",
            "loop: line 2: cannot include `loop`: more than 16 files, one within the other",
        ]
    );
    assert_eq!(more, 0);
}

#[test]
fn records_are_generated() {
    let lines = good(
        "$ORIGIN a.\n$GENERATE 1-5/2 h$ 60 IN A 192.0.2.${10}\n$GENERATE 0-1 ${0,3}.m MX \"$ mail$\"\n$GENERATE 7-7 t 5 TXT \"\\\"x \
                      $\\\" y\\$\"\n",
    );
    let expected = [
        "2:h1.a. 60 IN A 192.0.2.11",
        "2:h3.a. 60 IN A 192.0.2.13",
        "2:h5.a. 60 IN A 192.0.2.15",
        "3:000.m.a. 60 IN MX 0 mail0.a.",
        "3:001.m.a. 60 IN MX 1 mail1.a.",
        r#"4:t.a. 5 IN TXT "x 7" "y$""#,
    ];
    assert_eq!(lines, expected);
    let (lines, faults) = read(
        "$GENERATE 1-65537 a$. 1 A 192.0.2.1\n$GENERATE 250-260 a. 1 A 192.0.2.$\n$GENERATE 2-1 a. 1 A 192.0.2.$\n",
    );
    assert_eq!(lines.len(), 6);
    assert_eq!(faults[0], (1, EntryError::Generate("the range makes more records than allowed")));
    assert_eq!(faults[1], (2, word("192.0.2.256", "an IPv4 address")));
    assert_eq!(faults.len(), 3);
}

const NO_SOA: &str = "a range cannot contain an SOA record: a zone has one";

/// The output of BIND 9.18.
#[test]
fn generated_records_take_every_form_of_a_number_and_are_bounded() {
    let lines = good(
        "$ORIGIN a.\n$TTL 9\n$GENERATE 10-11 x${0,3,X} IN 1h TXT ${0,0,o}\n$GENERATE 18-19 n${0,7,n} TXT ${-20,4,d}\n\
         $GENERATE 0-2147483647/2147483647 b$ TXT \"$$ \\$ $\" ; not $ here\n",
    );
    let expected = [
        r#"3:x00a.a. 3600 IN TXT "12""#,
        r#"3:x00b.a. 3600 IN TXT "13""#,
        r#"4:n2.1.0.0.a. 9 IN TXT "-002""#,
        r#"4:n3.1.0.0.a. 9 IN TXT "-001""#,
        r#"5:b0.a. 9 IN TXT "$" "$" "0""#,
        r#"5:b2147483647.a. 9 IN TXT "$" "$" "2147483647""#,
    ];
    assert_eq!(lines, expected);
    for (bad, error) in [
        ("2-1 a A 192.0.2.1", word("2-1", "a range such as 1-100 or 0-30/2")),
        ("0-2147483648 a A 192.0.2.1", word("0-2147483648", "a range such as 1-100 or 0-30/2")),
        ("1-2/0 a A 192.0.2.1", word("1-2/0", "a range such as 1-100 or 0-30/2")),
        ("1-2 a. CH TXT x", EntryError::Class("CH".into())),
        ("1-2 a. 2147483648 TXT x", word("2147483648", TTL)),
        ("1-2 a${ TXT x", EntryError::Generate("`${` without `}`")),
        ("1-2 a${1,2,z} TXT x", EntryError::Generate("`${` without offset,width,base after it")),
        ("1-2 a.", EntryError::Missing("a type")),
        ("1-2 a$. 1 SOA \"a. b. 1 2 3 4 5\"", EntryError::Generate(NO_SOA)),
        ("6-6 a$. 1 TYPE$ \"a. b. 1 2 3 4 5\"", EntryError::Generate(NO_SOA)),
    ] {
        assert_eq!(read(&format!("$GENERATE {bad}\n")).1, [(1, error)], "{bad}");
    }
    let include = &mut |_: &str| Err(String::new());
    let mut records = ZoneRecords::new();
    let mut reader = ZoneReader::new(None, include).with_max_generated(3);
    reader.read(b"$GENERATE 1-3 a$. 1 A 192.0.2.1\n$GENERATE 1-4 b$. 1 A 192.0.2.1\n", true, &mut records);
    assert_eq!((records.len(), reader.faults().len()), (3, 1));
}

#[test]
fn limits_the_number_of_faults() {
    let include = &mut |_: &str| Err(String::new());
    let mut reader = ZoneReader::new(None, include);
    reader.read("x\n".repeat(1500).as_bytes(), true, &mut ZoneRecords::new());
    let (faults, more) = reader.into_faults();
    assert_eq!((faults.len(), more, faults[999].line), (1000, 500, 1000));
}

#[test]
fn records_of_one_owner_share_its_name() {
    let mut records = ZoneRecords::new();
    let include = &mut |_: &str| Err(String::new());
    let mut reader = ZoneReader::new(None, include);
    reader.read(
        b"$ORIGIN a.\nb 1 A 192.0.2.1\nB.A. A 192.0.2.2\n A 192.0.2.3\nb A 192.0.2.4\nc A 192.0.2.5\n",
        true,
        &mut records,
    );
    let ids: Vec<_> = records.iter().map(|record| record.owner_id).collect();
    assert!(ids[..4].iter().all(|id| *id == ids[0]) && ids[4] != ids[0]);
}
