//! Limits the lines about refusals. A refusal costs a client nothing, so it must not fill a disk.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use oarlock_wire::proto::Code;

use super::entry;

/// An action that was refused, without the name of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RefusalEntry {
    /// An operation of a client.
    Operation { key: String, operation: String, verdict: Code },
    /// A connection that never had a known client.
    Handshake { reason: String },
}

/// The tokens of clients and addresses, and the counts of refusals without a token.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    by_name: HashMap<String, RefusalTokens>,
    /// An upper bound for the bytes of the names and of one line for each.
    bytes: usize,
    max_bytes: usize,
    /// The time when repeated refusals must be written.
    flush_at: Option<Instant>,
}

#[derive(Debug)]
struct RefusalTokens {
    tokens: u32,
    refilled: Instant,
    repeats: Option<RepeatedRefusals>,
}

#[derive(Debug)]
struct RepeatedRefusals {
    refused: RefusalEntry,
    count: u32,
}

/// The number of lines that one client or address may cause at once.
const MAX_BURST: u32 = 32;
/// The time after which one more line is allowed.
const REFILL: Duration = Duration::from_secs(2);
/// The maximum time that repeated refusals wait for their line.
const MAX_DELAY: Duration = Duration::from_secs(10);
/// The maximum number of clients and addresses with tokens of their own.
const MAX_NAMES: usize = 1024;

impl Refusals {
    /// Counts each name separately while the names and their lines have no more bytes than `max_bytes`.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, ..Self::default() }
    }

    /// Returns true if this refusal gets a line of its own now. `name` is the client as entries name it, or an address.
    pub(super) fn admit(&mut self, name: &str, now: Instant) -> bool {
        let throttle = self.throttle(name, now);
        let has_token = throttle.tokens > 0;
        throttle.tokens = throttle.tokens.saturating_sub(1);
        has_token
    }

    /// Adds a refusal to the line that is written later.
    pub(super) fn add(&mut self, name: &str, refused: RefusalEntry, count: u32, now: Instant) {
        self.flush_at.get_or_insert(now + MAX_DELAY);
        let throttle = self.throttle(name, now);
        match &mut throttle.repeats {
            Some(repeats) => repeats.add(refused, count),
            none => *none = Some(RepeatedRefusals { refused, count }),
        }
    }

    /// Returns the time when [`Refusals::flush`] must be called, if it has a line to return.
    pub(super) fn flush_at(&self) -> Option<Instant> {
        self.flush_at
    }

    /// Returns the lines about all repeated refusals.
    pub(super) fn flush(&mut self) -> Vec<String> {
        self.flush_at = None;
        let repeated = self.by_name.iter_mut().filter_map(|(name, throttle)| {
            let repeats = throttle.repeats.take()?;
            Some(line(name, &repeats))
        });
        repeated.collect()
    }

    fn throttle(&mut self, name: &str, now: Instant) -> &mut RefusalTokens {
        let mut is_known = self.by_name.contains_key(name);
        // Searching for idle names is slow, so it happens only when the map is full.
        if !is_known && !self.has_space(name) {
            self.by_name.retain(|_, throttle| !throttle.is_idle(now));
            self.bytes = self.by_name.keys().map(|name| max_bytes(name)).sum();
        }
        is_known = is_known || self.has_space(name);
        // Clients' names are arrays, addresses are not: the remaining names of each kind share one entry.
        let rest = if name.starts_with('[') { "[\"*\"]" } else { "*" };
        let name = if is_known { name } else { rest };
        if !self.by_name.contains_key(name) {
            self.bytes += max_bytes(name);
        }
        let full = || RefusalTokens { tokens: MAX_BURST, refilled: now, repeats: None };
        let throttle = self.by_name.entry(name.to_owned()).or_insert_with(full);
        throttle.refill(now);
        throttle
    }

    fn has_space(&self, name: &str) -> bool {
        self.by_name.len() < MAX_NAMES && self.bytes + max_bytes(name) <= self.max_bytes
    }
}

/// Returns an upper bound for the bytes of a name and of its line.
fn max_bytes(name: &str) -> usize {
    let line = if name.starts_with('[') { entry::MAX_REFUSALS } else { entry::MAX_HANDSHAKES };
    // The name is stored in the map and in the line.
    2 * name.len() + line
}

impl RefusalTokens {
    fn refill(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.refilled);
        let more = u32::try_from(elapsed.as_millis() / REFILL.as_millis()).unwrap_or(u32::MAX);
        if more > 0 {
            self.tokens = self.tokens.saturating_add(more).min(MAX_BURST);
            // Set only when a token is added. Otherwise frequent refusals would keep the interval from ever passing.
            self.refilled = now;
        }
    }

    fn is_idle(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.repeats.is_none() && self.tokens == MAX_BURST
    }
}

