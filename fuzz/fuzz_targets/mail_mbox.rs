//! An mbox file: its bytes are messages or separators, messages survive writing to an mbox, and a stream has the same
//! lines as memory.
#![no_main]

use std::io::{BufReader, Read};

use libfuzzer_sys::fuzz_target;
use oarlock_dkim::{CrlfReader, to_crlf};
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
    let capacity = text.first().map_or(1, |byte| usize::from(*byte) + 1);
    let mut streamed = Vec::new();
    CrlfReader::new(BufReader::with_capacity(capacity, text))
        .read_to_end(&mut streamed)
        .expect("memory can be read");
    assert_eq!(streamed, *to_crlf(text));
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
