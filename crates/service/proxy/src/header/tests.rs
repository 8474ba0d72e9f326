use super::*;

fn addresses(source: &str, destination: &str) -> Option<ConnectionAddresses> {
    Some(ConnectionAddresses { source: source.parse().unwrap(), destination: destination.parse().unwrap() })
}

fn whole(bytes: &[u8]) -> (ProxyHeader, usize) {
    match ProxyHeader::parse(bytes).unwrap() {
        HeaderProgress::Complete { header, len } => (*header, len),
        HeaderProgress::Incomplete { missing } => panic!("{missing} bytes are missing"),
    }
}

fn fields() -> HeaderFields {
    HeaderFields {
        alpn: Some(b"h2".to_vec()),
        authority: Some("www.example.com".into()),
        unique_id: Some(vec![1, 2, 3]),
        tls: Some(TlsFields {
            has_certificate: true,
            has_certificate_in_session: true,
            is_verified: true,
            version: Some("TLSv1.3".into()),
            common_name: Some("client".into()),
            cipher: Some("TLS_AES_128_GCM_SHA256".into()),
            signature_algorithm: None,
            key_algorithm: Some("EC256".into()),
        }),
        others: vec![(0xe0, b"own".to_vec()), (0xe0, Vec::new())],
    }
}

/// Checks that every proper start of a header is incomplete, and that `missing` never reads beyond its end.
fn every_cut_is_incomplete(header: &[u8]) {
    for cut in 0..header.len() {
        match ProxyHeader::parse(&header[..cut]) {
            Ok(HeaderProgress::Incomplete { missing }) => {
                assert!((1..=header.len() - cut).contains(&missing), "{cut}");
            }
            other => panic!("cut at {cut}: {other:?}"),
        }
    }
}

#[test]
fn lines_of_version_1_are_parsed() {
    let line = b"PROXY TCP4 192.0.2.1 198.51.100.7 56324 443\r\nGET /";
    let (header, len) = whole(line);
    assert_eq!(header.addresses, addresses("192.0.2.1:56324", "198.51.100.7:443"));
    assert_eq!(&line[len..], b"GET /");
    let (header, _) = whole(b"PROXY TCP6 2001:db8::1 ::1 1 65535\r\n");
    assert_eq!(header.addresses, addresses("[2001:db8::1]:1", "[::1]:65535"));
    assert_eq!(whole(b"PROXY UNKNOWN\r\n").0.addresses, None);
    assert_eq!(whole(b"PROXY UNKNOWN anything at all 1 2\r\n").0.addresses, None);
    every_cut_is_incomplete(b"PROXY TCP4 192.0.2.1 198.51.100.7 56324 443\r\n");
    every_cut_is_incomplete(b"PROXY UNKNOWN\r\n");
}

#[test]
fn faulty_lines_of_version_1_are_rejected() {
    for line in [
        "PROXY TCP4 192.0.2.1 198.51.100.7 56324\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.7 56324 443 9\r\n",
        "PROXY TCP4  192.0.2.1 198.51.100.7 56324 443\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.7 056324 443\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.7 +1 443\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.7 1 65536\r\n",
        "PROXY TCP4 192.0.2.1 ::1 1 2\r\n",
        "PROXY TCP6 192.0.2.1 ::1 1 2\r\n",
        "PROXY TCP4 192.0.2.256 192.0.2.1 1 2\r\n",
        "PROXY UDP4 192.0.2.1 192.0.2.1 1 2\r\n",
        "PROXY tcp4 192.0.2.1 192.0.2.1 1 2\r\n",
        "PROXY \r\n",
    ] {
        let found = ProxyHeader::parse(line.as_bytes());
        assert!(matches!(found, Err(HeaderError::Text { .. })), "{line:?}: {found:?}");
    }
    assert!(ProxyHeader::parse(b"PROXY TCP4 \xff\r\n").is_err());
    let endless = format!("PROXY UNKNOWN {}", "x".repeat(200));
    assert!(matches!(ProxyHeader::parse(&endless.as_bytes()[..106]), Ok(HeaderProgress::Incomplete { .. })));
    assert!(ProxyHeader::parse(&endless.as_bytes()[..107]).is_err());
}

#[test]
fn other_protocols_are_not_headers() {
    for bytes in [b"\x16\x03\x01\x02\x00".as_slice(), b"GET / HTTP/1.1\r\n", b"PROXYX", b"\r\n\r\n\0\r\nQUIX"]
    {
        assert_eq!(ProxyHeader::parse(bytes), Err(HeaderError::NoHeader));
    }
    assert_eq!(ProxyHeader::parse(b""), Ok(HeaderProgress::Incomplete { missing: 15 }));
}

#[test]
fn a_header_of_version_2_by_hand_is_parsed() {
    let mut bytes = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x14".to_vec();
    bytes.extend_from_slice(&[192, 0, 2, 1, 198, 51, 100, 7, 0xdc, 0x04, 0x01, 0xbb]);
    bytes.extend_from_slice(b"\x01\x00\x02h2\x04\x00\x00");
    let (header, len) = whole(&bytes);
    assert_eq!(len, bytes.len());
    assert_eq!(header.addresses, addresses("192.0.2.1:56324", "198.51.100.7:443"));
    assert_eq!(header.fields, HeaderFields { alpn: Some(b"h2".to_vec()), ..HeaderFields::default() });
}

