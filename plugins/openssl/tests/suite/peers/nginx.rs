//! nginx: a master that reads keys, and workers that use them.

use std::process::Command;

use super::Daemon;
use crate::common::{TestDirectory, program};

/// Starts a master and two workers with these pairs of certificate and key.
pub fn start(dir: &TestDirectory, pairs: &[(&str, &str)]) -> Option<(Daemon, u16)> {
    start_with(dir, pairs, "")
}

/// Starts them with more settings of the server.
pub fn start_with(dir: &TestDirectory, pairs: &[(&str, &str)], settings: &str) -> Option<(Daemon, u16)> {
    program("nginx")?;
    let (daemon, port) = Daemon::start(|port| {
        dir.write("nginx.conf", configuration(dir, port, pairs, settings));
        (command(dir), None)
    });
    // A connection is taken in before there are workers.
    daemon.wait_for_log(|log| workers(log).len() == 2);
    Some((daemon, port))
}

fn command(dir: &TestDirectory) -> Command {
    let mut command = dir.command(program("nginx").unwrap());
    command.arg("-p").arg(dir.path("")).arg("-c").arg(dir.path("nginx.conf"));
    command.args(["-e", "stderr"]);
    command
}

/// Makes the master read its files again.
pub fn reload(dir: &TestDirectory) {
    crate::common::ProgramResult::from_command(command(dir).args(["-s", "reload"])).ok();
}

/// Returns the workers that started and did not end, according to the log.
pub fn workers(log: &str) -> Vec<u32> {
    let behind = |text: &str| -> Vec<u32> {
        let rests = log.split(text).skip(1);
        rests.filter_map(|rest| rest.split_whitespace().next()?.parse().ok()).collect()
    };
    let ended: Vec<u32> = log.lines().filter(|line| line.contains(" exited ")).filter_map(ended).collect();
    behind("start worker process ").into_iter().filter(|worker| !ended.contains(worker)).collect()
}

fn ended(line: &str) -> Option<u32> {
    line.split("worker process ").nth(1)?.split_whitespace().next()?.parse().ok()
}

fn configuration(dir: &TestDirectory, port: u16, pairs: &[(&str, &str)], settings: &str) -> String {
    let directory = dir.path("");
    let directory = directory.display();
    let pairs: String = pairs
        .iter()
        .map(|(certificate, key)| format!("ssl_certificate {certificate};\nssl_certificate_key {key};\n"))
        .collect();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {directory}/temporary.{name};\n"))
        .concat();
    format!(
        "daemon off;\nworker_processes 2;\npid {directory}/nginx.pid;\nerror_log stderr notice;\n\
         events {{ worker_connections 64; }}\n\
         http {{\naccess_log off;\n{temporary}\
         server {{\nlisten 127.0.0.1:{port} ssl;\n{pairs}\
         ssl_protocols TLSv1.2 TLSv1.3;\nssl_session_cache off;\nssl_session_tickets off;\n{settings}\
         location / {{ return 200 \"hello\"; }}\n}}\n}}\n"
    )
}
