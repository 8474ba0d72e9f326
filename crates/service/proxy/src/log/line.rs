//! The forms of a line.

use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use oarlock_service_kit::log_line::{QuotedText, is_plain, push_number, push_time};
use oarlock_service_kit::metrics::read_counter;

use crate::config::LineFormat;
use crate::record::{ConnectionRecord, RecordedAlert, RecordedEnd};

/// The maximum number of characters of a text: a host name has 253.
const MAX_TEXT: usize = 256;

/// The bytes of most lines.
const LINE_BYTES: usize = 768;

/// Returns the line of a connection that has ended now. Fields without a value are left out.
pub(super) fn format(record: &ConnectionRecord, format: LineFormat) -> Vec<u8> {
    let mut line = Line { bytes: Vec::with_capacity(LINE_BYTES), format };
    let (time, began) = record.accepted;
    line.begin();
    line.time("time", time);
    line.end(record);
    line.text("listener", record.listener.as_deref());
    line.address("client", record.client);
    line.address("balancer", record.balancer);
    line.tls(record);
    line.text("route", record.route.as_deref());
    line.text("backend", record.backend.as_deref());
    line.text("endpoint", record.endpoint.as_deref());
    line.number("tries", record.tries.into());
    line.number("bytes_to_backend", read_counter(&record.bytes.to_backend));
    line.number("bytes_to_client", read_counter(&record.bytes.to_client));
    line.duration("handshake_us", record.handshake);
    line.duration("connect_us", record.connect);
    line.duration("total_us", Some(began.elapsed()));
    line.finish()
}

/// A line under construction. It is written piece by piece, because every connection pays for it.
struct Line {
    bytes: Vec<u8>,
    format: LineFormat,
}

impl Line {
    fn begin(&mut self) {
        if self.format == LineFormat::Json {
            self.bytes.push(b'{');
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.format == LineFormat::Json {
            self.bytes.push(b'}');
        }
        self.bytes.push(b'\n');
        self.bytes
    }

    fn end(&mut self, record: &ConnectionRecord) {
        match record.end {
            RecordedEnd::Relayed(kind) => self.word("end", kind.name()),
            RecordedEnd::Refused(reason) => {
                self.word("end", "refused");
                self.word("reason", reason.name());
            }
        }
        self.text("error", record.error.as_deref());
        match record.alert {
            Some(RecordedAlert::Sent(alert)) => self.text("alert_sent", Some(&format!("{alert:?}"))),
            Some(RecordedAlert::Received(alert)) => self.text("alert_received", Some(&format!("{alert:?}"))),
            None => {}
        }
    }

    fn tls(&mut self, record: &ConnectionRecord) {
        self.text("sni", record.server_name());
        self.text("certificate", record.certificate().map(|file| &**file));
        if let Some(tls) = &record.tls {
            self.word("version", tls.labels.version);
            self.text("cipher", tls.cipher.as_deref());
            self.text("group", Some(&tls.labels.group));
            self.name("resumed");
            self.bytes.extend_from_slice(if tls.labels.is_resumed { b"true" } else { b"false" });
        }
        self.text("client_name", record.client_name.as_deref());
        let alpn = record.alpn.as_deref().map(String::from_utf8_lossy);
        self.text("alpn", alpn.as_deref());
    }

    /// Appends a text of any characters.
    fn text(&mut self, name: &str, text: Option<&str>) {
        let Some(text) = text else { return };
        self.name(name);
        // logfmt quotes what could be read as more than one value.
        let is_word = |byte| is_plain(byte) && !matches!(byte, b' ' | b'=');
        let is_word = !text.is_empty() && text.len() <= MAX_TEXT && text.bytes().all(is_word);
        if self.format == LineFormat::Text && is_word {
            self.bytes.extend_from_slice(text.as_bytes());
        } else {
            QuotedText(text, MAX_TEXT).append_to(&mut self.bytes);
        }
    }

    /// Appends a text that needs no quotes in text, and no escapes in JSON.
    fn word(&mut self, name: &str, word: &str) {
        self.quoted(name, |bytes| bytes.extend_from_slice(word.as_bytes()));
    }

    fn time(&mut self, name: &str, time: SystemTime) {
        self.quoted(name, |bytes| push_time(bytes, time));
    }

    fn address(&mut self, name: &str, address: Option<SocketAddr>) {
        let Some(address) = address else { return };
        // Writing to a vector cannot fail.
        self.quoted(name, |bytes| drop(write!(bytes, "{address}")));
    }

    fn number(&mut self, name: &str, number: u64) {
        self.name(name);
        push_number(&mut self.bytes, number);
    }

    fn duration(&mut self, name: &str, duration: Option<Duration>) {
        let Some(duration) = duration else { return };
        self.number(name, u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
    }

    fn quoted(&mut self, name: &str, append: impl FnOnce(&mut Vec<u8>)) {
        self.name(name);
        let quote: &[u8] = if self.format == LineFormat::Json { b"\"" } else { b"" };
        self.bytes.extend_from_slice(quote);
        append(&mut self.bytes);
        self.bytes.extend_from_slice(quote);
    }

    /// Begins a field.
    fn name(&mut self, name: &str) {
        let is_first = matches!(self.bytes.as_slice(), b"" | b"{");
        match self.format {
            LineFormat::Text => {
                self.bytes.extend_from_slice(if is_first { b"" } else { b" " });
                self.bytes.extend_from_slice(name.as_bytes());
                self.bytes.push(b'=');
            }
            LineFormat::Json => {
                self.bytes.extend_from_slice(if is_first { b"\"" } else { b",\"" });
                self.bytes.extend_from_slice(name.as_bytes());
                self.bytes.extend_from_slice(b"\":");
            }
        }
    }
}
