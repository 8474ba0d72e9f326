//! Every command and reply both ways, whole, cut and of chance.

use super::*;

/// The only frame in `bytes`.
fn only(decoder: &mut Decoder, bytes: &[u8]) -> (u8, Vec<u8>) {
    decoder.push(bytes);
    let frame = decoder.next_frame().unwrap().unwrap();
    (frame.code, frame.data.to_vec())
}

fn connect(family: Family, port: u16, address: &'static [u8]) -> Connect<'static> {
    Connect { host: b"mx.example", family, port, address }
}

fn options() -> Options {
    let macros =
        vec![(MacroStage::Mail, b"{auth_authen} i".to_vec()), (MacroStage::EndOfHeaders, Vec::new())];
    Options { version: 6, actions: Actions::ALL, steps: Steps::SKIP | Steps::LEADING_SPACE, macros }
}

fn commands() -> Vec<(Command<'static>, &'static [u8])> {
    let pairs = Pairs::new(b"i\x004XYZ\0{daemon_name}\0\0").unwrap();
    vec![
        (Command::Macros { of: code::MAIL, pairs }, b"DMi\x004XYZ\0{daemon_name}\0\0"),
        (Command::Macros { of: code::EOH, pairs: Pairs::default() }, b"DN"),
        (
            Command::Connect(connect(Family::Inet, 0x1234, b"192.0.2.1")),
            b"Cmx.example\x004\x12\x34192.0.2.1\0",
        ),
        (
            Command::Connect(connect(Family::Inet6, 25, b"IPv6:2001:db8::1")),
            b"Cmx.example\x006\0\x19IPv6:2001:db8::1\0",
        ),
        (Command::Connect(connect(Family::Unix, 0, b"/run/x")), b"Cmx.example\0L\0\0/run/x\0"),
        (Command::Connect(connect(Family::Unknown, 0, b"")), b"Cmx.example\0U"),
        (Command::Helo(b"mx.example"), b"Hmx.example\0"),
        (Command::Mail(Envelope::new(b"<a@b>\0SIZE=1\0").unwrap()), b"M<a@b>\0SIZE=1\0"),
        (Command::Recipient(Envelope::new(b"<c@d>\0").unwrap()), b"R<c@d>\0"),
        (Command::Data, b"T"),
        (Command::Header { name: b"Subject", value: b" a\n b" }, b"LSubject\0 a\n b\0"),
        (Command::Header { name: b"", value: b"" }, b"L\0\0"),
        (Command::EndOfHeaders, b"N"),
        (Command::Body(b"a\0\r\n"), b"Ba\0\r\n"),
        (Command::Body(b""), b"B"),
        (Command::EndOfMessage(b""), b"E"),
        (Command::EndOfMessage(b"x"), b"Ex"),
        (Command::Abort, b"A"),
        (Command::Quit, b"Q"),
        (Command::QuitNewConnection, b"K"),
        (Command::Unknown(b"XYZZY 1"), b"UXYZZY 1\0"),
    ]
}

fn replies() -> Vec<(Reply, &'static [u8])> {
    let (name, value, address) = (b"N".to_vec(), b" v".to_vec(), b"<a@b>".to_vec());
    let header = (name.clone(), value.clone());
    let change = Reply::Change;
    vec![
        (Reply::Continue, b"c"),
        (Reply::Accept, b"a"),
        (Reply::Reject, b"r"),
        (Reply::Tempfail, b"t"),
        (Reply::Discard, b"d"),
        (Reply::Skip, b"s"),
        (Reply::Progress, b"p"),
        (Reply::Shutdown, b"4"),
        (Reply::ConnectionFailure, b"f"),
        (Reply::from(&SmtpReply::new(550, Some((5, 7, 1)), "5 % off").unwrap()), b"y550 5.7.1 5 %% off\0"),
        (change(Change::AddHeader { name: header.0, value: header.1 }), b"hN\0 v\0"),
        (change(Change::InsertHeader { index: 1, name: name.clone(), value }), b"i\0\0\0\x01N\0 v\0"),
        (change(Change::ChangeHeader { index: 258, name, value: Vec::new() }), b"m\0\0\x01\x02N\0\0"),
        (change(Change::ReplaceBody(b"a\r\n".to_vec())), b"ba\r\n"),
        (change(Change::ReplaceBody(Vec::new())), b"b"),
        (change(Change::AddRecipient { address: address.clone(), arguments: None }), b"+<a@b>\0"),
        (
            change(Change::AddRecipient { address: address.clone(), arguments: Some(b"X=1".to_vec()) }),
            b"2<a@b>\0X=1\0",
        ),
        (change(Change::DeleteRecipient(address.clone())), b"-<a@b>\0"),
        (change(Change::ChangeFrom { address: address.clone(), arguments: None }), b"e<a@b>\0"),
        (change(Change::ChangeFrom { address, arguments: Some(Vec::new()) }), b"e<a@b>\0\0"),
        (change(Change::Quarantine(b"odd".to_vec())), b"qodd\0"),
    ]
}

fn framed(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

#[test]
fn commands_are_the_same_both_ways() {
    let mut decoder = Decoder::default();
    for (command, bytes) in commands() {
        let mut out = Vec::new();
        command.encode(&mut out).unwrap();
        assert_eq!(out, framed(bytes), "{command:?}");
        let (code, data) = only(&mut decoder, &out);
        assert_eq!((Command::read(Frame { code, data: &data }), code), (Ok(command.clone()), command.code()));
    }
}

#[test]
fn replies_are_the_same_both_ways() {
    let mut decoder = Decoder::default();
    for (reply, bytes) in replies() {
        let mut out = Vec::new();
        reply.encode(&mut out).unwrap();
        assert_eq!(out, framed(bytes), "{reply:?}");
        let (code, data) = only(&mut decoder, &out);
        assert_eq!(Reply::read(Frame { code, data: &data }), Ok(reply));
    }
}

#[test]
fn negotiations_are_the_same_both_ways() {
    let mut out = Vec::new();
    options().encode(&mut out).unwrap();
    let wanted = b"O\0\0\0\x06\0\0\x01\xff\0\x10\x04\0\0\0\0\x02{auth_authen} i\0\0\0\0\x06\0";
    assert_eq!(out, framed(wanted));
    let frame = Frame { code: code::OPTNEG, data: &wanted[1..] };
    assert_eq!(Command::read(frame), Ok(Command::Negotiate(options())));
    assert_eq!(Reply::read(frame), Ok(Reply::Negotiate(options())));
    // A stage that nobody knows is left out.
    let unknown = [&wanted[1..], b"\0\0\0\x07i\0"].concat();
    assert_eq!(Options::read(&unknown), Ok(options()));
}

/// What is left of a frame is an error, or another good one: never a panic, and never the same.
#[test]
fn commands_cut_anywhere_are_refused_or_shorter() {
    for (command, bytes) in commands() {
        for end in 1..bytes.len() {
            let read = Command::read(Frame { code: bytes[0], data: &bytes[1..end] });
            assert_ne!(read, Ok(command.clone()));
            let may_be_cut = matches!(command, Command::Body(_) | Command::EndOfMessage(_));
            let is_shorter_list = matches!(read, Ok(Command::Mail(_) | Command::Macros { .. }));
            let is_unknown_family =
                matches!(read, Ok(Command::Connect(Connect { family: Family::Unknown, .. })));
            assert!(read.is_err() || may_be_cut || is_shorter_list || is_unknown_family, "{command:?} {end}");
        }
    }
}

#[test]
fn replies_cut_or_lengthened_anywhere_are_refused_or_others() {
    for (reply, bytes) in replies() {
        for end in 1..bytes.len() {
            let read = Reply::read(Frame { code: bytes[0], data: &bytes[1..end] });
            assert_ne!(read, Ok(reply.clone()));
        }
        let longer = [&bytes[1..], b"\0\0\0"].concat();
        let read = Reply::read(Frame { code: bytes[0], data: &longer });
        let is_body = matches!(reply, Reply::Change(Change::ReplaceBody(_)));
        assert!(is_body || matches!(read, Err(ProtocolError::Excess { .. })), "{reply:?}: {read:?}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let read = |bytes: &'static [u8]| Command::read(Frame { code: bytes[0], data: &bytes[1..] }).unwrap_err();
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
    assert_eq!(read(b"M").kind(), ErrorKind::Malformed);
}

#[test]
fn commands_may_go_on_as_libmilter_lets_them() {
    assert_eq!(Command::read(Frame { code: b'H', data: b"a\0more" }), Ok(Command::Helo(b"a")));
    assert_eq!(Command::read(Frame { code: b'N', data: b"more" }), Ok(Command::EndOfHeaders));
}

#[test]
fn strings_with_a_nul_are_not_sent() {
    let mut out = vec![7];
    let nul = |what| Err(EncodeError::Nul { what });
    assert_eq!(Command::Helo(b"a\0").encode(&mut out), nul("the argument"));
    let header = Change::AddHeader { name: b"A".to_vec(), value: b"\0".to_vec() };
    assert_eq!(header.encode(true, &mut out), nul("the header's value"));
    assert_eq!(out, [7]);
}

#[test]
fn addresses_are_found() {
    let ip = |family, address| connect(family, 1, address).ip().map(|ip| ip.to_string());
    assert_eq!(ip(Family::Inet, b"192.0.2.1").as_deref(), Some("192.0.2.1"));
    assert_eq!(ip(Family::Inet6, b"2001:db8::1").as_deref(), Some("2001:db8::1"));
    assert_eq!(ip(Family::Inet6, b"ipv6:2001:db8::1").as_deref(), Some("2001:db8::1"));
    for (family, address) in [
        (Family::Inet, b"unknown".as_slice()),
        (Family::Inet6, b"IPv6"),
        (Family::Inet6, b"\xff"),
        (Family::Unix, b"1.2.3.4"),
    ] {
        assert_eq!(ip(family, address), None);
    }
}

#[test]
fn long_bodies_are_sent_in_pieces() {
    for (len, pieces) in [(0, 1), (1, 1), (CHUNK_BYTES, 1), (CHUNK_BYTES + 1, 2), (3 * CHUNK_BYTES, 3)] {
        let mut out = Vec::new();
        Change::ReplaceBody(vec![b'x'; len]).encode(true, &mut out).unwrap();
        let mut decoder = Decoder::default();
        decoder.push(&out);
        let (mut found, mut total) = (0, 0);
        while let Some(frame) = decoder.next_frame().unwrap() {
            (found, total) = (found + 1, total + frame.data.len());
        }
        assert_eq!((found, total), (pieces, len));
    }
}

/// Bytes of chance are read without a panic, and what is understood can be said again.
#[test]
fn bytes_of_chance_are_read_or_refused() {
    let mut state = 0x1234_5678_9abc_def0_u64;
    let mut chance = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let codes = b"ABCDEHKLMNOQRTUabcdefhimpqrsty+-24z";
    for _ in 0..100_000 {
        let code = codes[chance() % codes.len()];
        // Mostly what strings are made of, with a NUL now and then.
        let data: Vec<u8> = (0..chance() % 24).map(|_| b"\0\0\0a<>4LU6\xff"[chance() % 11]).collect();
        let frame = Frame { code, data: &data };
        let mut out = Vec::new();
        if let Ok(command) = Command::read(frame) {
            command.encode(&mut out).unwrap();
            let (code, data) = only(&mut Decoder::default(), &out);
            assert_eq!(Command::read(Frame { code, data: &data }), Ok(command));
        }
        out.clear();
        if let Ok(reply) = Reply::read(frame) {
            reply.encode(&mut out).unwrap();
            let (code, data) = only(&mut Decoder::default(), &out);
            assert_eq!(Reply::read(Frame { code, data: &data }), Ok(reply));
        }
    }
}
