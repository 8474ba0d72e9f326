//! x
mod config;
mod cost;
mod queue;
mod scheduler;
#[cfg(test)]
mod sim;
mod metrics;
pub use config::*;
