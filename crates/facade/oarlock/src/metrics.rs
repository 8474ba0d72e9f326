//! Counters, histograms and costs of the dispatcher, for the metrics of a service.

pub use oarlock_dispatch::{
    AnswerTimes, BatchRuns, DispatchCounters, EngineCost, Histogram, Histograms, MetricFamily, Quarantined,
    Recorder,
};
