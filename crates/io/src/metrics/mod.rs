//! A page of metrics in Prometheus's text format, and the listener that shows it (feature `metrics`).
//!
//! | item | what it does |
//! |---|---|
//! | [`MetricsText`], [`HistogramScale`] | the format |
//! | [`engines`] | what the dispatcher and its engines count |
//! | [`process`] | what every Prometheus client shows of its process |
//! | [`serve`], [`MetricsPage`] | `/metrics` and `/healthz` over HTTP |

mod engines;
mod http;
mod process;
mod text;

pub use engines::engines;
pub use http::{MetricsPage, serve};
pub use process::process;
pub use text::{HistogramScale, MetricLabels, MetricsText};
