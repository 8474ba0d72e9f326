//! `oarlock bench proxy`: TLS-terminating proxies side by side, per second of their CPU time.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the command's arguments |
//! | `plan` | the proxies and the loads |
//! | `settings` | command lines and configurations of proxies |
//! | `stack` | a proxy as a process, with its cryptoserver if it has one |
//! | `backend` | the plain backend behind all proxies |
//! | `runtime` | the runtime of the clients, whose work ends at a signal |
//! | `clients`, `bulk` | handshakes, and transfers in bulk |
//! | `client_config` | the TLS settings of clients |
//! | `turns` | turns, and the ratios between proxies in the same turn |
//! | `report`, `text` | rows; tables and picture |

mod args;
mod backend;
mod bulk;
mod client_config;
mod clients;
mod plan;
mod report;
mod runtime;
mod settings;
mod stack;
#[cfg(test)]
mod tests;
mod text;
mod turns;

use indicatif::ProgressBar;
use oarlock_measure::cores::DividedCores;
use oarlock_terminal::report::print_report;
use oarlock_terminal::{GlobalOptions, check_writable, progress};

pub(super) use self::args::ProxyBenchArgs;
use self::backend::PlainBackend;
use self::clients::ProxyClients;
use self::report::{MeasuredProxy, ProxyRow};
use self::runtime::LoadRuntime;
use self::stack::{ProxyStack, StackSite};
use self::turns::ProxyTurn;
use super::directory::{BenchDirectory, ServerIdentity};
use super::plan::ServerKeyKind;
use super::{BAR, BenchError};
use crate::product::oarlock_path;

/// Measures all proxies with each key, and prints tables or JSON; draws if `--plot` is given.
pub(super) fn run(global: &GlobalOptions, args: &ProxyBenchArgs) -> Result<(), BenchError> {
    args.check()?;
    // Else only the rows of others would be measured, after minutes.
    oarlock_path()?;
    let plot_error = |error| BenchError::Plot { path: args.plot.clone().unwrap_or_default(), error };
    if let Some(path) = &args.plot {
        check_writable(path).map_err(plot_error)?;
    }
    let directory = BenchDirectory::new(args.keep.as_deref())?;
    let cores = DividedCores::divide();
    cores.leave();
    let (runtime, backend) = (LoadRuntime::new()?, PlainBackend::start()?);
    let site = StackSite { global, cores: &cores, backend: backend.port, connections: args.connections() };
    let steps = args.keys().len() * args.loads().len() * args.proxies().len() * args.turns as usize;
    let bar = progress::bar(steps as u64, BAR);
    let bench = ProxyBench { args, directory: &directory, site, runtime: &runtime, bar: &bar };
    let mut rows = Vec::new();
    let done =
        args.keys().into_iter().try_for_each(|key| bench.rows(key).map(|measured| rows.extend(measured)));
    bar.finish_and_clear();
    // Rows that were measured before a failure are printed.
    if !rows.is_empty() {
        if let Some(path) = &args.plot {
            std::fs::write(path, text::to_svg(&rows)).map_err(plot_error)?;
        }
        print_report(global.json, &rows, |in_colour| text::to_text(args, &rows, in_colour))?;
    }
    done.and_then(|()| report::check(&rows))
}

/// The state that all rows share.
struct ProxyBench<'a> {
    args: &'a ProxyBenchArgs,
    directory: &'a BenchDirectory,
    site: StackSite<'a>,
    runtime: &'a LoadRuntime,
    bar: &'a ProgressBar,
}

/// A proxy, or the reason why it is not measured.
struct BenchedProxy {
    measured: MeasuredProxy,
    stack: Option<ProxyStack>,
}

impl ProxyBench<'_> {
    /// Returns the rows of one key: all proxies run at the same time and are measured in turns.
    fn rows(&self, key: ServerKeyKind) -> Result<Vec<ProxyRow>, BenchError> {
        let identity = self.directory.identity(&key.to_string(), key)?;
        let clients = ProxyClients::new(self.runtime, &identity.certificate, self.args);
        let mut proxies = self.start_all(key, &identity, &clients)?;
        for _ in 0..self.args.turns {
            for (index, load) in self.args.loads().into_iter().enumerate() {
                for proxy in &mut proxies {
                    self.bar.set_message(format!("{} {key} {load}", proxy.measured.name));
                    proxy.measure(index, |stack| stack.measure(&clients, load))?;
                    self.bar.inc(1);
                }
            }
        }
        let measured: Vec<MeasuredProxy> = proxies.into_iter().map(|proxy| proxy.measured).collect();
        Ok(report::rows(self.args, key, &measured))
    }

    fn start_all(
        &self,
        key: ServerKeyKind,
        identity: &ServerIdentity,
        clients: &ProxyClients<'_>,
    ) -> Result<Vec<BenchedProxy>, BenchError> {
        let mut proxies = Vec::new();
        for name in self.args.proxies() {
            self.bar.set_message(format!("{name} {key}: starting"));
            let mut proxy =
                BenchedProxy { measured: MeasuredProxy::new(name, self.args.loads().len()), stack: None };
            match ProxyStack::start(self.site, name, identity, clients) {
                Ok(stack) => {
                    proxy.measured.group = Some(stack.group);
                    proxy.stack = Some(stack);
                }
                Err(error) => proxy.leave_out(error)?,
            }
            proxies.push(proxy);
        }
        Ok(proxies)
    }
}

impl BenchedProxy {
    /// Measures a turn of the load with this index, unless the proxy is left out.
    fn measure(
        &mut self,
        index: usize,
        measure: impl FnOnce(&mut ProxyStack) -> Result<ProxyTurn, BenchError>,
    ) -> Result<(), BenchError> {
        let Some(stack) = &mut self.stack else { return Ok(()) };
        match measure(stack) {
            Ok(turn) => self.measured.add_turn(index, turn),
            Err(error) => self.leave_out(error)?,
        }
        Ok(())
    }

    /// Leaves the proxy out from now on, because of an error that concerns only the proxy. Returns any other error.
    fn leave_out(&mut self, error: BenchError) -> Result<(), BenchError> {
        if matches!(error, BenchError::Interrupted) {
            return Err(error);
        }
        self.measured.why_not = Some(error.to_string());
        self.stack = None;
        Ok(())
    }
}
