//! Limits how often a refusal gets a line of its own: what costs a client nothing must not fill a disk.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use oarlock_wire::proto::Code;

use super::entry;

/// The action that was refused, without the names of those who were refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Operations of a client.
    Operation { key: String, operation: String, verdict: Code },
    /// A connection whose client never became known.
    Handshake { reason: String },
}

/// Tokens of clients and addresses, and what they have been refused beyond them.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    by_name: HashMap<String, RefusalTokens>,
    /// A bound on the bytes of the names and of one line for each.
    bytes: usize,
    max_bytes: usize,
    /// When repeats are to be written.
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
    refused: Refused,
    count: u32,
}

/// Lines at once of one client or address.
const MAX_BURST: u32 = 32;
/// The time after which there may be one line more.
const REFILL: Duration = Duration::from_secs(2);
/// The longest time that repeats wait for their line.
const MAX_DELAY: Duration = Duration::from_secs(10);
/// The most clients and addresses that have tokens of their own.
const MAX_NAMES: usize = 1024;

impl Refusals {
    /// Tells names apart while they and their lines have no more than so many bytes.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, ..Self::default() }
    }

    /// True if this refusal gets a line of its own now. `name` is the client as its entries have it, or an address.
    pub(super) fn admit(&mut self, name: &str, now: Instant) -> bool {
        let throttle = self.throttle(name, now);
        let has_token = throttle.tokens > 0;
        throttle.tokens = throttle.tokens.saturating_sub(1);
        has_token
    }

    /// Adds to the line that is written later.
    pub(super) fn add(&mut self, name: &str, refused: Refused, count: u32, now: Instant) {
        self.flush_at.get_or_insert(now + MAX_DELAY);
        let throttle = self.throttle(name, now);
        match &mut throttle.repeats {
            Some(repeats) => repeats.add(refused, count),
            none => *none = Some(RepeatedRefusals { refused, count }),
        }
    }

    /// When [`Refusals::flush`] has something to return.
    pub(super) fn flush_at(&self) -> Option<Instant> {
        self.flush_at
    }

    /// Lines for all repeats.
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
        if !is_known && !self.has_place(name) {
            self.by_name.retain(|_, throttle| !throttle.is_idle(now));
            self.bytes = self.by_name.keys().map(|name| max_bytes(name)).sum();
        }
        is_known = is_known || self.has_place(name);
        // Clients' names are arrays, addresses are not: the rest of each kind shares one.
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

    fn has_place(&self, name: &str) -> bool {
        self.by_name.len() < MAX_NAMES && self.bytes + max_bytes(name) <= self.max_bytes
    }
}

/// A bound on the bytes of a name and of its line.
fn max_bytes(name: &str) -> usize {
    let line = if name.starts_with('[') { entry::MAX_REFUSALS } else { entry::MAX_HANDSHAKES };
    // The name is here and in the line.
    2 * name.len() + line
}

impl RefusalTokens {
    fn refill(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.refilled);
        let more = u32::try_from(elapsed.as_millis() / REFILL.as_millis()).unwrap_or(u32::MAX);
        if more > 0 {
            self.tokens = self.tokens.saturating_add(more).min(MAX_BURST);
            self.refilled = now;
        }
    }

    fn is_idle(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.repeats.is_none() && self.tokens == MAX_BURST
    }
}

impl RepeatedRefusals {
    /// Adds a refusal and its count. Parts that differ become an asterisk.
    fn add(&mut self, other: Refused, count: u32) {
        self.count = self.count.saturating_add(count);
        match (&mut self.refused, other) {
            (
                Refused::Operation { key, operation, verdict },
                Refused::Operation { key: other, operation: other_operation, verdict: other_verdict },
            ) => {
                if *key != other {
                    "*".clone_into(key);
                }
                if *operation != other_operation {
                    "*".clone_into(operation);
                }
                *verdict = if *verdict == other_verdict { *verdict } else { Code::PermissionDenied };
            }
            (Refused::Handshake { reason }, Refused::Handshake { reason: other }) if *reason != other => {
                "several reasons".clone_into(reason);
            }
            _ => {}
        }
    }
}

fn line(name: &str, repeats: &RepeatedRefusals) -> String {
    let count = repeats.count;
    match &repeats.refused {
        Refused::Operation { key, operation, verdict } => {
            entry::refusals(name, key, operation, *verdict, count)
        }
        Refused::Handshake { reason } => entry::failed_handshakes(name, reason, count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(key: &str) -> Refused {
        Refused::Operation {
            key: key.to_owned(),
            operation: "open".to_owned(),
            verdict: Code::PermissionDenied,
        }
    }

    #[test]
    fn a_client_has_a_burst_and_then_one_line_with_a_count() {
        let (mut refusals, now) = (Refusals::new(1 << 20), Instant::now());
        let admitted = (0..1000).filter(|_| refusals.admit("[\"a\"]", now)).count();
        assert_eq!(admitted, MAX_BURST as usize);
        assert!(refusals.admit("[\"b\"]", now), "another client has its own");
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
    fn what_differs_is_an_asterisk() {
        let (mut refusals, now) = (Refusals::new(1 << 20), Instant::now());
        refusals.add("[\"a\"]", refused("k"), 1, now);
        refusals.add("[\"a\"]", refused("l"), 1, now);
        let lines = refusals.flush();
        assert!(lines[0].contains("\"key\":\"*\",\"operation\":\"open\",\"count\":2"), "{}", lines[0]);
    }

    #[test]
    fn names_are_bounded() {
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
        assert_eq!(refusals.by_name.len(), 1, "those who were quiet are forgotten");
        assert_eq!(refusals.bytes, max_bytes("[\"new\"]"));
    }

    #[test]
    fn the_bytes_of_names_and_lines_are_bounded() {
        let (mut refusals, now) = (Refusals::new(1 << 16), Instant::now());
        // Sixteen names of 256 characters each is what an entry has of a client.
        let long = format!("\"{}\"", "x".repeat(256));
        let rest = vec![long; 15].join(",");
        for at in 0..500 {
            refusals.add(&format!("[\"{at}\",{rest}]"), refused(&"\u{1}".repeat(64)), 1, now);
            let reason = Refused::Handshake { reason: "\u{1}".repeat(entry::MAX_DETAIL) };
            refusals.add(&format!("192.0.2.{at}"), reason, 1, now);
        }
        let names: usize = refusals.by_name.keys().map(String::len).sum();
        let lines = refusals.flush();
        let bytes = names + lines.iter().map(String::len).sum::<usize>();
        // Those who share a line share one of each kind.
        let shared = max_bytes("[\"*\"]") + max_bytes("*");
        assert!(bytes <= (1 << 16) + shared, "{bytes} bytes");
        let count =
            |line: &String| serde_json::from_str::<serde_json::Value>(line).unwrap()["count"].as_u64();
        assert_eq!(lines.iter().filter_map(count).sum::<u64>(), 1000);
    }
}
