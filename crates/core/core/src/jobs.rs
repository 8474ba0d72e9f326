//! Jobs of one shape, in the form that an engine takes.

use crate::{Operation, Records, Shape};

/// Jobs of one shape: the input of an engine.
#[derive(Clone, Copy, Debug)]
pub enum Jobs<'a> {
    /// Public-key operations.
    Operations(Shape, &'a [Operation<'a>]),
    /// Batches of records that are computed in one run. Their results stay apart.
    Records(Shape, &'a [&'a Records<'a>]),
}

impl Jobs<'_> {
    /// Returns the shape that all jobs share.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match self {
            Self::Operations(shape, _) | Self::Records(shape, _) => *shape,
        }
    }

    /// Returns the number of statuses in the outcome.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Operations(_, operations) => operations.len(),
            Self::Records(_, parts) => parts.iter().map(|records| records.len).sum(),
        }
    }

    /// True if there is no job.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
