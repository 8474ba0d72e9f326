//! Bad input: every record here is refused, with an error that names the fault, and nothing panics.

use oarlock::{BlockCipher, ChainOrder, CipherMode, Direction, MacAlg, Shape};
use oarlock_sockets::{
    Content, ExposedKeys, Keys, Opened, Opener, OpeningError, Protocol, RecordChoices, Sealer, SealingError,
    Suite,
};

use crate::common::{self, accelerator, bytes, data_of, keys, open, opener, seal, sealer};

fn tls_suites() -> impl Iterator<Item = Suite> {
    Suite::ALL.into_iter().filter(|suite| suite.protocol() != Protocol::Ssh)
}

fn ssh_suites() -> impl Iterator<Item = Suite> {
    Suite::ALL.into_iter().filter(|suite| suite.protocol() == Protocol::Ssh)
}

fn header(content_type: u8, len: usize) -> Vec<u8> {
    vec![content_type, 3, 3, (len >> 8) as u8, len as u8]
}

fn refuse(suite: Suite, wire: &[u8]) -> OpeningError {
    opener(suite, 1).next(&mut wire.to_vec()).unwrap_err()
}

#[test]
fn lengths_beyond_the_limits_of_tls_are_refused_by_the_header_alone() {
    for suite in tls_suites() {
        let max = (1 << 14) + if suite.protocol() == Protocol::Tls13 { 256 } else { 2048 };
        for found in [0, 1, max + 1, 65_535] {
            let error = refuse(suite, &header(23, found));
            assert!(
                matches!(error, OpeningError::RecordLength { found: expected, .. } if expected == found),
                "{suite}: {error}"
            );
        }
        let mut at_limit = header(23, max);
        let wanted = opener(suite, 1).next(&mut at_limit);
        // The limit is not a whole number of blocks for every suite.
        assert!(
            matches!(wanted, Ok(Opened::NeedMore(_)) | Err(OpeningError::NotWholeBlocks { .. })),
            "{suite}"
        );
    }
}

#[test]
fn bytes_of_a_foreign_protocol_are_refused_at_the_first_difference() {
    for suite in tls_suites() {
        assert!(
            matches!(refuse(suite, b"G"), OpeningError::UnexpectedContent { found: b'G', .. }),
            "{suite}"
        );
        assert_eq!(refuse(suite, &[23, 2]), OpeningError::WrongVersion { major: 2, minor: 3 }, "{suite}");
        for content_type in [0, 20, 24, 255] {
            assert!(
                matches!(refuse(suite, &[content_type]), OpeningError::UnexpectedContent { .. }),
                "{suite}"
            );
        }
        let minor = opener(suite, 1).next(&mut [23, 3, 1]).map(|_| ());
        assert_eq!(
            minor.is_ok(),
            suite.protocol() == Protocol::Tls13,
            "RFC 8446 5.2 ignores the version: {suite}"
        );
    }
    let suite = Suite::TLS13_AES_128_GCM;
    assert_eq!(refuse(suite, &[22]), OpeningError::UnexpectedContent { suite, found: 22 });
}

/// Seals the inner plaintext of TLS 1.3 as it is, by an engine.
fn tls13_record(suite: Suite, inner: &[u8]) -> Vec<u8> {
    let mut aad = header(23, inner.len() + 16);
    let keys = keys(suite, 1);
    let iv = keys.expose().iv.to_vec();
    let shape = suite.shape(Direction::Encrypt);
    let sealed = compute(shape, keys.expose().key, &[], &iv, &aad, inner, inner.len(), 16);
    aad.extend(sealed);
    aad
}

/// Computes one record with an engine, and returns its output and tag.
#[allow(clippy::too_many_arguments)]
fn compute(
    shape: Shape,
    key: &[u8],
    mac_key: &[u8],
    iv: &[u8],
    aad: &[u8],
    input: &[u8],
    output_len: usize,
    tag_len: usize,
) -> Vec<u8> {
    use oarlock::{Column, InputSource, KeySource, OutputSink, Records, Span};
    let secret = |bytes: &[u8]| oarlock::keys::raw::secret(bytes).unwrap();
    let second = if mac_key.is_empty() { key } else { mac_key };
    let data = [iv, aad, input].concat();
    let span = |start, len| Span::new(start, len).unwrap();
    let records = Records {
        len: 1,
        keys: vec![secret(key), secret(second)].into(),
        data: data.into(),
        output_len: output_len + tag_len,
        second_key: Column::One(KeySource::Table(1)),
        iv: Column::One(span(0, iv.len())),
        aad: Column::One(span(iv.len(), aad.len())),
        input: Column::One(InputSource::Data(span(iv.len() + aad.len(), input.len()))),
        output: Column::One(OutputSink::Output(span(0, output_len))),
        tag: Column::One(span(output_len, tag_len)),
        ..Records::default()
    };
    let outcomes = accelerator().records().run(shape, &records).unwrap();
    assert_eq!(outcomes.statuses(), [oarlock::Status::Done]);
    outcomes.bytes().to_vec()
}

