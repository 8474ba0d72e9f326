//! The findings that a process and its forks share.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::route::{RouteTable, claim};

/// The findings that a process and its forks share.
#[derive(Default)]
pub(crate) struct ForkKnowledge {
    /// The choices of where operations are computed.
    pub(crate) routes: RouteTable,
    pub(crate) tested: TestedShapes,
}

/// The numbers of shapes for which the scalar engine has passed its self test outside of the dispatcher, so that not
/// every worker of a server repeats it in its first handshake. There are fewer such shapes than numbers.
pub(crate) struct TestedShapes([AtomicU64; 128]);

impl Default for TestedShapes {
    fn default() -> Self {
        Self(array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl TestedShapes {
    pub(crate) fn contains(&self, number: u64) -> bool {
        // Relaxed: no other memory depends on it.
        self.0.iter().any(|known| known.load(Ordering::Relaxed) == number)
    }

    /// Adds a number, which is not 0.
    pub(crate) fn add(&self, number: u64) {
        _ = self.0.iter().any(|known| claim(known, number));
    }
}

#[cfg(test)]
mod tests {
    use oarlock::Shape;

    use super::*;

    #[test]
    fn all_shapes_of_public_keys_are_remembered() {
        let (tested, shapes) = (TestedShapes::default(), Shape::public_key().len() as u64);
        for number in 1..=shapes {
            assert!(!tested.contains(number));
            tested.add(number);
            tested.add(number);
        }
        assert!((1..=shapes).all(|number| tested.contains(number)) && !tested.contains(shapes + 1));
    }
}
