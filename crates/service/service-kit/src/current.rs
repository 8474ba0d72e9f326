//! A value that a reload replaces as a whole.

use std::sync::{Arc, PoisonError, RwLock};

/// The current value. A caller that has taken it keeps it, even if it is replaced meanwhile.
#[derive(Debug)]
pub struct Current<T>(RwLock<Arc<T>>);

impl<T> Current<T> {
    /// Holds a first value.
    pub fn new(value: T) -> Self {
        Self(RwLock::new(Arc::new(value)))
    }

    /// Returns the current value.
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the value. Returns the former one, which is thus freed without the lock.
    pub fn replace(&self, value: impl Into<Arc<T>>) -> Arc<T> {
        let value = value.into();
        std::mem::replace(&mut *self.0.write().unwrap_or_else(PoisonError::into_inner), value)
    }
}
