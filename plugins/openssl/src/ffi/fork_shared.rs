//! A value that a process shares with its forks.

use std::ops::Deref;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::knowledge::ForkKnowledge;

/// A value that other processes may change at any time.
///
/// # Safety
/// It has atomics alone, and no addresses.
pub(crate) unsafe trait ShareableValue: Default + Sync {}

// SAFETY: arrays and structures of atomics.
unsafe impl ShareableValue for ForkKnowledge {}

/// A value in memory that forks of this process share. Each of them has a value of its own if the system gives no such
/// memory.
pub(crate) struct ForkShared<T: ShareableValue> {
    value: NonNull<T>,
    is_mapped: bool,
}

// SAFETY: the value may be used by all threads, and only the last owner drops it.
unsafe impl<T: ShareableValue + Send> Send for ForkShared<T> {}
// SAFETY: as above.
unsafe impl<T: ShareableValue> Sync for ForkShared<T> {}

impl<T: ShareableValue> ForkShared<T> {
    /// Returns the default value.
    pub(crate) fn new() -> Self {
        const { assert!(align_of::<T>() <= 4096, "the alignment of a page") };
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: the address is the system's choice, so no memory that is in use is replaced.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), size_of::<T>(), protection, flags) };
        match start.ok().and_then(|start| NonNull::new(start.cast::<T>())) {
            Some(value) => {
                // SAFETY: new memory of this size, which begins with a page.
                unsafe { value.write(T::default()) };
                Self { value, is_mapped: true }
            }
            None => Self { value: NonNull::from(Box::leak(Box::default())), is_mapped: false },
        }
    }
}

impl<T: ShareableValue> Deref for ForkShared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the value lives as long as this owner, and is changed by atomics alone.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ShareableValue> Drop for ForkShared<T> {
    fn drop(&mut self) {
        if self.is_mapped {
            // Other processes keep theirs. A value of atomics needs no drop.
            // SAFETY: this mapping, which nothing uses any more.
            _ = unsafe { munmap(self.value.as_ptr().cast(), size_of::<T>()) };
        } else {
            // SAFETY: a box that `new` has given away.
            drop(unsafe { Box::from_raw(self.value.as_ptr()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    // SAFETY: an atomic.
    unsafe impl ShareableValue for AtomicU64 {}

    #[test]
    fn a_fork_and_its_parent_see_the_same_value() {
        let value = ForkShared::<AtomicU64>::new();
        assert!(value.is_mapped);
        // SAFETY: the child calls functions without locks and memory of their own, and ends.
        match unsafe { libc::fork() } {
            0 => {
                value.store(7, Ordering::Relaxed);
                // SAFETY: ends this process without the code of its parent.
                unsafe { libc::_exit(0) }
            }
            // SAFETY: waits for the child that was made here.
            child => assert_eq!(unsafe { libc::waitpid(child, ptr::null_mut(), 0) }, child),
        }
        assert_eq!(value.load(Ordering::Relaxed), 7);
    }
}
