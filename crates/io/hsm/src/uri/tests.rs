use super::*;

fn parse(text: &str) -> Result<Pkcs11Uri, UriError> {
    text.parse()
}

#[test]
fn reads_the_attributes_of_path_and_query() {
    let uri = parse(concat!(
        "pkcs11:token=My%20token;serial=0f1e;manufacturer=Maker%20%26%20Co;model=v2&3;slot-id=18446744073709551615;",
        "object=mail-2026;id=%01%ff%41B;type=private?module-path=/usr/lib/p11.so&pin-source=file:/etc/pin"
    ));
    let expected = Pkcs11Uri {
        token: Some("My token".into()),
        serial: Some("0f1e".into()),
        manufacturer: Some("Maker & Co".into()),
        model: Some("v2&3".into()),
        slot_id: Some(u64::MAX),
        object: Some("mail-2026".into()),
        id: Some(vec![1, 255, b'A', b'B']),
        class: Some(UriClass::Private),
        module_path: Some("/usr/lib/p11.so".into()),
        pin_source: Some("/etc/pin".into()),
    };
    assert_eq!(uri.as_ref(), Ok(&expected));
    assert_eq!(parse("pkcs11:"), Ok(Pkcs11Uri::default()));
    assert_eq!(parse("pkcs11:?pin-source=file:///etc/pin").unwrap().pin_source.as_deref(), Some("/etc/pin"));
    let key = Pkcs11Uri { class: None, ..expected.clone() }.key_name();
    assert_eq!(key, Pkcs11Uri { module_path: None, pin_source: None, ..expected });
}

/// RFC 7512 section 3 has these examples; those with attributes that are not compared are refused by name.
#[test]
fn takes_or_refuses_the_examples_of_the_standard() {
    for good in [
        "pkcs11:",
        "pkcs11:object=my-pubkey;type=public",
        "pkcs11:token=The%20Software%20PKCS%2311%20Softtoken;manufacturer=Snake%20Oil,%20Inc.;model=1.0;\
         object=my-certificate;type=cert;id=%69%95%3E%5C%F4%BD%EC%91;serial=?pin-source=file:/etc/token_pin",
        "pkcs11:object=my-sign-key;type=private?module-path=/mnt/libmypkcs11.so.1",
    ] {
        assert!(parse(good).is_ok(), "{good}: {:?}", parse(good));
    }
    let refused = |text: &str| parse(text).unwrap_err().to_string();
    let named = refused("pkcs11:object=my-key;type=private?module-name=mypkcs11");
    assert_eq!(named, "attribute `module-name` is not supported: name the module by `module-path`");
    let vendor = refused("pkcs11:token=a?x-muppet=cookie%5Emonster!");
    assert_eq!(vendor, "unknown attribute `x-muppet`; allowed are module-path and pin-source");
    let pin = refused("pkcs11:token=a?pin-value=1234");
    assert!(pin.contains("pin-source") && !pin.contains("1234"), "{pin}");
}

#[test]
fn every_flaw_has_an_error_that_names_its_attribute() {
    use UriError::*;
    let long = format!("pkcs11:object={}", "a".repeat(MAX_URI_LEN));
    for (text, expected) in [
        (long.as_str(), TooLong { found: long.len() }),
        ("PKCS11:token=a", Scheme),
        ("oarlock:a", Scheme),
        ("pkcs11:token", NoValue),
        ("pkcs11:token=a;", NoValue),
        ("pkcs11:token=a?", NoValue),
        ("pkcs11:token=a?pin-source=/p&", NoValue),
        ("pkcs11:token=a;token=a", Twice { name: "token" }),
        ("pkcs11:?pin-source=/a&pin-source=/a", Twice { name: "pin-source" }),
        ("pkcs11:pin-source=/a", Unknown { name: "pin-source".into(), allowed: PATH_ATTRIBUTES }),
        ("pkcs11:?token=a", Unknown { name: "token".into(), allowed: QUERY_ATTRIBUTES }),
        ("pkcs11:object=", Empty { name: "object" }),
        ("pkcs11:id=", Empty { name: "id" }),
        ("pkcs11:object=a b", Character { name: "object", at: 1 }),
        ("pkcs11:object=a/b", Character { name: "object", at: 1 }),
        ("pkcs11:object=\u{e9}", Character { name: "object", at: 0 }),
        ("pkcs11:object=a%4", Percent { name: "object", at: 1 }),
        ("pkcs11:id=%+1", Percent { name: "id", at: 0 }),
        ("pkcs11:object=%ff", NotUtf8 { name: "object" }),
        ("pkcs11:object=a%00", Value { name: "object", expected: "no zero byte" }),
    ] {
        assert_eq!(parse(text), Err(expected), "{text}");
    }
    for (text, name) in [
        ("pkcs11:slot-id=-1", "slot-id"),
        ("pkcs11:slot-id=+1", "slot-id"),
        ("pkcs11:slot-id=18446744073709551616", "slot-id"),
        ("pkcs11:type=Private", "type"),
        ("pkcs11:?pin-source=%7Ccat%20/etc/pin", "pin-source"),
        ("pkcs11:?pin-source=pin", "pin-source"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(matches!(error, Value { name: found, .. } if found == name), "{text}: {error}");
    }
}

/// Any values survive writing and reading, and any text either is refused or has one canonical form.
#[test]
fn random_uris_survive_writing_and_reading() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..4_000 {
        let uri = random.uri();
        assert_eq!(parse(&uri.to_string()), Ok(uri.clone()), "{uri}");
    }
    let mut taken = 0;
    for _ in 0..20_000 {
        let mut text = random.uri().to_string().into_bytes();
        let at = random.below(text.len());
        text[at] = b"=;?&%/ a0\x7f"[random.below(10)];
        let text = String::from_utf8(text).unwrap();
        if let Ok(uri) = parse(&text) {
            taken += 1;
            assert_eq!(parse(&uri.to_string()), Ok(uri), "{text}");
        }
    }
    assert!((100..20_000).contains(&taken), "{taken} of the damaged URIs are still good");
}

/// A generator of tests: xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }

    fn text(&mut self) -> Option<String> {
        const CHARACTERS: [char; 12] =
            ['a', 'Z', '9', ' ', '%', ';', '&', '?', '/', '=', '\u{e9}', '\u{1F511}'];
        let len = self.below(8);
        (len > 0).then(|| (0..len).map(|_| CHARACTERS[self.below(CHARACTERS.len())]).collect())
    }

    fn uri(&mut self) -> Pkcs11Uri {
        let id: Vec<u8> = (0..self.below(5)).map(|_| self.below(256) as u8).collect();
        let classes =
            [UriClass::Public, UriClass::Private, UriClass::Cert, UriClass::SecretKey, UriClass::Data];
        Pkcs11Uri {
            token: self.text(),
            serial: self.text(),
            manufacturer: self.text(),
            model: self.text(),
            slot_id: self.text().map(|text| text.len() as u64),
            object: self.text(),
            id: Some(id).filter(|id| !id.is_empty()),
            class: classes.get(self.below(7)).copied(),
            module_path: self.text().map(|path| format!("/{path}")),
            pin_source: self.text().map(|path| format!("/a{path}")),
        }
    }
}
