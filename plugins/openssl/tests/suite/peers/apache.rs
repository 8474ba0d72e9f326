//! Apache with mod_ssl.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::{Daemon, is_root};
use crate::common::{TestDirectory, program};

const MODULES: &str = "/usr/lib/apache2/modules";

/// Starts processes with threads, with these pairs of certificate and key.
pub fn start(dir: &TestDirectory, pairs: &[(&str, &str)]) -> Option<(Daemon, u16)> {
    start_with(dir, pairs, "")
}

/// Starts them with more settings.
pub fn start_with(dir: &TestDirectory, pairs: &[(&str, &str)], settings: &str) -> Option<(Daemon, u16)> {
    program("apache2")?;
    if !Path::new(MODULES).join("mod_ssl.so").exists() {
        eprintln!("SKIPPED: no mod_ssl in {MODULES}");
        return None;
    }
    fs::create_dir_all(dir.path("pages")).unwrap();
    dir.write("pages/index.html", "hello");
    Some(Daemon::start(|port| {
        dir.write("apache.conf", configuration(dir, port, pairs) + settings);
        let mut command = dir.command(program("apache2").unwrap());
        command.arg("-DFOREGROUND").arg("-f").arg(dir.path("apache.conf"));
        (command, None)
    }))
}

fn configuration(dir: &TestDirectory, port: u16, pairs: &[(&str, &str)]) -> String {
    let directory = dir.path("");
    let directory = directory.display();
    let mut text = format!(
        "ServerRoot {directory}\nServerName localhost\nDefaultRuntimeDir {directory}\n\
         PidFile {directory}/apache.pid\nErrorLog /dev/stderr\nListen 127.0.0.1:{port}\n\
         DocumentRoot {directory}/pages\n"
    );
    for (name, file) in
        [("mpm_event", "mpm_event"), ("authz_core", "authz_core"), ("dir", "dir"), ("ssl", "ssl")]
    {
        writeln!(text, "LoadModule {name}_module {MODULES}/mod_{file}.so").unwrap();
    }
    if is_root() {
        text += "User www-data\nGroup www-data\n";
    }
    text +=
        "StartServers 2\nThreadsPerChild 4\nDirectoryIndex index.html\nSSLEngine on\nSSLSessionCache none\n";
    for (certificate, key) in pairs {
        writeln!(text, "SSLCertificateFile {directory}/{certificate}").unwrap();
        writeln!(text, "SSLCertificateKeyFile {directory}/{key}").unwrap();
    }
    text
}
