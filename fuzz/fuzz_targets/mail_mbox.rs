//! An mbox file: its bytes are messages or separators, messages survive writing to an mbox, and the form of the wire
//! stays as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_dkim::to_crlf;
use oarlock_mail_files::mail::{MailOptions, MboxMessage, MboxQuoting, MboxReader, write_mbox};

fuzz_target!(|text: &[u8]| {
    check_lines(text);
    let pieces = read(text, MailOptions { quoting: MboxQuoting::Keep, ..MailOptions::default() });
    for piece in &pieces {
        let (start, len) = (piece.start as usize, piece.len_bytes as usize);
        assert_eq!(Some(&text[start..start + len]), piece.message.as_deref());
    }
    check_round_trip(&pieces);
});

fn read(text: &[u8], options: MailOptions) -> Vec<MboxMessage> {
    MboxReader::new(text, options).map(|piece| piece.expect("memory can be read")).collect()
}

fn check_lines(text: &[u8]) {
    let wire = to_crlf(text);
    assert_eq!(to_crlf(&wire), wire);
}

/// Everything survives except a last line without line ending.
fn check_round_trip(pieces: &[MboxMessage]) {
    let mut written = Vec::new();
    let messages = pieces.iter().filter_map(|piece| piece.message.as_deref());
    let messages: Vec<_> =
        messages.filter(|message| message.is_empty() || message.ends_with(b"\n")).collect();
    for message in &messages {
        write_mbox(&mut written, None, b"", message).expect("memory can be written");
    }
    let back = read(&written, MailOptions::default());
    assert!(back.iter().map(|piece| piece.message.as_deref()).eq(messages.into_iter().map(Some)));
}