#[test]
fn wrong_inner_plaintexts_of_tls_1_3_are_refused() {
    for suite in tls_suites().filter(|suite| suite.protocol() == Protocol::Tls13) {
        assert_eq!(refuse(suite, &tls13_record(suite, &[0])), OpeningError::NoContentType);
        assert_eq!(refuse(suite, &tls13_record(suite, &[0; 300])), OpeningError::NoContentType);
        for found in [1, 20, 24, 255] {
            let error = refuse(suite, &tls13_record(suite, &[7, found, 0]));
            assert_eq!(error, OpeningError::UnexpectedContent { suite, found });
        }
        for content in [Content::Alert, Content::Handshake] {
            let content_type = if content == Content::Alert { 21 } else { 22 };
            assert_eq!(
                refuse(suite, &tls13_record(suite, &[content_type])),
                OpeningError::EmptyContent { content }
            );
        }
        let mut long = vec![1; (1 << 14) + 1];
        long.push(23);
        let error = refuse(suite, &tls13_record(suite, &long));
        assert_eq!(error, OpeningError::ContentTooLong { max: 1 << 14, found: (1 << 14) + 1 });
        let record = tls13_record(suite, &[1, 2, 23, 0, 0]);
        assert_eq!(open(&mut opener(suite, 1), &record), (Content::ApplicationData, vec![1, 2]));
    }
}

#[test]
fn a_flip_of_any_byte_is_refused_and_ends_the_connection() {
    for suite in Suite::ALL {
        let wire = seal(&mut sealer(suite, 1), &bytes(1, 33));
        for position in 0..wire.len() {
            for bit in [1, 0x80] {
                let mut damaged = wire.clone();
                damaged[position] ^= bit;
                let mut opener = opener(suite, 1);
                match opener.next(&mut damaged) {
                    Err(error) => assert_eq!(error.blame(), oarlock::Blame::Peer, "{suite}, byte {position}"),
                    // A longer record is waited for, and refused when it is there.
                    Ok(Opened::NeedMore(missing)) => {
                        damaged.resize(damaged.len() + missing, 0);
                        let error = opener.next(&mut damaged).unwrap_err();
                        assert_eq!(error, OpeningError::Rejected, "{suite}, byte {position}");
                    }
                    Ok(opened) => panic!("{suite}, byte {position}: {opened:?}"),
                }
                let later = opener.next(&mut wire.clone()).map(|_| ());
                assert_eq!(later.unwrap_err(), OpeningError::AfterEnd, "{suite}");
            }
        }
    }
}

#[test]
fn repeated_lost_and_swapped_records_are_refused() {
    for suite in Suite::ALL {
        let mut sealer = sealer(suite, 1);
        let wires = [seal(&mut sealer, b"first"), seal(&mut sealer, b"other")];
        let mut opener = opener(suite, 1);
        open(&mut opener, &wires[0]);
        let again = next_error(&mut opener, &wires[0]);
        assert_eq!(again, OpeningError::Rejected, "{suite}");
        assert_eq!(next_error(&mut common::opener(suite, 1), &wires[1]), OpeningError::Rejected, "{suite}");
    }
}

/// Feeds zeros behind a record until the opener answers.
fn next_error(opener: &mut Opener, wire: &[u8]) -> OpeningError {
    let mut wire = wire.to_vec();
    loop {
        match opener.next(&mut wire) {
            Ok(Opened::NeedMore(missing)) => wire.resize(wire.len() + missing, 0),
            Ok(opened) => panic!("{opened:?}"),
            Err(error) => return error,
        }
    }
}

#[test]
fn a_record_of_another_type_does_not_verify() {
    for suite in tls_suites().filter(|suite| suite.protocol() == Protocol::Tls12) {
        let mut wire = seal(&mut sealer(suite, 1), b"payload");
        wire[0] = 22;
        assert_eq!(refuse(suite, &wire), OpeningError::Rejected, "{suite}");
    }
}

