//! The format of a line: a JSON object without line ends inside.

use std::fmt::{self, Write as _};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use oarlock_service_kit::log_line::{QuotedText, is_plain, push_number};
use oarlock_wire::proto::Code;

use crate::audit_chain::LineHash;
use crate::identity::ClientIdentity;

/// The operations of one kind in one request that ended with one verdict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AuditedOperation<'e> {
    /// The name of a resident key, or the fingerprint of a client's own key.
    pub(crate) key: &'e str,
    pub(crate) operation: &'e str,
    pub(crate) count: u32,
    pub(crate) verdict: Code,
}

/// The client of a connection and its source, as entries name them.
#[derive(Clone, Debug)]
pub(crate) struct AuditOrigin {
    /// The fields of the object, without braces.
    fields: Arc<str>,
    /// The client's names alone, which are the same for all its connections.
    client: Arc<str>,
}

/// The subject of an entry that is not about an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    Start,
    Stop,
    Key,
    /// A reload of certificates, keys and grants.
    Reload,
    Handshake,
    Reopen,
    Lost,
    /// Lines before the entry were cut short.
    Cut,
    /// The file does not end where the chain ended.
    Chain,
}

/// The maximum number of characters of a name in the log.
pub(super) const MAX_NAME: usize = 64;
/// The maximum number of characters of each of a client's names.
const MAX_CLIENT_NAME: usize = 256;
/// The maximum number of names of a client.
const MAX_CLIENT_NAMES: usize = 16;
/// The maximum number of characters of a serial number: 20 bytes in hex with colons (RFC 5280 4.1.2.2), and some for
/// authorities that exceed it.
const MAX_SERIAL: usize = 96;
/// The maximum number of characters of a text.
pub(super) const MAX_DETAIL: usize = 1024;

/// The bytes of an operation's entry beside its strings: braces, names of fields, numbers, the longest verdict.
const FIXED: usize = 200;

/// The maximum bytes of [`refusals`] beside the client: two texts, in which a character may need six bytes.
pub(super) const MAX_REFUSALS: usize = FIXED + 2 * (6 * MAX_NAME + 16);
/// The maximum bytes of [`failed_handshakes`] beside the source.
pub(super) const MAX_HANDSHAKES: usize = FIXED + 6 * MAX_DETAIL + 16;

impl AuditOrigin {
    /// Returns the part of audit entries that describes a client.
    pub(crate) fn new(client: &ClientIdentity) -> Self {
        let names = client.names();
        let mut array = String::from("[");
        for (at, name) in names.iter().take(MAX_CLIENT_NAMES).enumerate() {
            // Written by hand, not by serde, so that the bound of its length is simple.
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(array, "{comma}{}", QuotedText(name, MAX_CLIENT_NAME));
        }
        if names.len() > MAX_CLIENT_NAMES {
            array.push_str(",\"...\"");
        }
        array.push(']');
        let mut fields = format!("\"client\":{array}");
        if let Some(source) = client.address() {
            let _ = write!(fields, ",\"source\":\"{source}\"");
        }
        if let Some(process) = client.process() {
            let _ = write!(fields, ",\"source\":\"pid:{process}\"");
        }
        if let Some(serial) = client.serial() {
            let _ = write!(fields, ",\"serial\":{}", QuotedText(serial, MAX_SERIAL));
        }
        Self { fields: fields.into(), client: array.into() }
    }

    pub(super) fn client(&self) -> &Arc<str> {
        &self.client
    }
}

/// Writes an entry about operations that were done or refused.
pub(super) fn write_operation(
    lines: &mut Vec<u8>,
    origin: &AuditOrigin,
    request: u64,
    operation: &AuditedOperation<'_>,
) {
    // Written piece by piece: every request pays for this, and formatting would take several times as long.
    lines.extend_from_slice(b"{\"time_ms\":");
    push_number(lines, now_ms());
    lines.extend_from_slice(b",\"event\":\"operation\",\"request\":");
    push_number(lines, request);
    lines.push(b',');
    lines.extend_from_slice(origin.fields.as_bytes());
    finish_operation(lines, operation);
}

/// Returns an entry about all refusals of a client since the last such entry.
pub(super) fn refusals(client: &str, key: &str, operation: &str, verdict: Code, count: u32) -> String {
    let mut line =
        format!("{{\"time_ms\":{},\"event\":\"refusals\",\"client\":{client}", now_ms()).into_bytes();
    finish_operation(&mut line, &AuditedOperation { key, operation, count, verdict });
    // unreachable because everything that was appended is text
    String::from_utf8(line).unwrap_or_default()
}

fn finish_operation(line: &mut Vec<u8>, operation: &AuditedOperation<'_>) {
    let AuditedOperation { key, operation, count, verdict } = *operation;
    line.extend_from_slice(b",\"key\":");
    QuotedText(key, MAX_NAME).append_to(line);
    line.extend_from_slice(b",\"operation\":");
    QuotedText(operation, MAX_NAME).append_to(line);
    line.extend_from_slice(b",\"count\":");
    push_number(line, count.into());
    line.extend_from_slice(b",\"verdict\":\"");
    line.extend_from_slice(verdict.as_str_name().as_bytes());
    line.extend_from_slice(b"\"}\n");
}

/// Returns an entry about the server itself.
pub(super) fn event(kind: EventKind, detail: &str) -> String {
    let detail = QuotedText(detail, MAX_DETAIL);
    format!("{{\"time_ms\":{},\"event\":\"{kind}\",\"detail\":{detail}}}\n", now_ms())
}

