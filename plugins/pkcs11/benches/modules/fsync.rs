//! The calls that make objects durable, counted by `strace`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::process::{Contender, Request, WorkerProcess};

const OBJECTS: usize = 400;

/// Returns the number of calls that wait for the disk per created object, or `None` without `strace`.
pub(crate) fn per_object(contender: &Contender, directory: &Path) -> Option<f64> {
    let installed = Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success());
    if !installed {
        eprintln!("SKIPPED: strace is not installed, so no calls of fsync are counted");
        return None;
    }
    // What a process does besides is counted in one that creates nothing.
    let [without, with] = [0, OBJECTS].map(|objects| {
        let trace = directory.join("trace");
        let plain = contender.kind.command(&contender.directory);
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range,msync", "-o"]).arg(&trace);
        command.arg(plain.get_program()).args(plain.get_args());
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut process = WorkerProcess::start(command);
        process.ask(&Request::Open);
        process.ask(&Request::Create { objects });
        process.end();
        fs::read_to_string(&trace).unwrap().lines().filter(|line| line.contains("sync")).count()
    });
    Some((with as f64 - without as f64) / OBJECTS as f64)
}