#[test]
fn empty_records_are_refused_after_thirty_one_in_a_row() {
    for suite in tls_suites() {
        let (mut sealer, mut opener) = (sealer(suite, 1), opener(suite, 1));
        for _ in 0..2 {
            for _ in 0..31 {
                open(&mut opener, &seal(&mut sealer, b""));
            }
            open(&mut opener, &seal(&mut sealer, b"x"));
        }
        for _ in 0..31 {
            open(&mut opener, &seal(&mut sealer, b""));
        }
        let error = opener.next(&mut seal(&mut sealer, b"")).unwrap_err();
        assert_eq!(error, OpeningError::TooManyInARow { what: "empty records", found: 32 }, "{suite}");
    }
}

#[test]
fn key_update_storms_are_refused() {
    let suite = Suite::TLS13_AES_128_GCM;
    let (mut sealer, mut opener) = (sealer(suite, 1), opener(suite, 1));
    let mut update = |sealer: &mut Sealer| {
        let mut wire = Vec::new();
        sealer.update_keys(true, &mut wire).unwrap();
        opener.next(&mut wire).map(|_| ())
    };
    for _ in 0..31 {
        update(&mut sealer).unwrap();
    }
    let storm = OpeningError::TooManyInARow { what: "KeyUpdates", found: 32 };
    assert_eq!(update(&mut sealer), Err(storm));
}

#[test]
fn a_key_update_without_a_traffic_secret_is_the_callers_fault() {
    let suite = Suite::TLS13_AES_128_GCM;
    let mut wire = Vec::new();
    sealer(suite, 1).update_keys(false, &mut wire).unwrap();
    let keys = keys(suite, 1);
    let mut opener = Opener::new(accelerator(), Keys::new(suite, &keys.expose()).unwrap()).unwrap();
    let error = opener.next(&mut wire).unwrap_err();
    assert_eq!((error.blame(), error.alert()), (oarlock::Blame::Caller, None), "{error}");
}

#[test]
fn warning_alerts_are_limited_and_nothing_follows_a_close() {
    let suite = Suite::TLS12_AES_128_CBC_SHA256;
    let (mut sealer, mut opener) = (sealer(suite, 1), opener(suite, 1));
    let mut alert = |opener: &mut Opener, alert: [u8; 2]| {
        let mut wire = Vec::new();
        sealer.seal(Content::Alert, &[&alert], &mut wire).unwrap();
        opener.next(&mut wire).map(|_| ())
    };
    for _ in 0..4 {
        alert(&mut opener, [1, 100]).unwrap();
    }
    assert!(matches!(
        alert(&mut opener, [1, 100]),
        Err(OpeningError::TooManyInARow { what: "warning alerts", .. })
    ));

    let (mut sealer, mut opener) = (common::sealer(suite, 2), common::opener(suite, 2));
    let mut wire = Vec::new();
    sealer.seal(Content::Alert, &[&[1, 0]], &mut wire).unwrap();
    assert!(matches!(opener.next(&mut wire), Ok(Opened::Record(_))));
    assert!(opener.is_closed());
    assert_eq!(opener.next(&mut seal(&mut sealer, b"late")).unwrap_err(), OpeningError::AfterEnd);
}

#[test]
fn keys_end_at_their_limits() {
    const LIMIT: u64 = 23_726_566;
    for suite in [Suite::TLS13_AES_128_GCM, Suite::TLS12_AES_256_GCM] {
        let mut sealer = Sealer::new(accelerator(), keys(suite, 1).with_sequence(LIMIT - 1)).unwrap();
        let mut opener = Opener::new(accelerator(), keys(suite, 1).with_sequence(LIMIT - 1)).unwrap();
        assert!(sealer.is_rekey_due());
        open(&mut opener, &seal(&mut sealer, b"last"));
        let mut out = b"as before".to_vec();
        let error = sealer.seal(Content::ApplicationData, &[b"more"], &mut out).unwrap_err();
        assert_eq!(error, SealingError::KeysUsedUp { suite, limit: "2^24.5 records" });
        assert_eq!(out, b"as before");
        assert!(!common::sealer(suite, 1).is_rekey_due());
    }
    for suite in
        [Suite::TLS13_CHACHA20_POLY1305, Suite::TLS12_CHACHA20_POLY1305, Suite::TLS12_AES_128_CBC_SHA]
    {
        let mut sealer = Sealer::new(accelerator(), keys(suite, 1).with_sequence(u64::MAX - 1)).unwrap();
        let mut opener = Opener::new(accelerator(), keys(suite, 1).with_sequence(u64::MAX - 1)).unwrap();
        let last = seal(&mut sealer, b"last");
        let error = sealer.seal(Content::ApplicationData, &[b"more"], &mut Vec::new()).unwrap_err();
        assert!(matches!(error, SealingError::KeysUsedUp { .. }), "{suite}");
        open(&mut opener, &last);
        assert!(matches!(opener.next(&mut last.clone()), Err(OpeningError::KeysUsedUp { .. })), "{suite}");
    }
}