/// Returns an entry about a resident key.
pub(super) fn key_event(name: &str, change: &str) -> String {
    let (name, detail) = (QuotedText(name, MAX_NAME), QuotedText(change, MAX_DETAIL));
    let (time_ms, kind) = (now_ms(), EventKind::Key);
    format!("{{\"time_ms\":{time_ms},\"event\":\"{kind}\",\"key\":{name},\"detail\":{detail}}}\n")
}

/// Returns an entry about connections from one address that ended without a known client.
pub(super) fn failed_handshakes(source: &str, detail: &str, count: u32) -> String {
    let (source, detail) = (QuotedText(source, MAX_NAME), QuotedText(detail, MAX_DETAIL));
    let (time_ms, kind) = (now_ms(), EventKind::Handshake);
    format!(
        "{{\"time_ms\":{time_ms},\"event\":\"{kind}\",\"source\":{source},\"detail\":{detail},\"count\":{count}}}\n"
    )
}

/// Returns an entry that replaces entries that could not be written.
pub(super) fn lost(count: u64) -> String {
    format!("{{\"time_ms\":{},\"event\":\"{}\",\"count\":{count}}}\n", now_ms(), EventKind::Lost)
}

/// Returns an entry about lines before it that are not entries, because each was cut short. `hash` stands for them.
pub(super) fn cut(count: u64, hash: &LineHash) -> String {
    let (time_ms, kind) = (now_ms(), EventKind::Cut);
    let detail = "lines before this entry were cut short by a crash or a full disk";
    format!(
        "{{\"time_ms\":{time_ms},\"event\":\"{kind}\",\"count\":{count},\"torn\":\"{hash}\",\"detail\":\"{detail}\"}}\n"
    )
}

/// Returns an upper bound for the bytes of [`write_operation`]'s line.
pub(super) fn max_line_bytes(origin: &AuditOrigin, key: &str, operation: &str) -> usize {
    FIXED + origin.fields.len() + max_quoted(key) + max_quoted(operation)
}

/// Returns an upper bound for the bytes of a quoted text. Names of keys and operations are plain; other characters may
/// need six bytes.
fn max_quoted(text: &str) -> usize {
    if text.bytes().all(is_plain) { text.len() + 2 } else { 6 * MAX_NAME + 16 }
}

/// Returns the source that an address belongs to. An IPv6 client has a network of 64 bits for itself.
pub(super) fn source_of(address: Option<IpAddr>) -> String {
    match address.map(|address| address.to_canonical()) {
        None => "-".to_owned(),
        // `to_canonical` has turned IPv4-mapped IPv6 addresses into IPv4, so both forms count as one source.
        Some(IpAddr::V4(address)) => address.to_string(),
        Some(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            // Only the network is written, because the rest of the address is not counted.
            format!("{}/64", std::net::Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Key => "key",
            Self::Reload => "reload",
            Self::Handshake => "handshake",
            Self::Reopen => "reopen",
            Self::Lost => "lost",
            Self::Cut => "cut",
            Self::Chain => "chain",
        })
    }
}

/// Returns the milliseconds since 1970.
fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &[u8]) -> serde_json::Value {
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        serde_json::from_slice(line).unwrap()
    }

    #[test]
    fn writes_names_of_any_bytes_as_one_bounded_line() {
        let origin = AuditOrigin::new(
            &ClientIdentity::loopback().with_address(Some("[2001:db8::1]:5".parse().unwrap())),
        );
        for name in ["plain", "\u{1}", "\"\\\n", "\u{2028}", "\u{10ffff}", "ü"] {
            let name = name.repeat(1000);
            let operation = AuditedOperation {
                key: &name,
                operation: &name,
                count: u32::MAX,
                verdict: Code::ResourceExhausted,
            };
            let mut line = Vec::new();
            write_operation(&mut line, &origin, u64::MAX, &operation);
            assert!(line.len() <= max_line_bytes(&origin, &name, &name), "{}", line.len());
            let (value, cut): (_, String) = (parsed(&line), name.chars().take(MAX_NAME).collect());
            assert_eq!(value["key"], format!("{cut}..."));
            assert_eq!(value["source"], "[2001:db8::1]:5");
        }
        let short = AuditedOperation { key: "k", operation: "ed25519-sign", count: 1, verdict: Code::Done };
        let mut line = Vec::new();
        write_operation(&mut line, &origin, 7, &short);
        assert!(line.len() <= max_line_bytes(&origin, "k", "ed25519-sign"));
        assert_eq!(parsed(&line)["request"], 7);
    }

    #[test]
    fn reserves_enough_bytes_for_every_verdict() {
        let longest = crate::metrics::CODES.iter().map(|code| code.as_str_name().len()).max().unwrap();
        let fields = "{\"time_ms\":,\"event\":\"operation\",\"request\":,,\"key\":,\"operation\":,\"count\":,\"verdict\":\"\"}\n";
        assert!(fields.len() + 3 * 20 + longest <= FIXED, "{}", fields.len() + 60 + longest);
    }

    #[test]
    fn bounds_the_line_of_a_client_with_many_names() {
        let names: Vec<String> = (0..1000).map(|at| format!("san:{}", "x".repeat(at))).collect();
        let origin = AuditOrigin::new(&ClientIdentity::from_names(names));
        assert!(origin.fields.len() < MAX_CLIENT_NAMES * (MAX_CLIENT_NAME + 16));
        assert!(origin.fields.ends_with(",\"...\"]"), "{}", origin.fields);
    }

    #[test]
    fn counts_addresses_of_one_network_as_one_source() {
        let of = |text: &str| source_of(Some(text.parse().unwrap()));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:0:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), "192.0.2.1");
    }
}
