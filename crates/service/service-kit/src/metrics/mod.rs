//! A page of metrics in the text format of Prometheus, and its listener.
//!
//! | item | purpose |
//! |---|---|
//! | [`MetricsText`], [`HistogramScale`], [`read_counter`] | the format |
//! | [`append_engine_metrics`] | the metrics of the dispatcher and its engines |
//! | [`append_device_metrics`] | the metrics of devices that hold keys |
//! | [`append_process_metrics`] | the metrics of the process that every Prometheus client has |
//! | [`serve`], [`MetricsPage`] | `/metrics` and `/healthz` over HTTP |
//! | [`serve_pages`], [`HttpPages`], [`HttpPage`] | other pages over HTTP, such as a dashboard |

mod devices;
mod engines;
mod http;
mod process;
mod text;

pub use devices::append_device_metrics;
pub use engines::append_engine_metrics;
pub use http::{HttpPage, HttpPages, MetricsPage, serve, serve_pages};
pub use hyper::StatusCode;
pub use hyper::body::Bytes;
pub use process::append_process_metrics;
pub use text::{HistogramScale, MetricLabels, MetricsText, read_counter};