impl RepeatedRefusals {
    /// Adds a refusal and its count. A field that differs becomes an asterisk.
    fn add(&mut self, other: RefusalEntry, count: u32) {
        self.count = self.count.saturating_add(count);
        match (&mut self.refused, other) {
            (
                RefusalEntry::Operation { key, operation, verdict },
                RefusalEntry::Operation { key: other, operation: other_operation, verdict: other_verdict },
            ) => {
                if *key != other {
                    "*".clone_into(key);
                }
                if *operation != other_operation {
                    "*".clone_into(operation);
                }
                // A verdict has no asterisk. Refusals with different verdicts are all denials for the reader.
                *verdict = if *verdict == other_verdict { *verdict } else { Code::PermissionDenied };
            }
            (RefusalEntry::Handshake { reason }, RefusalEntry::Handshake { reason: other })
                if *reason != other =>
            {
                "several reasons".clone_into(reason);
            }
            _ => {}
        }
    }
}

fn line(name: &str, repeats: &RepeatedRefusals) -> String {
    let count = repeats.count;
    match &repeats.refused {
        RefusalEntry::Operation { key, operation, verdict } => {
            entry::refusals(name, key, operation, *verdict, count)
        }
        RefusalEntry::Handshake { reason } => entry::failed_handshakes(name, reason, count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(key: &str) -> RefusalEntry {
        RefusalEntry::Operation {
            key: key.to_owned(),
            operation: "open".to_owned(),
            verdict: Code::PermissionDenied,
        }
    }

    #[test]
    fn admits_a_burst_of_lines_and_then_one_line_with_a_count() {
        let (mut refusals, now) = (Refusals::new(1 << 20), Instant::now());
        let admitted = (0..1000).filter(|_| refusals.admit("[\"a\"]", now)).count();
        assert_eq!(admitted, MAX_BURST as usize);
        assert!(refusals.admit("[\"b\"]", now), "another client has tokens of its own");
        assert_eq!(refusals.flush_at(), None);
        (0..3).for_each(|_| refusals.add("[\"a\"]", refused("k"), 2, now));
        assert_eq!(refusals.flush_at(), Some(now + MAX_DELAY));
        let lines = refusals.flush();
        assert_eq!(lines.len(), 1);
        assert!(
            lines[0].contains("\"client\":[\"a\"],\"key\":\"k\",\"operation\":\"open\",\"count\":6"),
            "{}",
            lines[0]
        );
        assert!(refusals.flush().is_empty());
        assert!(refusals.admit("[\"a\"]", now + REFILL) && !refusals.admit("[\"a\"]", now + REFILL));
    }

    #[test]
    fn replaces_fields_that_differ_by_an_asterisk() {
        let (mut refusals, now) = (Refusals::new(1 << 20), Instant::now());
        refusals.add("[\"a\"]", refused("k"), 1, now);
        refusals.add("[\"a\"]", refused("l"), 1, now);
        let lines = refusals.flush();
        assert!(lines[0].contains("\"key\":\"*\",\"operation\":\"open\",\"count\":2"), "{}", lines[0]);
    }

    #[test]
    fn bounds_the_number_of_names() {
        let (mut refusals, now) = (Refusals::new(1 << 20), Instant::now());
        for at in 0..10 * MAX_NAMES {
            refusals.add(&format!("[\"{at}\"]"), refused("k"), 1, now);
        }
        assert!(refusals.by_name.len() <= MAX_NAMES + 2);
        let lines = refusals.flush();
        let total: u64 = lines
            .iter()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["count"].as_u64().unwrap())
            .sum();
        assert_eq!(total, 10 * MAX_NAMES as u64);
        assert!(refusals.admit("[\"new\"]", now + MAX_DELAY * 100));
        assert_eq!(refusals.by_name.len(), 1, "clients without recent refusals are forgotten");
        assert_eq!(refusals.bytes, max_bytes("[\"new\"]"));
    }

    #[test]
    fn bounds_the_bytes_of_names_and_lines() {
        let (mut refusals, now) = (Refusals::new(1 << 16), Instant::now());
        // An entry has sixteen names of 256 characters at most.
        let long = format!("\"{}\"", "x".repeat(256));
        let rest = vec![long; 15].join(",");
        for at in 0..500 {
            refusals.add(&format!("[\"{at}\",{rest}]"), refused(&"\u{1}".repeat(64)), 1, now);
            let reason = RefusalEntry::Handshake { reason: "\u{1}".repeat(entry::MAX_DETAIL) };
            refusals.add(&format!("192.0.2.{at}"), reason, 1, now);
        }
        let names: usize = refusals.by_name.keys().map(String::len).sum();
        let lines = refusals.flush();
        let bytes = names + lines.iter().map(String::len).sum::<usize>();
        // The names that share an entry share one of each kind.
        let shared = max_bytes("[\"*\"]") + max_bytes("*");
        assert!(bytes <= (1 << 16) + shared, "{bytes} bytes");
        let count =
            |line: &String| serde_json::from_str::<serde_json::Value>(line).unwrap()["count"].as_u64();
        assert_eq!(lines.iter().filter_map(count).sum::<u64>(), 1000);
    }
}
