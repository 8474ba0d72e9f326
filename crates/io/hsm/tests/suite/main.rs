//! Tests of devices with SoftHSM, and with a module in C that passes its calls to SoftHSM and plants faults.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod faults;
mod keys;
mod operations;
mod own_process;
mod post_quantum;
mod records;
mod set;
mod startup;
