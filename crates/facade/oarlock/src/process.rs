//! Values of one process among forks, for libraries inside of programs that fork.
//!
//! Call [`count_forks`] before the first [`ProcessLocal`] of a program without an [`Accelerator`](crate::Accelerator),
//! which does it by itself. A process that does not count forks asks the system for its identifier each time.

pub use oarlock_core::{ForkSafeCell, ProcessLocal, ProcessMark};
pub use oarlock_dispatch::count_forks;
