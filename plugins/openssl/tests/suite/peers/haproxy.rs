//! HAProxy with `ssl-mode-async`, which lets handshakes pause.

use oarlock_measure::ports::free_port;

use super::Daemon;
use crate::common::{TestDirectory, program};

pub struct HaProxy {
    pub daemon: Daemon,
    /// The ports with TLS and without.
    pub port: u16,
    pub plain_port: u16,
}

/// Starts one process with one thread, with these pairs of certificate and key. It drops a client that is silent for
/// `client_ms`.
pub fn start(dir: &TestDirectory, pairs: &[(&str, &str)], client_ms: u32) -> Option<HaProxy> {
    start_with(dir, pairs, client_ms, "")
}

/// Starts it with more settings of its port with TLS.
pub fn start_with(
    dir: &TestDirectory,
    pairs: &[(&str, &str)],
    client_ms: u32,
    settings: &str,
) -> Option<HaProxy> {
    program("haproxy")?;
    for (certificate, key) in pairs {
        // Files of one name with these endings are certificates of one site.
        let ending = if certificate.starts_with("rsa") { "rsa" } else { "ecdsa" };
        dir.write(&format!("site.pem.{ending}"), [dir.read(certificate), dir.read(key)].concat());
    }
    let mut plain_port = 0;
    let (daemon, port) = Daemon::start(|port| {
        plain_port = free_port().unwrap();
        dir.write("haproxy.cfg", configuration(dir, port, plain_port, client_ms, settings));
        let mut command = dir.command(program("haproxy").unwrap());
        command.arg("-db").arg("-f").arg(dir.path("haproxy.cfg"));
        (command, None)
    });
    Some(HaProxy { daemon, port, plain_port })
}

fn configuration(dir: &TestDirectory, port: u16, plain_port: u16, client_ms: u32, settings: &str) -> String {
    let site = dir.path("site.pem");
    let site = site.display();
    format!(
        "global\n  insecure-fork-wanted\n  ssl-mode-async\n  nbthread 1\n  ssl-default-bind-options ssl-min-ver TLSv1.2\n\
         defaults\n  mode http\n  timeout connect 60s\n  timeout server 60s\n  timeout client {client_ms}ms\n\
         frontend tls\n  bind 127.0.0.1:{port} ssl crt {site} {settings}\n  bind 127.0.0.1:{plain_port}\n\
         \x20 http-request return status 200 content-type text/plain string hello\n"
    )
}
