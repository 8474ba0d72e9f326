//! The parts that all services share.
//!
//! | module | content |
//! |---|---|
//! | [`metrics`] | a page for Prometheus |
//! | [`service_manager`] | messages of a service to systemd |
#![forbid(unsafe_code)]

pub mod metrics;
pub mod service_manager;
