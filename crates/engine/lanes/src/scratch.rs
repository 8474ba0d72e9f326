//! Memory that a thread keeps between runs. The system maps new memory page by page, which costs much for a batch of
//! some hundred short records.

use std::any::Any;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

thread_local! {
    static KEPT: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// A value that can be wiped and used again.
pub(crate) trait WipePolicy: 'static {
    /// Erases all secrets.
    fn wipe(&mut self);
}

/// A value that is wiped and returned to its thread when it is dropped. Each thread keeps one value of each type.
pub(crate) struct ThreadScratch<T: WipePolicy>(
    /// A vector of exactly one element. It moves to the thread's list without a copy, which would leave secrets on
    /// the stack.
    Vec<T>,
);

impl<T: WipePolicy> ThreadScratch<T> {
    /// Returns the value that this thread has kept, or a new one.
    pub(crate) fn take(make: impl FnOnce() -> T) -> Self {
        let kept = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            // A list of a few types: one per kernel that keeps memory.
            let at = kept.iter().position(|one| one.is::<Vec<T>>())?;
            kept.swap_remove(at).downcast().ok()
        });
        Self(kept.ok().flatten().map_or_else(|| vec![make()], |one| *one))
    }
}

impl<T: WipePolicy> Drop for ThreadScratch<T> {
    fn drop(&mut self) {
        self.wipe();
        // Moves the vector out, so that the drop of `self` frees nothing.
        let one = std::mem::take(&mut self.0);
        // While a thread ends, its list may be gone already. Then the value is freed.
        let _ = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            if !kept.iter().any(|other| other.is::<Vec<T>>()) {
                kept.push(Box::new(one));
            }
        });
    }
}

impl<T: WipePolicy> Deref for ThreadScratch<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0[0]
    }
}

impl<T: WipePolicy> DerefMut for ThreadScratch<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Number(u32);

    impl WipePolicy for Number {
        fn wipe(&mut self) {
            self.0 = 0;
        }
    }

    #[test]
    fn scratch_is_wiped_and_one_value_is_kept_per_thread() {
        let (mut first, second) = (ThreadScratch::take(|| Number(7)), ThreadScratch::take(|| Number(8)));
        first.0[0].0 += 1;
        assert_eq!((first.0[0].0, second.0[0].0), (8, 8));
        drop((first, second));
        let (again, anew) = (ThreadScratch::take(|| Number(9)), ThreadScratch::take(|| Number(10)));
        assert_eq!((again.0[0].0, anew.0[0].0), (0, 10));
    }
}
