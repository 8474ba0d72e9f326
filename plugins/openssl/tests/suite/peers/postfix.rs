//! Postfix's `smtpd`, which starts TLS if a client asks for it.

use std::fs;
use std::os::unix::fs::chown;
use std::process::Command;

use super::{Daemon, is_root};
use crate::common::{ProgramResult, TestDirectory, program};

/// Starts a mail system with this pair of certificate and key.
pub fn start(dir: &TestDirectory, certificate: &str, key: &str) -> Option<(Daemon, u16)> {
    start_with(dir, certificate, key, "")
}

/// Starts it with more settings.
pub fn start_with(dir: &TestDirectory, certificate: &str, key: &str, more: &str) -> Option<(Daemon, u16)> {
    program("postfix")?;
    if !is_root() {
        eprintln!("SKIPPED: only root can start Postfix");
        return None;
    }
    for name in ["mail", "mail/queue", "mail/data"] {
        fs::create_dir_all(dir.path(name)).unwrap();
    }
    let postfix =
        ProgramResult::from_command(Command::new("id").args(["-u", "postfix"])).ok().trim().parse().unwrap();
    chown(dir.path("mail/data"), Some(postfix), None).unwrap();
    dir.write("mail/main.cf", settings(dir, certificate, key) + more);
    Some(Daemon::start(|port| {
        dir.write("mail/master.cf", services(port));
        (command(dir, "start-fg"), Some(command(dir, "stop")))
    }))
}

fn command(dir: &TestDirectory, verb: &str) -> Command {
    // The mail system reads the provider's configuration by a setting of its own.
    let mut command = dir.plain_command(program("postfix").unwrap());
    command.arg("-c").arg(dir.path("mail")).arg(verb);
    command
}

fn settings(dir: &TestDirectory, certificate: &str, key: &str) -> String {
    let directory = dir.path("");
    let directory = directory.display();
    format!(
        "compatibility_level = 3.6\nmyhostname = localhost\nmydestination =\n\
         inet_interfaces = 127.0.0.1\ninet_protocols = ipv4\n\
         local_recipient_maps =\nalias_maps =\nmaillog_file = /dev/stdout\n\
         queue_directory = {directory}/mail/queue\ndata_directory = {directory}/mail/data\n\
         command_directory = /usr/sbin\ndaemon_directory = /usr/lib/postfix/sbin\n\
         smtpd_tls_security_level = may\nsmtpd_tls_loglevel = 1\nsmtpd_tls_protocols = >=TLSv1.2\n\
         smtpd_tls_cert_file = {directory}/{certificate}\nsmtpd_tls_key_file = {directory}/{key}\n\
         tls_config_file = {directory}/openssl.cnf\n"
    )
}

fn services(port: u16) -> String {
    format!(
        "127.0.0.1:{port} inet n - n - - smtpd\n\
         tlsmgr unix - - n 1000? 1 tlsmgr\n\
         anvil unix - - n - 1 anvil\n\
         rewrite unix - - n - - trivial-rewrite\n\
         cleanup unix n - n - 0 cleanup\n\
         postlog unix-dgram n - n - 1 postlogd\n"
    )
}
