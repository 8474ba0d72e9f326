//! Jobs of one shape, as an engine takes them.

use crate::{Operation, Records, Shape};

/// What an engine is given: jobs of one shape.
#[derive(Clone, Copy, Debug)]
pub enum Jobs<'a> {
    /// Public-key operations.
    Operations(Shape, &'a [Operation<'a>]),
    /// Batches of records, computed as one run; results stay apart.
    Records(Shape, &'a [&'a Records<'a>]),
}

impl Jobs<'_> {
    /// The shape that all jobs share.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match self {
            Self::Operations(shape, _) | Self::Records(shape, _) => *shape,
        }
    }

    /// How many statuses the outcome has.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Operations(_, operations) => operations.len(),
            Self::Records(_, parts) => parts.iter().map(|records| records.len).sum(),
        }
    }

    /// True where there is no job.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
