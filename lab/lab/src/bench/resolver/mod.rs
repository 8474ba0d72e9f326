//! `oarlock bench resolver`: resolvers that validate, with and without the provider, before an authority with signed
//! zones.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the arguments |
//! | `plan` | the rows: resolvers and providers |
//! | `zones` | signed zones and their keys |
//! | `settings` | the text of configurations |
//! | `server` | the authority and the resolvers as child processes |
//! | `queries` | queries over UDP |
//! | `rounds` | turns, and the rows that they make |
//! | `report` | table and JSON |

mod args;
mod plan;
mod queries;
mod report;
mod rounds;
mod server;
mod settings;
mod zones;

use indicatif::ProgressBar;
use oarlock_measure::capacity::{MeasuredAlgorithm, VerificationTimes, measure_verification};
use oarlock_measure::cores::DividedCores;
use oarlock_measure::statistics::take_turns;
use oarlock_terminal::report::print_report;
use oarlock_terminal::{GlobalOptions, progress};

pub(super) use self::args::ResolverBenchArgs;
use self::plan::{ResolverName, ResolverProvider};
use self::report::ResolverReport;
use self::rounds::{ResolverRow, ResolverTurns};
use self::server::{ResolverProcess, ResolverSite, ZoneAuthority};
use self::zones::{ResolverZones, secure_zone};
use super::directory::{BenchDirectory, make_directory};
use super::error::BenchError;
use super::plan::BenchProgram;
use crate::dnssec::bench::ZoneKeyKind;

/// The template of the progress bar.
const BAR: &str = "{bar:20} {pos}/{len} {wide_msg}";

/// Measures resolvers with each provider, in turns.
pub(super) fn run(global: &GlobalOptions, args: &ResolverBenchArgs) -> Result<(), BenchError> {
    let module = args.set_up.module()?;
    let names = args.resolvers();
    for program in [BenchProgram::Knotd].into_iter().chain(names.iter().map(|name| name.program())) {
        program.path().ok_or(BenchError::ProgramAbsent(program))?;
    }
    let engines = engines(global)?;
    let kinds = args.keys();
    let steps = 1 + kinds.len() + names.len() * kinds.len() * (args.turns as usize + 1);
    let bar = progress::bar(steps as u64, BAR);
    let directory = BenchDirectory::new(args.set_up.keep.as_deref())?;
    let library = directory.link_library(module)?;
    bar.set_message("signing zones");
    let zones = ResolverZones::new(
        make_directory(library.link.with_file_name("resolver"))?,
        &kinds,
        args.names_in_zone(),
    )?;
    bar.inc(1);
    let times = verification_times(global, &kinds, &bar)?;
    let cores = DividedCores::divide();
    cores.leave();
    let mut authority = ZoneAuthority::start(&zones)?;
    let signatures =
        kinds.iter().map(|kind| authority.count_signatures(&format!("n0.{}", secure_zone(*kind))));
    let signatures = signatures.collect::<Result<Vec<u32>, _>>()?;
    let in_flight = usize::from(args.queries);
    let site = ResolverSite {
        global,
        library: &library,
        cores: &cores,
        zones: &zones,
        authority: &authority,
        in_flight,
    };
    let bench = ResolverBench { args, site, engines, bar: &bar };
    let mut rows = Vec::new();
    let all = names.iter().flat_map(|name| (0..kinds.len()).map(move |kind| (*name, kind)));
    let mut results = all.map(|(name, at)| bench.rows(name, kinds[at], signatures[at], &times[at]));
    let done = results.try_for_each(|result| result.map(|measured| rows.extend(measured)));
    bar.finish_and_clear();
    // Rows that were measured before a failure are printed.
    if !rows.is_empty() {
        let report = ResolverReport::new(args, rows);
        print_report(global.json, &report, |in_colour| report.to_text(in_colour))?;
    }
    done
}

/// The state that all rows share.
struct ResolverBench<'a> {
    args: &'a ResolverBenchArgs,
    site: ResolverSite<'a>,
    engines: Vec<&'static str>,
    bar: &'a ProgressBar,
}

impl ResolverBench<'_> {
    /// Returns the rows of a resolver and a kind of key: one for each engine. The resolver runs with each provider, and
    /// all take turns.
    fn rows(
        &self,
        name: ResolverName,
        kind: ZoneKeyKind,
        signatures_per_answer: u32,
        times: &VerificationTimes,
    ) -> Result<Vec<ResolverRow>, BenchError> {
        self.bar.set_message(format!("{name}-{}", kind.name()));
        let providers = [ResolverProvider::Default].into_iter();
        let providers =
            providers.chain(self.engines.iter().map(|engine| ResolverProvider::Oarlock { engine }));
        let resolvers = providers.map(|provider| ResolverProcess::start(&self.site, name, kind, provider));
        let mut resolvers = resolvers.collect::<Result<Vec<_>, _>>()?;
        self.bar.inc(1);
        let names = self.args.names;
        let turns = take_turns(&mut resolvers, self.args.turns, |_, resolver| {
            if resolver.provider == ResolverProvider::Default {
                self.bar.inc(1);
            }
            resolver.turn(names)
        })?;
        let Some((default, others)) = turns.split_first() else { return Ok(Vec::new()) };
        let turns = ResolverTurns { resolver: name, key: kind, names, signatures_per_answer, times, default };
        Ok(self
            .engines
            .iter()
            .zip(others)
            .map(|(engine, others_turns)| turns.row(engine, others_turns))
            .collect())
    }
}

/// Returns the engines of this machine that the options allow.
fn engines(global: &GlobalOptions) -> Result<Vec<&'static str>, BenchError> {
    let all = global.builder().lazy().build().map_err(BenchError::Engines)?;
    global.warn_absent_engines(&all);
    Ok(global.measured_engines(&all))
}

/// Measures single verifications with each kind of key.
fn verification_times(
    global: &GlobalOptions,
    kinds: &[ZoneKeyKind],
    bar: &ProgressBar,
) -> Result<Vec<VerificationTimes>, BenchError> {
    let measure = |kind: &ZoneKeyKind| {
        bar.set_message(format!("verifications with {}", kind.name()));
        let times = measure_verification(global, measured(*kind))?;
        bar.inc(1);
        Ok(times)
    };
    kinds.iter().map(measure).collect()
}

fn measured(kind: ZoneKeyKind) -> MeasuredAlgorithm {
    match kind {
        ZoneKeyKind::P256 => MeasuredAlgorithm::P256,
        ZoneKeyKind::Rsa2048 => MeasuredAlgorithm::Rsa2048,
        ZoneKeyKind::Ed25519 => MeasuredAlgorithm::Ed25519,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_program_is_named_with_its_package() {
        for (program, package) in [
            (BenchProgram::Knotd, "knot"),
            (BenchProgram::Unbound, "unbound"),
            (BenchProgram::Named, "bind9"),
        ] {
            let said = BenchError::ProgramAbsent(program).to_string();
            assert!(said.starts_with(&program.to_string()), "{said}");
            assert!(said.ends_with(&format!("apt-get install {package})")), "{said}");
        }
    }
}
