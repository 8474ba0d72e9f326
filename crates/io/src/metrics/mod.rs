//! A page of metrics in Prometheus's text format, and the listener that shows it (feature `metrics`).
//!
//! | item | what it does |
//! |---|---|
//! | [`Text`], [`Scale`] | the format |
//! | [`engines`] | what the dispatcher and its engines count |
//! | [`process`] | what every Prometheus client shows of its process |
//! | [`serve`], [`Page`] | `/metrics` and `/healthz` over HTTP |

mod engines;
mod http;
mod process;
mod text;

pub use engines::engines;
pub use http::{Page, serve};
pub use process::process;
pub use text::{Labels, Scale, Text};