#[test]
fn what_is_encoded_is_parsed() {
    let pairs = [
        addresses("192.0.2.1:56324", "198.51.100.7:443"),
        addresses("[2001:db8::1]:1", "[2001:db8::2]:65535"),
        None,
    ];
    for addresses in pairs {
        let header = ProxyHeader { addresses, fields: fields() };
        for has_checksum in [false, true] {
            let mut bytes = b"before".to_vec();
            header.encode(HeaderVersion::V2, has_checksum, &mut bytes).unwrap();
            let bytes = &bytes[6..];
            assert_eq!(whole(bytes), (header.clone(), bytes.len()));
            every_cut_is_incomplete(bytes);
        }
        let mut line = Vec::new();
        header.encode(HeaderVersion::V1, false, &mut line).unwrap();
        assert_eq!(whole(&line), (ProxyHeader { addresses, fields: HeaderFields::default() }, line.len()));
    }
}

#[test]
fn every_changed_bit_of_a_checked_header_is_noticed() {
    let header = ProxyHeader { addresses: addresses("192.0.2.1:1", "192.0.2.2:2"), fields: fields() };
    let mut bytes = Vec::new();
    header.encode(HeaderVersion::V2, true, &mut bytes).unwrap();
    // The checksum itself is the last field. A change of its type or length removes the check.
    for index in 16..bytes.len() - 7 {
        let mut changed = bytes.clone();
        changed[index] ^= 1;
        let found = ProxyHeader::parse(&changed);
        assert!(found.is_err(), "byte {index}: {found:?}");
    }
    let end = bytes.len() - 1;
    bytes[end] ^= 0x80;
    assert_eq!(ProxyHeader::parse(&bytes), Err(HeaderError::Checksum));
}

#[test]
fn mixed_families_are_written_as_ipv6() {
    let header = ProxyHeader {
        addresses: addresses("192.0.2.1:1", "[2001:db8::2]:2"),
        fields: HeaderFields::default(),
    };
    let mut line = Vec::new();
    header.encode(HeaderVersion::V1, false, &mut line).unwrap();
    assert_eq!(line, b"PROXY TCP6 ::ffff:192.0.2.1 2001:db8::2 1 2\r\n");
    let mapped = addresses("[::ffff:192.0.2.1]:1", "192.0.2.2:2");
    let mut line = Vec::new();
    ProxyHeader { addresses: mapped, ..header }.encode(HeaderVersion::V1, false, &mut line).unwrap();
    assert_eq!(line, b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n");
}

#[test]
fn faulty_headers_of_version_2_are_rejected() {
    let header = |command: u8, family: u8, rest: &[u8]| {
        let len = u16::try_from(rest.len()).unwrap().to_be_bytes();
        let bytes = [&v2::SIGNATURE[..], &[command, family], &len, rest].concat();
        ProxyHeader::parse(&bytes)
    };
    let ipv4 = [1; 12];
    let with = |fields: &[u8]| header(0x21, 0x11, &[&ipv4[..], fields].concat());
    assert_eq!(header(0x11, 0x11, &ipv4), Err(HeaderError::Version { found: 1 }));
    assert_eq!(header(0x22, 0x11, &ipv4), Err(HeaderError::Command { found: 2 }));
    assert_eq!(header(0x21, 0x12, &ipv4), Err(HeaderError::Family { found: 0x12 }));
    assert_eq!(header(0x21, 0x11, &ipv4[..11]), Err(HeaderError::Cut { within: "the addresses" }));
    assert_eq!(with(&[1, 0]), Err(HeaderError::Cut { within: "a field" }));
    assert_eq!(with(&[1, 0, 2, 9]), Err(HeaderError::Cut { within: "a field" }));
    assert_eq!(with(&[2, 0, 1, 0xff]), Err(HeaderError::NotText { field: "AUTHORITY" }));
    assert_eq!(with(&[1, 0, 0, 1, 0, 0]), Err(HeaderError::Twice { field: "ALPN" }));
    assert_eq!(with(&[3, 0, 1, 0]), Err(HeaderError::Checksum));
    assert_eq!(with(&[0x20, 0, 4, 0, 0, 0, 0]), Err(HeaderError::Cut { within: "the field SSL" }));
    let too_long = [&v2::SIGNATURE[..], &[0x21, 0x11, 0xff, 0xff]].concat();
    assert_eq!(ProxyHeader::parse(&too_long), Err(HeaderError::TooLong { found: 65_551 }));
    // LOCAL skips everything that follows, and a UNIX client has no address here.
    assert!(matches!(header(0x20, 0xee, &[9; 5]), Ok(HeaderProgress::Complete { len: 21, .. })));
    assert_eq!(
        whole(&[&v2::SIGNATURE[..], &[0x21, 0x31, 0, 216], &[7; 216]].concat()).0,
        ProxyHeader::default()
    );
}

#[test]
fn fields_that_are_too_long_are_not_encoded() {
    let others = vec![(0xe0, vec![0; 60_000]), (0xe1, vec![0; 60_000])];
    let header = ProxyHeader { addresses: None, fields: HeaderFields { others, ..HeaderFields::default() } };
    let encoded = header.encode(HeaderVersion::V2, false, &mut Vec::new());
    assert_eq!(encoded, Err(HeaderEncodeError { found: 120_006 }));
}
