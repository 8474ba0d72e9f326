//! The hand-over of long transfers to the kernel's TLS.
//!
//! `splice` then moves the bytes to the client without a copy. The client's records stay in user space, where they cost
//! no more, unless the settings say otherwise.
//!
//! | module | content |
//! |---|---|
//! | `choice` | the choice between user space and the kernel |
//! | `position` | the position in a stream of records |
//! | `secrets` | the traffic secrets of a connection, for new keys |
//! | `direction` | keys in the kernel's form, and the keys of one direction as they change |
//! | `transfer` | the relay after the hand-over |

mod choice;
mod direction;
mod position;
mod secrets;
mod transfer;

pub(crate) use choice::{KernelPaths, TransferPath, UserReason};
pub(crate) use position::RecordPosition;
pub(crate) use secrets::TrafficSecrets;
pub(crate) use transfer::{HandOver, KernelRelay};
