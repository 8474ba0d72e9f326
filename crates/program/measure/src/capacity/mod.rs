//! `oarlock dnssec capacity`: the answer whether this machine can verify the signatures of a resolver's load.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | the command |
//! | `args`, `error` | its arguments and errors |
//! | `inputs`, `socket` | traffic from files and from a live dnstap socket |
//! | `question` | the model, from traffic and from options, and its demand |
//! | `measure` | this machine's rates, in independent runs |
//! | `machine` | rates kept in a file, and compared with another machine's |
//! | `verdict` | the algorithms that are affordable |
//! | `overhead` | the CPU time of a validation beyond the verification, from `oarlock bench resolver` |
//! | `verification` | the time of single verifications, for that bench |
//! | `report`, `plots` | all of it as text, JSON and pictures |

mod args;
mod error;
mod inputs;
mod machine;
mod measure;
mod overhead;
mod plots;
mod question;
mod report;
mod socket;
mod verdict;
mod verification;

use oarlock_terminal::report::print_report;
use oarlock_terminal::{GlobalOptions, check_writable};

pub use self::args::CapacityArgs;
pub use self::error::CapacityError;
use self::inputs::ObservedTraffic;
use self::machine::MachineRates;
pub use self::machine::MeasuredAlgorithm;
use self::overhead::ValidationOverhead;
use self::question::LoadQuestion;
use self::report::CapacityReport;
use self::verdict::CapacityVerdict;
pub use self::verification::{VerificationTimes, measure_verification};

/// The text under the options in the help.
pub const AFTER_HELP: &str = "The model is that of Hageman et al. 2016 and Blaauwendraad 2017: S_v = a Q + b, with a = a_v s a_s r. No address is kept.\n\
     Exit codes: 0 an algorithm is affordable, 1 none is, 2 wrong usage or input, 3 the machine failed.\n\n\
     Examples: oarlock dnssec capacity resolver.pcap.zst\n          \
     oarlock dnssec capacity --queries-per-second 58 --worst-case --save router.json\n          \
     oarlock dnssec capacity --queries-per-second 500 --worst-case --overhead-from resolver.json\n          \
     oarlock dnssec capacity --dnstap-socket /run/dnstap.sock --for 86400 --side upstream --plot-queries day.svg";

/// Measures this machine, and prints whether it affords the load. `stop` is called in a runtime of tokio; its future
/// ends the reading of a live socket. Returns true if an algorithm is affordable.
///
/// # Errors
/// Inputs that cannot be read, a load that is not known, engines that fail.
pub fn run<F: Future<Output = ()>>(
    global: &GlobalOptions,
    args: &CapacityArgs,
    stop: impl FnOnce() -> F,
) -> Result<bool, CapacityError> {
    // Before the traffic is read, which may take hours.
    for path in args.outputs() {
        let failed = |error| CapacityError::Write { path: path.clone(), error };
        check_writable(path).map_err(failed)?;
    }
    let other = args.machine.against.as_deref().map(MachineRates::load).transpose()?;
    let kept = args.machine.machine.as_deref().map(MachineRates::load).transpose()?;
    let overhead = ValidationOverhead::choose(&args.budget)?;
    let observed = observe(global, args, stop)?;
    let question = LoadQuestion::new(&args.model, observed.as_ref())?;
    let machine = match kept {
        Some(kept) => kept.only(&args.machine.algorithms),
        None => measure::measure(global, &args.machine)?,
    };
    if let Some(path) = &args.machine.save {
        machine.save(path)?;
    }
    let verdict = CapacityVerdict::new(&question, &machine, args.budget.budget(overhead.overhead_us));
    let against = other.map(|other| machine.against(&other));
    let report =
        CapacityReport { observed: observed.as_ref(), question, machine, verdict, overhead, against };
    plots::draw(&args.plots, &report)?;
    print_report(global.json, &report.to_json(), |in_colour| report.to_text(in_colour) + "\n")?;
    Ok(report.verdict.is_affordable())
}

fn observe<F: Future<Output = ()>>(
    global: &GlobalOptions,
    args: &CapacityArgs,
    stop: impl FnOnce() -> F,
) -> Result<Option<ObservedTraffic>, CapacityError> {
    let traffic = &args.traffic;
    if traffic.input.is_empty() && traffic.dnstap_socket.is_none() {
        return if args.plots.plot_queries.is_some() { Err(CapacityError::NothingToPlot) } else { Ok(None) };
    }
    let mut observed = ObservedTraffic::from_args(traffic);
    observed.read_files(&traffic.input)?;
    if let Some(path) = &traffic.dnstap_socket {
        socket::listen(path, traffic.listen_for, stop, &mut observed)?;
    }
    observed.warn(global);
    Ok(Some(observed))
}
