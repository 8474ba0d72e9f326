//! The dispatcher: **an idle worker never waits, and nobody sets a timer.**
//!
//! There is one queue per class of shapes and per holder. A worker that comes free serves the tenant that has had the least engine time,
//! and of its queues the most urgent one: while fewer jobs wait than the cost model's break-even it runs one on the referee, else as
//! many as fill the lanes, as one batch. So latency at low load is the scalar engine's and throughput at saturation that of full
//! lanes. Far engines get only the backlog that the CPU cannot finish in time.
//!
//! | module | what it holds |
//! |---|---|
//! | `dispatcher` | [`Dispatcher`], its [`DispatcherBuilder`], submission |
//! | `scheduler` | the rule, without threads and clock: queues, turns of tenants, sizes of batches |
//! | `tenants` | tenants by the engine time that they have had |
//! | `queue` | what waits, by tenant: cut and whole items |
//! | `class` | shapes that wait together |
//! | `cost` | [`EngineCost`]: C1 + C2 n + C3 b, stepped by lane groups |
//! | `group`, `results`, `ticket` | a submission, its [`Results`], and the [`Ticket`] that waits for them |
//! | `dispatch`, `threads`, `timers` | what is shared, workers and watchdog, deadlines |
//! | `task` | work of callers that takes turns with jobs |
//! | `flight` | a batch in flight: run, landed or abandoned |
//! | `check` | release checks: RSA confirmation, cross-checks, the referee |
//! | `appraisal` | engines asked about a shape at its first use |
//! | `quarantined` | engines put aside, and their probes |
//! | `held` | jobs of holders |
//! | `bulk` | `run_all` on the caller's thread |
//! | `fork` | noticing that this is a child process |
//! | `config`, `metrics` | [`SchedulerConfig`], [`DispatchCounters`] |
//! | `histogram`, `family` | [`Recorder`] and [`MetricFamily`]: metrics without locks |
//! | `histograms` | [`Histograms`]: sizes of batches, times |
//!
//! It knows only the contract of `oarlock-core`: engines and holders come in through [`DispatcherBuilder`].

mod bulk;
mod check;
mod class;
mod config;
mod cost;
mod dispatcher;
mod family;
mod first_use;
mod flight;
mod fork;
mod held;
mod histogram;
mod histograms;
mod metrics;
mod quarantine;
mod queue;
mod results;
mod scheduler;
#[cfg(all(test, not(miri)))]
mod sim;
mod state;
mod submission;
mod task;
mod tenants;
mod threads;
mod ticket;
mod timers;

pub use config::{SchedulerConfig, SchedulingRule};
pub use cost::EngineCost;
pub use dispatcher::{Dispatcher, DispatcherBuilder, SubmitOptions};
pub use family::MetricFamily;
pub use first_use::FirstUseProbe;
pub use histogram::{Histogram, Recorder};
pub use histograms::{AnswerTimes, BatchRuns, Histograms};
pub use metrics::DispatchCounters;
pub use quarantine::Quarantined;
pub use results::Results;
pub use state::Prober;
pub use ticket::Ticket;