#[test]
fn a_key_update_frees_a_used_up_key_only_before_its_end() {
    let suite = Suite::TLS13_AES_128_GCM;
    let mut sealer = Sealer::new(accelerator(), keys(suite, 1).with_sequence(23_726_565)).unwrap();
    sealer.update_keys(false, &mut Vec::new()).unwrap();
    assert!(!sealer.is_rekey_due());
    seal(&mut sealer, b"under the next keys");
}

/// One gigabyte of records under triple DES takes minutes in a debug build; the limit itself is tested in `limits`.
#[test]
fn ssh_sequence_numbers_pass_their_32_bits_under_a_fresh_key() {
    for suite in ssh_suites() {
        let start = u64::from(u32::MAX);
        let mut sealer = Sealer::new(accelerator(), keys(suite, 1).with_sequence(start)).unwrap();
        let mut opener = Opener::new(accelerator(), keys(suite, 1).with_sequence(start)).unwrap();
        for payload in [b"last".as_slice(), b"first"] {
            assert_eq!(open(&mut opener, &seal(&mut sealer, payload)).1, payload, "{suite}");
        }
    }
}

#[test]
fn contents_and_lengths_that_cannot_be_sealed_are_refused() {
    for suite in Suite::ALL {
        let mut sealer = sealer(suite, 1);
        let mut out = Vec::new();
        let is_ssh = suite.protocol() == Protocol::Ssh;
        let wrong = if is_ssh { Content::ApplicationData } else { Content::Packet };
        assert!(
            matches!(sealer.seal(wrong, &[b"x"], &mut out), Err(SealingError::NoSuchContent { .. })),
            "{suite}"
        );
        let empty = if is_ssh { Content::Packet } else { Content::Handshake };
        assert!(
            matches!(sealer.seal(empty, &[b""], &mut out), Err(SealingError::NoSuchContent { .. })),
            "{suite}"
        );
        let long = vec![0; if is_ssh { 35_000 } else { 16_385 }];
        let error = sealer.seal(data_of(suite), &[&long], &mut out).unwrap_err();
        assert!(matches!(error, SealingError::TooLong { found, .. } if found == long.len()), "{suite}");
        assert_eq!(error.blame(), oarlock::Blame::Caller);
        assert_eq!((out.len(), sealer.sequence()), (0, 0), "{suite}: nothing was sealed");
        let choices = RecordChoices { explicit_iv: Some(&[0; 3]), padding: Some(&[0; 3]), zeros: 0 };
        let error = sealer.seal_with(data_of(suite), &[b"x"], &choices, &mut out).unwrap_err();
        assert!(matches!(error, SealingError::BadChoice { found: 3, .. }), "{suite}: {error}");
    }
}

/// A record of TLS 1.2 whose plaintext, MAC and padding are given, encrypted in CBC mode.
fn cbc_record(plaintext: &[u8]) -> Vec<u8> {
    let keys = keys(Suite::TLS12_AES_128_CBC_SHA, 1);
    let shape =
        Shape::Cipher { alg: BlockCipher::Aes128, mode: CipherMode::Cbc, direction: Direction::Encrypt };
    let iv = bytes(4, 16);
    let body = compute(shape, keys.expose().key, &[], &iv, &[], plaintext, plaintext.len(), 0);
    let mut wire = header(23, 16 + body.len());
    wire.extend(iv);
    wire.extend(body);
    wire
}

fn hmac_sha1(key: &[u8], message: &[u8]) -> Vec<u8> {
    compute(Shape::Mac { alg: MacAlg::HmacSha1 }, key, &[], &[], &[], message, 20, 0)
}

