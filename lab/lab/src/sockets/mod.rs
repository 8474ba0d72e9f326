//! `oarlock sockets bench`: both tables of the paper on transforms in sockets (Burnside and Keromytis, "Accelerating
//! application-level security protocols", 2003) on this machine.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the command's arguments |
//! | `wire` | the system calls of every way, counted |
//! | `transfer` | the connections, and the loop that sends a file over them |
//! | `kernel`, `user`, `device` | the ways to seal what is sent |
//! | `af_alg`, `server_device` | the two devices: the kernel's, and a cryptoserver |
//! | `seal` | records of TLS 1.3 in user space |
//! | `plan` | the rows, and their turns |
//! | `report`, `paper` | tables, JSON and picture; the paper's figures |

mod af_alg;
mod args;
mod device;
mod error;
mod kernel;
mod paper;
mod plan;
mod report;
mod seal;
mod server_device;
#[cfg(test)]
mod tests;
mod transfer;
mod user;
mod wire;

use oarlock_terminal::report::print_report;
use oarlock_terminal::{GlobalOptions, check_writable};

use self::args::SocketsLabCommand;
pub(crate) use self::args::{SocketsBenchArgs, SocketsLabArgs};
pub(crate) use self::error::SocketsError;

/// Measures the ways, and prints tables or JSON.
///
/// # Errors
/// Wrong arguments, or a machine that cannot connect to itself. A way that is not there is no error but a row.
pub(crate) fn run(global: &GlobalOptions, args: &SocketsLabArgs) -> Result<(), SocketsError> {
    let SocketsLabCommand::Bench(args) = &args.command;
    bench(global, args)
}

fn bench(global: &GlobalOptions, args: &SocketsBenchArgs) -> Result<(), SocketsError> {
    args.check()?;
    if let Some(path) = &args.plot {
        check_writable(path).map_err(|error| SocketsError::Plot { path: path.clone(), error })?;
    }
    let rows = plan::measure_all(global, args)?;
    if let Some(path) = &args.plot {
        let written = std::fs::write(path, report::to_svg(&rows));
        written.map_err(|error| SocketsError::Plot { path: path.clone(), error })?;
    }
    print_report(global.json, &rows, |in_colour| report::to_text(&rows, in_colour))
        .map_err(SocketsError::Stdout)
}
