//! The hand-over of long transfers to the kernel's TLS.
//!
//! Only the direction to the client is handed over: `splice` then moves its bytes without a copy. Receiving stays in
//! user space, where it costs no more, because a partial record cannot be given to the kernel.

mod choice;
mod position;
mod transfer;

pub(crate) use choice::{KernelPaths, TransferPath, UserReason};
pub(crate) use position::RecordPosition;
pub(crate) use transfer::KernelRelay;