#[test]
fn padding_of_every_length_is_taken_and_every_wrong_byte_refused() {
    let suite = Suite::TLS12_AES_128_CBC_SHA;
    let mac_key = keys(suite, 1).expose().mac_key.to_vec();
    for last in 0..=255_usize {
        // The shortest fragment with which this padding fills the last block.
        let payload = bytes(last as u64, (16 - (20 + last + 1) % 16) % 16);
        let mut covered = vec![0; 8];
        covered.extend([23, 3, 3, 0, payload.len() as u8]);
        covered.extend(&payload);
        let plaintext = [payload.clone(), hmac_sha1(&mac_key, &covered), vec![last as u8; last + 1]].concat();
        assert_eq!(open(&mut opener(suite, 1), &cbc_record(&plaintext)).1, payload, "padding {last}");

        let padding_start = plaintext.len() - last - 1;
        for position in [padding_start, padding_start + last / 2, plaintext.len() - 1] {
            let mut damaged = plaintext.clone();
            damaged[position] = damaged[position].wrapping_add(1);
            assert_eq!(
                refuse(suite, &cbc_record(&damaged)),
                OpeningError::Rejected,
                "padding {last}, byte {position}"
            );
        }
    }
}

#[test]
fn every_last_byte_but_the_right_one_is_refused() {
    let suite = Suite::TLS12_AES_128_CBC_SHA;
    let mac_key = keys(suite, 1).expose().mac_key.to_vec();
    let payload = bytes(1, 300);
    let mut covered = vec![0; 8];
    covered.extend([23, 3, 3, 1, 44]);
    covered.extend(&payload);
    let plaintext = [payload, hmac_sha1(&mac_key, &covered), vec![15; 16]].concat();
    for last in 0..=255 {
        let mut damaged = plaintext.clone();
        *damaged.last_mut().unwrap() = last;
        let is_right = last == 15;
        assert_eq!(opener(suite, 1).next(&mut cbc_record(&damaged)).is_ok(), is_right, "last byte {last}");
    }
}

#[test]
fn confirmed_padding_of_encrypt_then_mac_is_checked_too() {
    let suite = Suite::TLS12_AES_128_CBC_SHA_ETM;
    let keys = keys(suite, 1);
    let record = |plaintext: &[u8]| {
        let iv = bytes(4, 16);
        let mut aad = vec![0; 8];
        aad.extend([23, 3, 3, 0, (16 + plaintext.len()) as u8]);
        aad.extend(&iv);
        let material = keys.expose();
        let shape = suite.shape(Direction::Encrypt);
        let sealed =
            compute(shape, material.key, material.mac_key, &iv, &aad, plaintext, plaintext.len(), 20);
        [header(23, 16 + sealed.len()), iv, sealed].concat()
    };
    assert_eq!(open(&mut opener(suite, 1), &record(&[15; 16])).1, b"");
    assert_eq!(refuse(suite, &record(&[16; 16])), OpeningError::BadPadding { found: 17 });
    let mut damaged = [3; 16];
    damaged[13] = 2;
    assert_eq!(refuse(suite, &record(&damaged)), OpeningError::BadPadding { found: 4 });
}

#[test]
fn bodies_of_cbc_that_are_not_whole_blocks_are_refused() {
    for suite in tls_suites().filter(|suite| suite.mac_key_len() > 0) {
        let len = seal(&mut sealer(suite, 1), &[0; 100]).len() - 5;
        for found in len - 7..len {
            assert!(
                matches!(refuse(suite, &header(23, found)), OpeningError::NotWholeBlocks { .. }),
                "{suite}"
            );
        }
    }
}

/// The first bytes of a packet whose length is `length`, as the peer would send them.
fn packet_start(suite: Suite, length: u32) -> Vec<u8> {
    let keys = keys(suite, 1);
    let material = keys.expose();
    let mut start = length.to_be_bytes().to_vec();
    let (alg, mode) = match suite.shape(Direction::Encrypt) {
        Shape::Chain { order: ChainOrder::EncryptThenMac, .. } => return start,
        Shape::Chain { cipher, .. } => (cipher.alg, cipher.mode),
        shape if suite == Suite::SSH_CHACHA20_POLY1305 => {
            return compute(shape, material.key, &[], &[0; 8], &[], &start, 4, 16)[..4].to_vec();
        }
        _ => return start,
    };
    start.resize(alg.block_len(), 0);
    let shape = Shape::Cipher { alg, mode, direction: Direction::Encrypt };
    compute(shape, material.key, &[], material.iv, &[], &start, start.len(), 0)
}

