//! The cache of a resolver, reduced to the signatures that it has verified.

use std::collections::HashMap;

use super::SignatureRecord;

/// Verified signatures that have not expired. A set and its signature leave a cache together (RFC 4035 4.5).
#[derive(Debug)]
pub(super) struct SignatureCache {
    /// The second at which each signature expires, by identity.
    expiry_s: HashMap<u64, u64>,
    max: usize,
    now_s: u64,
}

impl SignatureCache {
    pub(super) fn new(max: usize) -> Self {
        Self { expiry_s: HashMap::new(), max, now_s: 0 }
    }

    /// Returns true if a resolver must verify this signature. A message without a time gets the latest known time.
    pub(super) fn must_verify(&mut self, at_s: Option<u64>, signature: SignatureRecord) -> bool {
        self.now_s = at_s.unwrap_or(self.now_s);
        if self.expiry_s.get(&signature.id).is_some_and(|expiry_s| *expiry_s > self.now_s) {
            return false;
        }
        if self.expiry_s.len() >= self.max && !self.expiry_s.contains_key(&signature.id) {
            self.evict_expired();
        }
        self.expiry_s.insert(signature.id, self.now_s.saturating_add(signature.ttl_s.into()));
        true
    }

    /// Drops expired signatures. If that frees less than a quarter of the cache, it also drops the signatures that
    /// expire first.
    fn evict_expired(&mut self) {
        let now_s = self.now_s;
        self.expiry_s.retain(|_, expiry_s| *expiry_s > now_s);
        // Freeing a quarter at once makes the cost of an insertion constant on average.
        let kept = self.max - self.max.div_ceil(4);
        if self.expiry_s.len() <= kept {
            return;
        }
        let mut ends: Vec<u64> = self.expiry_s.values().copied().collect();
        let first = ends.len() - kept;
        let (_, &mut last_s, _) = ends.select_nth_unstable(first - 1);
        self.expiry_s.retain(|_, expiry_s| *expiry_s > last_s);
    }
}
