//! Tests of every command and reply in both directions: whole, truncated and random.

use super::*;

/// Returns the only frame in `bytes`.
fn only(decoder: &mut MilterDecoder, bytes: &[u8]) -> (u8, Vec<u8>) {
    decoder.push(bytes);
    let frame = decoder.next_frame().unwrap().unwrap();
    (frame.code, frame.data.to_vec())
}

fn connect(family: AddressFamily, port: u16, address: &'static [u8]) -> ConnectInfo<'static> {
    ConnectInfo { host: b"mx.example", family, port, address }
}

fn options() -> NegotiationOptions {
    let macros =
        vec![(MacroStage::Mail, b"{auth_authen} i".to_vec()), (MacroStage::EndOfHeaders, Vec::new())];
    NegotiationOptions {
        version: 6,
        actions: Actions::ALL,
        steps: Steps::SKIP | Steps::LEADING_SPACE,
        macros,
    }
}

fn commands() -> Vec<(MilterCommand<'static>, &'static [u8])> {
    let pairs = MacroPairs::new(b"i\x004XYZ\0{daemon_name}\0\0").unwrap();
    vec![
        (MilterCommand::Macros { of: code::MAIL, pairs }, b"DMi\x004XYZ\0{daemon_name}\0\0"),
        (MilterCommand::Macros { of: code::EOH, pairs: MacroPairs::default() }, b"DN"),
        (
            MilterCommand::Connect(connect(AddressFamily::Inet, 0x1234, b"192.0.2.1")),
            b"Cmx.example\x004\x12\x34192.0.2.1\0",
        ),
        (
            MilterCommand::Connect(connect(AddressFamily::Inet6, 25, b"IPv6:2001:db8::1")),
            b"Cmx.example\x006\0\x19IPv6:2001:db8::1\0",
        ),
        (MilterCommand::Connect(connect(AddressFamily::Unix, 0, b"/run/x")), b"Cmx.example\0L\0\0/run/x\0"),
        (MilterCommand::Connect(connect(AddressFamily::Unknown, 0, b"")), b"Cmx.example\0U"),
        (MilterCommand::Helo(b"mx.example"), b"Hmx.example\0"),
        (MilterCommand::Mail(EnvelopeAddress::new(b"<a@b>\0SIZE=1\0").unwrap()), b"M<a@b>\0SIZE=1\0"),
        (MilterCommand::Recipient(EnvelopeAddress::new(b"<c@d>\0").unwrap()), b"R<c@d>\0"),
        (MilterCommand::Data, b"T"),
        (MilterCommand::Header { name: b"Subject", value: b" a\n b" }, b"LSubject\0 a\n b\0"),
        (MilterCommand::Header { name: b"", value: b"" }, b"L\0\0"),
        (MilterCommand::EndOfHeaders, b"N"),
        (MilterCommand::Body(b"a\0\r\n"), b"Ba\0\r\n"),
        (MilterCommand::Body(b""), b"B"),
        (MilterCommand::EndOfMessage(b""), b"E"),
        (MilterCommand::EndOfMessage(b"x"), b"Ex"),
        (MilterCommand::Abort, b"A"),
        (MilterCommand::Quit, b"Q"),
        (MilterCommand::QuitNewConnection, b"K"),
        (MilterCommand::Unknown(b"XYZZY 1"), b"UXYZZY 1\0"),
    ]
}

fn replies() -> Vec<(FilterReply, &'static [u8])> {
    let (name, value, address) = (b"N".to_vec(), b" v".to_vec(), b"<a@b>".to_vec());
    let header = (name.clone(), value.clone());
    let change = FilterReply::Change;
    vec![
        (FilterReply::Continue, b"c"),
        (FilterReply::Accept, b"a"),
        (FilterReply::Reject, b"r"),
        (FilterReply::Tempfail, b"t"),
        (FilterReply::Discard, b"d"),
        (FilterReply::Skip, b"s"),
        (FilterReply::Progress, b"p"),
        (FilterReply::Shutdown, b"4"),
        (FilterReply::ConnectionFailure, b"f"),
        (
            FilterReply::from(&SmtpReply::new(550, Some((5, 7, 1)), "5 % off").unwrap()),
            b"y550 5.7.1 5 %% off\0",
        ),
        (change(MessageChange::AddHeader { name: header.0, value: header.1 }), b"hN\0 v\0"),
        (change(MessageChange::InsertHeader { index: 1, name: name.clone(), value }), b"i\0\0\0\x01N\0 v\0"),
        (change(MessageChange::ChangeHeader { index: 258, name, value: Vec::new() }), b"m\0\0\x01\x02N\0\0"),
        (change(MessageChange::ReplaceBody(b"a\r\n".to_vec())), b"ba\r\n"),
        (change(MessageChange::ReplaceBody(Vec::new())), b"b"),
        (change(MessageChange::AddRecipient { address: address.clone(), arguments: None }), b"+<a@b>\0"),
        (
            change(MessageChange::AddRecipient {
                address: address.clone(),
                arguments: Some(b"X=1".to_vec()),
            }),
            b"2<a@b>\0X=1\0",
        ),
        (change(MessageChange::DeleteRecipient(address.clone())), b"-<a@b>\0"),
        (change(MessageChange::ChangeFrom { address: address.clone(), arguments: None }), b"e<a@b>\0"),
        (change(MessageChange::ChangeFrom { address, arguments: Some(Vec::new()) }), b"e<a@b>\0\0"),
        (change(MessageChange::Quarantine(b"odd".to_vec())), b"qodd\0"),
    ]
}

fn framed(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

#[test]
fn encodes_and_parses_every_command() {
    let mut decoder = MilterDecoder::default();
    for (command, bytes) in commands() {
        let mut out = Vec::new();
        command.encode(&mut out).unwrap();
        assert_eq!(out, framed(bytes), "{command:?}");
        let (code, data) = only(&mut decoder, &out);
        assert_eq!(
            (MilterCommand::read(MilterFrame { code, data: &data }), code),
            (Ok(command.clone()), command.code())
        );
    }
}

#[test]
fn encodes_and_parses_every_reply() {
    let mut decoder = MilterDecoder::default();
    for (reply, bytes) in replies() {
        let mut out = Vec::new();
        reply.encode(&mut out).unwrap();
        assert_eq!(out, framed(bytes), "{reply:?}");
        let (code, data) = only(&mut decoder, &out);
        assert_eq!(FilterReply::read(MilterFrame { code, data: &data }), Ok(reply));
    }
}

#[test]
fn encodes_and_parses_a_negotiation() {
    let mut out = Vec::new();
    options().encode(&mut out).unwrap();
    let wanted = b"O\0\0\0\x06\0\0\x01\xff\0\x10\x04\0\0\0\0\x02{auth_authen} i\0\0\0\0\x06\0";
    assert_eq!(out, framed(wanted));
    let frame = MilterFrame { code: code::OPTNEG, data: &wanted[1..] };
    assert_eq!(MilterCommand::read(frame), Ok(MilterCommand::Negotiate(options())));
    assert_eq!(FilterReply::read(frame), Ok(FilterReply::Negotiate(options())));
    // An unknown stage is ignored.
    let unknown = [&wanted[1..], b"\0\0\0\x07i\0"].concat();
    assert_eq!(NegotiationOptions::read(&unknown), Ok(options()));
}

/// A truncated command is an error or a different valid command. It never panics and is never the same command.
#[test]
fn a_truncated_command_is_rejected_or_shorter() {
    for (command, bytes) in commands() {
        for end in 1..bytes.len() {
            let read = MilterCommand::read(MilterFrame { code: bytes[0], data: &bytes[1..end] });
            assert_ne!(read, Ok(command.clone()));
            let may_be_cut = matches!(command, MilterCommand::Body(_) | MilterCommand::EndOfMessage(_));
            let is_shorter_list = matches!(read, Ok(MilterCommand::Mail(_) | MilterCommand::Macros { .. }));
            let is_unknown_family = matches!(
                read,
                Ok(MilterCommand::Connect(ConnectInfo { family: AddressFamily::Unknown, .. }))
            );
            assert!(read.is_err() || may_be_cut || is_shorter_list || is_unknown_family, "{command:?} {end}");
        }
    }
}

#[test]
fn a_truncated_or_extended_reply_is_rejected_or_different() {
    for (reply, bytes) in replies() {
        for end in 1..bytes.len() {
            let read = FilterReply::read(MilterFrame { code: bytes[0], data: &bytes[1..end] });
            assert_ne!(read, Ok(reply.clone()));
        }
        let longer = [&bytes[1..], b"\0\0\0"].concat();
        let read = FilterReply::read(MilterFrame { code: bytes[0], data: &longer });
        let is_body = matches!(reply, FilterReply::Change(MessageChange::ReplaceBody(_)));
        assert!(is_body || matches!(read, Err(ProtocolError::Excess { .. })), "{reply:?}: {read:?}");
    }
}

#[test]
fn reports_the_fault_of_a_command() {
    let read = |bytes: &'static [u8]| {
        MilterCommand::read(MilterFrame { code: bytes[0], data: &bytes[1..] }).unwrap_err()
    };
    assert_eq!(read(b"Z"), ProtocolError::UnknownCode(b'Z'));
    assert_eq!(read(b"O\0\0\0\x06"), ProtocolError::Truncated { code: b'O', what: "the actions" });
    assert_eq!(read(b"Cmx"), ProtocolError::Unterminated { code: b'C', what: "the host's name" });
    assert_eq!(read(b"Cmx\x009"), ProtocolError::Family(b'9'));
    assert_eq!(read(b"Cmx\x004\0"), ProtocolError::Truncated { code: b'C', what: "the port" });
    assert_eq!(read(b"H"), ProtocolError::Truncated { code: b'H', what: "the argument" });
    assert_eq!(read(b"M<a@b>"), ProtocolError::Unterminated { code: b'M', what: "the sender" });
    assert_eq!(read(b"DMi\0"), ProtocolError::OddMacros);
    assert_eq!(read(b"DMi\0x"), ProtocolError::Unterminated { code: b'D', what: "a macro" });
    assert_eq!(read(b"LA\0"), ProtocolError::Truncated { code: b'L', what: "the header's value" });
    assert_eq!(read(b"M<a@b>").to_string(), "'M': the sender does not end with a NUL");
    assert_eq!(read(b"M").kind(), ProtocolErrorKind::Malformed);
}

#[test]
fn ignores_data_after_a_command_as_libmilter_does() {
    assert_eq!(
        MilterCommand::read(MilterFrame { code: b'H', data: b"a\0more" }),
        Ok(MilterCommand::Helo(b"a"))
    );
    assert_eq!(
        MilterCommand::read(MilterFrame { code: b'N', data: b"more" }),
        Ok(MilterCommand::EndOfHeaders)
    );
}

#[test]
fn rejects_strings_with_a_nul() {
    let mut out = vec![7];
    let nul = |what| Err(EncodeError::Nul { what });
    assert_eq!(MilterCommand::Helo(b"a\0").encode(&mut out), nul("the argument"));
    let header = MessageChange::AddHeader { name: b"A".to_vec(), value: b"\0".to_vec() };
    assert_eq!(header.encode(true, &mut out), nul("the header's value"));
    assert_eq!(out, [7]);
}

#[test]
fn finds_the_ip_address_of_a_client() {
    let ip = |family, address| connect(family, 1, address).ip().map(|ip| ip.to_string());
    assert_eq!(ip(AddressFamily::Inet, b"192.0.2.1").as_deref(), Some("192.0.2.1"));
    assert_eq!(ip(AddressFamily::Inet6, b"2001:db8::1").as_deref(), Some("2001:db8::1"));
    assert_eq!(ip(AddressFamily::Inet6, b"ipv6:2001:db8::1").as_deref(), Some("2001:db8::1"));
    for (family, address) in [
        (AddressFamily::Inet, b"unknown".as_slice()),
        (AddressFamily::Inet6, b"IPv6"),
        (AddressFamily::Inet6, b"\xff"),
        (AddressFamily::Unix, b"1.2.3.4"),
    ] {
        assert_eq!(ip(family, address), None);
    }
}

#[test]
fn splits_long_bodies_into_chunks() {
    for (len, pieces) in [(0, 1), (1, 1), (CHUNK_BYTES, 1), (CHUNK_BYTES + 1, 2), (3 * CHUNK_BYTES, 3)] {
        let mut out = Vec::new();
        MessageChange::ReplaceBody(vec![b'x'; len]).encode(true, &mut out).unwrap();
        let mut decoder = MilterDecoder::default();
        decoder.push(&out);
        let (mut found, mut total) = (0, 0);
        while let Some(frame) = decoder.next_frame().unwrap() {
            (found, total) = (found + 1, total + frame.data.len());
        }
        assert_eq!((found, total), (pieces, len));
    }
}

/// Random bytes are parsed without a panic, and a parsed frame can be encoded again.
#[test]
fn parses_or_rejects_random_bytes() {
    let mut state = 0x1234_5678_9abc_def0_u64;
    let mut chance = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let codes = b"ABCDEHKLMNOQRTUabcdefhimpqrsty+-24z";
    for _ in 0..100_000 {
        let code = codes[chance() % codes.len()];
        // These bytes are typical of strings, with a NUL now and then.
        let data: Vec<u8> = (0..chance() % 24).map(|_| b"\0\0\0a<>4LU6\xff"[chance() % 11]).collect();
        let frame = MilterFrame { code, data: &data };
        let mut out = Vec::new();
        if let Ok(command) = MilterCommand::read(frame) {
            command.encode(&mut out).unwrap();
            let (code, data) = only(&mut MilterDecoder::default(), &out);
            assert_eq!(MilterCommand::read(MilterFrame { code, data: &data }), Ok(command));
        }
        out.clear();
        if let Ok(reply) = FilterReply::read(frame) {
            reply.encode(&mut out).unwrap();
            let (code, data) = only(&mut MilterDecoder::default(), &out);
            assert_eq!(FilterReply::read(MilterFrame { code, data: &data }), Ok(reply));
        }
    }
}
