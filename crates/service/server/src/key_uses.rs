//! The number of operations under each resident key.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Counters by the names of resident keys. A removed key takes its counter along.
#[derive(Debug, Default)]
pub(crate) struct KeyUseCounters(RwLock<HashMap<Arc<str>, KeyUseCounter>>);

/// The counter of one key, which its opened handles share.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyUseCounter(Arc<AtomicU64>);

impl KeyUseCounter {
    pub(crate) fn add(&self, by: u32) {
        self.0.fetch_add(by.into(), Ordering::Relaxed);
    }
}

impl KeyUseCounters {
    /// Keeps the counters of these keys, and adds counters for new ones.
    pub(crate) fn keep(&self, names: impl Iterator<Item = Arc<str>>) {
        let mut counters = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut former = std::mem::take(&mut *counters);
        counters.extend(names.map(|name| {
            let counter = former.remove(&name).unwrap_or_default();
            (name, counter)
        }));
    }

    /// Returns the counter of a resident key. Other names have none, so that clients cannot add any.
    pub(crate) fn of_key(&self, name: &str) -> Option<KeyUseCounter> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Returns the names and their counts, the most used first.
    pub(crate) fn read(&self) -> Vec<(String, u64)> {
        let counters = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut uses: Vec<(String, u64)> = counters
            .iter()
            .map(|(name, count)| (name.to_string(), count.0.load(Ordering::Relaxed)))
            .collect();
        uses.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_resident_keys_only_and_forgets_removed_ones() {
        let uses = KeyUseCounters::default();
        uses.keep(["a", "b", "c"].into_iter().map(Arc::from));
        uses.of_key("b").unwrap().add(5);
        assert!(uses.of_key("other").is_none());
        let read = |uses: &KeyUseCounters| {
            uses.read().into_iter().map(|(name, count)| format!("{name}{count}")).collect::<Vec<_>>()
        };
        assert_eq!(read(&uses), ["b5", "a0", "c0"]);
        uses.keep(["b", "d"].into_iter().map(Arc::from));
        assert_eq!(read(&uses), ["b5", "d0"]);
        // A handle's counter is that of the key for as long as the key is there.
        let of_handle = uses.of_key("b").unwrap();
        uses.keep(["b"].into_iter().map(Arc::from));
        of_handle.add(2);
        assert_eq!(read(&uses), ["b7"]);
    }
}