#[test]
fn a_bad_encrypted_length_is_answered_late_and_a_clear_one_at_once() {
    for suite in ssh_suites() {
        let is_clear = packet_start(suite, 64)[..4] == [0, 0, 0, 64];
        for length in [0, 1, 4, 35_001, 1 << 20, u32::MAX, 65] {
            let start = packet_start(suite, length);
            if is_clear {
                let error = refuse(suite, &start);
                let expected = |error: &OpeningError| match error {
                    OpeningError::RecordLength { found, .. } | OpeningError::NotWholeBlocks { found, .. } => {
                        *found == length as usize
                    }
                    _ => false,
                };
                assert!(expected(&error), "{suite}, length {length}: {error}");
                continue;
            }
            // The answer comes with the 35,000th byte, for every length.
            let mut opener = opener(suite, 1);
            let mut wire = start.clone();
            assert_eq!(opener.next(&mut wire).unwrap(), Opened::NeedMore(35_000 - start.len()), "{suite}");
            wire.resize(34_999, 0);
            assert_eq!(opener.next(&mut wire).unwrap(), Opened::NeedMore(1), "{suite}");
            wire.push(0);
            assert_eq!(
                opener.next(&mut wire).unwrap_err(),
                OpeningError::Rejected,
                "{suite}, length {length}"
            );
        }
        let mut wire = packet_start(suite, if suite == Suite::SSH_3DES_CBC_SHA1 { 60 } else { 64 });
        if !is_clear && suite.mac_key_len() > 0 && suite != Suite::SSH_3DES_CBC_SHA1 {
            wire = packet_start(suite, 60);
        }
        assert!(
            matches!(opener(suite, 1).next(&mut wire), Ok(Opened::NeedMore(missing)) if missing < 200),
            "{suite}"
        );
    }
}

#[test]
fn packets_with_bad_padding_or_no_payload_are_refused_behind_their_mac() {
    let suite = Suite::SSH_AES_128_GCM;
    let keys = keys(suite, 1);
    let packet = |plaintext: &[u8; 32]| {
        let aad = 32_u32.to_be_bytes();
        let material = keys.expose();
        let shape = suite.shape(Direction::Encrypt);
        let sealed = compute(shape, material.key, &[], material.iv, &aad, plaintext, 32, 16);
        [&aad[..], &sealed].concat()
    };
    for found in [0, 3, 32, 255] {
        let mut plaintext = [0; 32];
        plaintext[0] = found;
        assert_eq!(
            refuse(suite, &packet(&plaintext)),
            OpeningError::BadPadding { found: usize::from(found) }
        );
    }
    let mut plaintext = [0; 32];
    plaintext[0] = 31;
    assert_eq!(refuse(suite, &packet(&plaintext)), OpeningError::EmptyContent { content: Content::Packet });
    plaintext[0] = 30;
    assert_eq!(open(&mut opener(suite, 1), &packet(&plaintext)).1, [0]);
}

#[test]
fn noise_never_panics_and_never_opens() {
    for suite in Suite::ALL {
        for seed in 0..200 {
            let mut wire = bytes(seed, (seed as usize * 7) % 300);
            if suite.protocol() != Protocol::Ssh && wire.len() > 5 {
                let len = wire.len() - 5;
                wire[..5].copy_from_slice(&header(23, len));
            }
            let opened = opener(suite, 1).next(&mut wire).map(|opened| format!("{opened:?}"));
            assert!(!matches!(&opened, Ok(text) if text.starts_with("Record")), "{suite}: {opened:?}");
        }
    }
}

#[test]
fn keys_and_errors_print_no_secret() {
    let suite = Suite::TLS12_AES_128_CBC_SHA;
    let secret = [0x5A; 20];
    let material = ExposedKeys { key: &secret[..16], mac_key: &secret, iv: &[], sequence: 0 };
    let keys = Keys::new(suite, &material).unwrap();
    let sealer = Sealer::new(accelerator(), keys.clone()).unwrap();
    let opener = Opener::new(accelerator(), keys.clone()).unwrap();
    let printed = format!("{keys:?} {sealer:?} {opener:?} {material:?}");
    assert!(!printed.contains("90") && !printed.to_lowercase().contains("5a"), "{printed}");
}
