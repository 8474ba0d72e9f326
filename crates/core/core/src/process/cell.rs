//! A cell that is written once.

use std::convert::Infallible;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ProcessMark;

/// The number of slots. A slot is lost if the process forks between the claim and the write, which are a few
/// instructions. Two such forks in one line of processes do not happen.
const SLOTS: usize = 2;

/// A cell that is written once, and never blocks the child of a fork.
///
/// In [`OnceLock`], a thread that is about to write makes all others wait. If another thread forks meanwhile, the child
/// waits for ever. Here the value is made outside of any lock, and a thread waits only for a thread of its own process
/// that copies a finished value.
pub struct ForkSafeCell<T>([CellSlot<T>; SLOTS]);

struct CellSlot<T> {
    /// The bits of the mark of the process that writes, or zero.
    writer: AtomicU64,
    value: OnceLock<T>,
}

impl<T> ForkSafeCell<T> {
    /// Creates an empty cell.
    #[must_use]
    pub const fn new() -> Self {
        Self([const { CellSlot { writer: AtomicU64::new(0), value: OnceLock::new() } }; SLOTS])
    }

    /// Returns the value if there is one.
    pub fn get(&self) -> Option<&T> {
        self.0.iter().find_map(|slot| slot.value.get())
    }

    /// Returns the value, and makes it if there is none. Two threads may both make a value; then the first one counts.
    pub fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        let Ok(value) = self.get_or_try_make(|| Ok::<_, Infallible>(make()));
        value
    }

    /// Returns the value as [`get_or_make`](Self::get_or_make) does, or the error of `make`.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn get_or_try_make<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        match self.get() {
            Some(value) => Ok(value),
            None => Ok(self.try_insert(make()?).unwrap_or_else(|(value, _)| value)),
        }
    }

    /// Writes a value and returns it.
    ///
    /// # Errors
    /// The value that the cell has already, and the new one.
    pub fn try_insert(&self, value: T) -> Result<&T, (&T, T)> {
        self.try_insert_as(ProcessMark::current(), value)
    }

    fn try_insert_as(&self, process: ProcessMark, value: T) -> Result<&T, (&T, T)> {
        for slot in &self.0 {
            match slot.writer.compare_exchange(0, process.0, Ordering::AcqRel, Ordering::Acquire) {
                // No other thread writes, so this does not wait.
                Ok(_) => return Ok(slot.value.get_or_init(|| value)),
                Err(writer) if writer == process.0 => return Err((slot.value.wait(), value)),
                // The writer is an ancestor of this process. Its value was written before the fork, or never will be.
                Err(_) => {
                    if let Some(written) = slot.value.get() {
                        return Err((written, value));
                    }
                }
            }
        }
        // Every slot was lost. A process that cannot keep its value works without.
        Ok(Box::leak(Box::new(value)))
    }

    /// Takes the value out.
    pub(super) fn take(&mut self) -> Option<T> {
        self.0.iter_mut().find_map(|slot| slot.value.take())
    }
}

impl<T> Default for ForkSafeCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Makes a cell that is full.
impl<T> From<T> for ForkSafeCell<T> {
    fn from(value: T) -> Self {
        let cell = Self::new();
        cell.get_or_make(|| value);
        cell
    }
}

impl<T: fmt::Debug> fmt::Debug for ForkSafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ForkSafeCell").field(&self.get()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: ProcessMark = ProcessMark::imaginary(1);
    const CHILD: ProcessMark = ProcessMark::imaginary(2);

    #[test]
    fn the_first_value_counts() {
        let cell = ForkSafeCell::new();
        assert_eq!((cell.get(), cell.get_or_try_make(|| Err("no"))), (None, Err("no")));
        assert_eq!(*cell.get_or_make(|| 1), 1);
        assert_eq!((cell.get(), cell.get_or_make(|| 2)), (Some(&1), &1));
        assert_eq!(cell.try_insert_as(PARENT, 3), Err((&1, 3)));
    }

    #[test]
    fn threads_that_meet_at_an_empty_cell_get_one_value() {
        let cell = &ForkSafeCell::new();
        let values: Vec<u32> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|number| scope.spawn(move || *cell.get_or_make(|| number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(values, [values[0]; 4]);
    }

    /// Between the claim and the write the parent forks, so that no thread of the child will ever write.
    #[test]
    #[cfg_attr(miri, ignore = "leaks on purpose")]
    fn a_child_does_not_wait_for_a_writer_of_its_parent() {
        let cell = ForkSafeCell::new();
        cell.0[0].writer.store(PARENT.0, Ordering::Relaxed);
        assert_eq!((cell.try_insert_as(CHILD, 2), cell.get()), (Ok(&2), Some(&2)));
        let full = ForkSafeCell::new();
        full.0.iter().for_each(|slot| slot.writer.store(PARENT.0, Ordering::Relaxed));
        assert_eq!((full.try_insert_as(CHILD, 2), full.get()), (Ok(&2), None));
    }
}
