//! Costs of one engine and shape at a time, when they are first needed: from the cache file, or measured.

use std::path::PathBuf;
use std::sync::Mutex;

use oarlock_core::{Engine, ForkSafeCell, Shape};
use oarlock_dispatch::EngineCost;

use super::{CacheRow, measure_one, read_rows, write_rows};

/// The source of costs at first use. The file is read at the first question.
#[derive(Debug)]
pub(crate) struct FirstUseCosts {
    cache: Option<PathBuf>,
    known: ForkSafeCell<Vec<CacheRow>>,
    /// Taken while this process writes the file.
    writing: Mutex<()>,
}

impl FirstUseCosts {
    pub(crate) fn new(cache: Option<PathBuf>) -> Self {
        Self { cache, known: ForkSafeCell::new(), writing: Mutex::new(()) }
    }

    /// The cost of an engine for a shape, or None if it fails at it. What had to be measured is kept in the file.
    pub(crate) fn cost(&self, engine: &dyn Engine, shape: Shape) -> Option<EngineCost> {
        let (label, name) = (super::label(engine, shape), shape.to_string());
        if let Some(row) = self.known().iter().find(|row| row.is_of(&label, &name)) {
            return Some(row.cost);
        }
        let cost = measure_one(engine, shape)?;
        self.keep(CacheRow { engine: label, shape: name, cost });
        Some(cost)
    }

    fn known(&self) -> &[CacheRow] {
        self.known.get_or_make(|| self.cache.as_deref().and_then(read_rows).unwrap_or_default())
    }

    /// Adds a row to the present content of the file.
    ///
    /// A row is lost if two threads write at once or the file cannot be written. The next process measures it again.
    fn keep(&self, row: CacheRow) {
        // Never waited for: after a fork the thread that would open the lock may not exist.
        let (Some(path), Ok(_guard)) = (&self.cache, self.writing.try_lock()) else { return };
        // Read again, because other processes may have added rows.
        let mut rows = read_rows(path).unwrap_or_default();
        rows.retain(|kept| !kept.is_of(&row.engine, &row.shape));
        rows.push(row);
        let _ = write_rows(&rows, path);
    }
}

#[cfg(test)]
mod tests {
    use oarlock_scalar::ScalarEngine;

    use super::*;
    use crate::calibrate::tests::temporary;

    #[test]
    fn a_cost_is_measured_once_and_kept_beside_the_others() {
        let (scalar, path) = (ScalarEngine::detect().unwrap(), temporary("first-use"));
        let ask = |shape| FirstUseCosts::new(Some(path.clone())).cost(&scalar, shape).unwrap();
        let first = ask(Shape::X25519);
        ask(Shape::Ed25519Sign);
        let rows = read_rows(&path).unwrap();
        assert_eq!(rows.iter().map(|row| row.shape.as_str()).collect::<Vec<_>>(), ["x25519", "ed25519-sign"]);
        assert!((ask(Shape::X25519).per_op_ns - first.per_op_ns).abs() <= 0.001, "it was read");
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn costs_are_found_where_nothing_can_be_kept() {
        let scalar = ScalarEngine::detect().unwrap();
        for cache in [None, Some(PathBuf::from("/proc/none/costs"))] {
            assert!(FirstUseCosts::new(cache).cost(&scalar, Shape::X25519).is_some());
        }
    }
}
