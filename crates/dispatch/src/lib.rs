//! The dispatcher. **An idle worker never waits, and no timer delays a job.**
//!
//! Jobs wait in one queue per class of shapes and per holder. A free worker serves the tenant that has had the least
//! engine time, and of that tenant's queues the most urgent one. If fewer jobs wait than the break-even of the cost
//! model, it runs one on the referee. Otherwise it runs as many as fill the lanes, as one batch. So the latency at low
//! load is that of the scalar engine, and the throughput at saturation is that of full lanes. Far engines get only the
//! backlog that the CPU cannot finish in time.
//!
//! | module | content |
//! |---|---|
//! | `dispatcher` | [`Dispatcher`], its [`DispatcherBuilder`], submission |
//! | `scheduler` | the rule, without threads and clock: queues, turns of tenants, batch sizes |
//! | `tenants` | tenants, ordered by the engine time that they have had |
//! | `queue` | waiting items, by tenant |
//! | `class` | classes of shapes that wait together |
//! | `cost` | [`EngineCost`]: C1 + C2 n + C3 b, stepped by groups of lanes |
//! | `submission`, `results`, `ticket` | a submission, its [`Results`], and the [`Ticket`] that waits for them |
//! | `state`, `threads`, `timers` | the shared state, workers and watchdog, deadlines |
//! | `task` | tasks of callers that take turns with jobs |
//! | `flight` | a batch in flight: run, answered or abandoned |
//! | `check` | release checks: RSA confirmation, cross-checks, the referee |
//! | `first_use` | probes of engines at the first use of a shape |
//! | `quarantine` | engines in quarantine, and their probes |
//! | `held` | jobs of holders |
//! | `bulk` | `run_all` and `run_records` on the caller's thread |
//! | `fork` | detection of forked children |
//! | `config`, `metrics` | [`SchedulerConfig`], [`DispatchCounters`] |
//! | `histogram`, `family` | [`Recorder`] and [`MetricFamily`]: metrics without locks |
//! | `histograms` | [`Histograms`]: batch sizes and times |
//!
//! The crate knows only the contract of `oarlock-core`. Engines and holders are added through [`DispatcherBuilder`].

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
