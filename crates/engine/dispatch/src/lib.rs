//! The dispatcher. **An idle worker never waits, and no timer delays a job.** Internal to Oarlock: the interface
//! changes without notice.
//!
//! Jobs wait in one queue per class of shapes and per holder. A free worker serves the tenant that has had the least
//! engine time, and of that tenant's queues the most urgent one. If fewer jobs wait than the break-even of the cost
//! model, it runs one on the referee. Otherwise it runs as many as fill the lanes, as one batch. So the latency at low
//! load is that of the scalar engine, and the throughput at saturation is that of full lanes. Far engines get only the
//! backlog that the CPU cannot finish in time.
//!
//! The modules, from the public interface down. Each one uses modules below it only; `cargo xtask structure` checks
//! that there is no cycle.
//!
//! | module | content |
//! |---|---|
//! | `dispatcher`, `builder`, `options` | [`Dispatcher`], its [`DispatcherBuilder`], submission and [`SubmitOptions`] |
//! | `watchdog`, `worker`, `task_threads` | the loops of the threads |
//! | `ticket` | the [`Ticket`] that waits for the answers of a submission |
//! | `bulk` | `run_all` and `run_records` on the caller's thread |
//! | `long` | operations of up to a second, on the threads for tasks |
//! | `batch_run`, `held` | a batch on its worker; jobs of holders |
//! | `check` | release checks: RSA confirmation, cross-checks, the referee |
//! | `state` | the parts of a dispatcher, their lock order, and the steps that join several parts |
//! | `shared_queues` | the part under the central lock: queues and scheduler, sleeping threads, probes at first use |
//! | `quarantine` | the part of engines in quarantine |
//! | `threads`, `timers` | the parts of running threads and of deadlines |
//! | `scheduler` | the rule, without threads and clock: queues, turns of tenants, batch sizes |
//! | `flight` | a batch in flight, its measurement, the report of its worker |
//! | `submission`, `task`, `results` | a submission, a task of a caller, and the [`Results`] |
//! | `queue`, `probe` | waiting items, by tenant; the engines of a queue that are known |
//! | `tenants` | tenants, ordered by the engine time that they have had |
//! | `blueprint` | engines, holders and settings, which never change |
//! | `class` | classes of shapes that wait together |
//! | `cost` | [`EngineCost`]: C1 + C2 n + C3 b, stepped by groups of lanes |
//! | `sampler` | the choice of results that are checked again |
//! | `clock`, `config`, `fork` | time, [`SchedulerConfig`], the handler that counts forks |
//! | `metrics`, `histogram`, `family`, `histograms` | [`DispatchCounters`], [`Recorder`], [`MetricFamily`], [`Histograms`] |
//!
//! The crate knows only the contract of `oarlock-core`. Engines and holders are added through [`DispatcherBuilder`].

mod batch_run;
mod blueprint;
mod builder;
mod bulk;
mod check;
mod class;
mod clock;
mod config;
mod cost;
mod dispatcher;
mod family;
mod flight;
mod fork;
mod held;
mod histogram;
mod histograms;
mod long;
mod metrics;
mod options;
mod poller_run;
mod probe;
mod quarantine;
mod queue;
mod results;
mod sampler;
mod scheduler;
mod shared_queues;
#[cfg(all(test, not(miri)))]
mod sim;
mod state;
mod submission;
mod task;
mod task_threads;
mod tenants;
mod threads;
mod ticket;
mod timers;
mod watchdog;
mod worker;

pub use blueprint::{FirstUseProbe, Prober};
pub use builder::DispatcherBuilder;
pub use config::{ConfirmRule, SchedulerConfig};
pub use cost::EngineCost;
pub use dispatcher::Dispatcher;
pub use family::MetricFamily;
pub use fork::count_forks;
pub use histogram::{Histogram, Recorder};
pub use histograms::{AnswerTimes, BatchRuns, Histograms};
pub use metrics::DispatchCounters;
pub use options::SubmitOptions;
pub use quarantine::Quarantined;
pub use results::Results;
pub use ticket::Ticket;
