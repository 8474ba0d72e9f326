//! The text of configurations.

use std::path::Path;

use super::plan::Provider;
use crate::options::GlobalOptions;

/// What a server answers, behind every head.
pub(super) const BODY: &str = "handshake done";

/// Where a server is, and how it is loaded.
pub(super) struct Server<'a> {
    /// Where it may write.
    pub(super) directory: &'a Path,
    pub(super) port: u16,
    pub(super) certificate: &'a Path,
    /// Holds the private key, or names it.
    pub(super) key: &'a Path,
    pub(super) workers: u32,
    pub(super) connections: usize,
}

/// nginx in the foreground, with a master. Where that is root, workers stay so: the directory is closed to everybody else.
pub(super) fn nginx(server: &Server<'_>, is_root: bool) -> String {
    let Server { port, workers, .. } = server;
    let (directory, certificate, key) =
        (server.directory.display(), server.certificate.display(), server.key.display());
    let user = if is_root { "user root;\n" } else { "" };
    // All connections may come to one worker.
    let room = (2 * server.connections).max(512);
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|name| format!("  {name}_temp_path {directory}/{name};\n"))
        .collect();
    format!(
        "{user}daemon off;\nmaster_process on;\nworker_processes {workers};\npid {directory}/nginx.pid;\n\
         error_log {directory}/server.log;\n\
         events {{\n  worker_connections {room};\n}}\n\
         http {{\n  access_log off;\n{temporary}  server {{\n\
         \x20   listen 127.0.0.1:{port} ssl;\n\
         \x20   ssl_certificate {certificate};\n    ssl_certificate_key {key};\n\
         \x20   ssl_protocols TLSv1.3;\n    ssl_session_tickets off;\n    ssl_session_cache off;\n\
         \x20   location / {{\n      return 200 \"{BODY}\";\n    }}\n  }}\n}}\n"
    )
}

/// HAProxy with one thread; it reads certificate and key from one file.
pub(super) fn haproxy(server: &Server<'_>, is_async: bool) -> String {
    let (port, key) = (server.port, server.key.display());
    let mode = if is_async { "  ssl-mode-async\n" } else { "" };
    let room = (2 * server.connections).max(512);
    format!(
        "global\n  nbthread 1\n  maxconn {room}\n  tune.ssl.cachesize 0\n{mode}\
         defaults\n  mode http\n  timeout client 30s\n  timeout connect 30s\n  timeout server 30s\n\
         frontend bench\n\
         \x20 bind 127.0.0.1:{port} ssl crt {key} ssl-min-ver TLSv1.3 no-tls-tickets\n\
         \x20 http-request return status 200 content-type text/plain string \"{BODY}\"\n"
    )
}

/// openssl.cnf: empty for OpenSSL alone.
pub(super) fn openssl(provider: Provider, module: &Path, socket: &Path, global: &GlobalOptions) -> String {
    let engines = global.engines.as_ref().map(|names| format!("engines = {}\n", names.join(",")));
    let settings = match provider {
        Provider::Default => return String::new(),
        Provider::Service | Provider::Held => format!("mode = service\nsocket = {}\n", socket.display()),
        Provider::Local => {
            // There is one core.
            let threads = global.threads.unwrap_or(1);
            format!("mode = local\nthreads = {threads}\n{}", engines.unwrap_or_default())
        }
    };
    format!(
        "openssl_conf = openssl_init\n\
         [openssl_init]\nproviders = provider_section\nalg_section = algorithm_section\n\
         [provider_section]\ndefault = default_section\noarlock = oarlock_section\n\
         [default_section]\nactivate = 1\n\
         [oarlock_section]\nmodule = {}\nactivate = 1\n{settings}\
         [algorithm_section]\ndefault_properties = ?provider=oarlock\n",
        module.display()
    )
}

/// The cryptoserver's: this user's processes alone may come, and bring keys along.
pub(super) fn cryptoserver(user: u32, global: &GlobalOptions) -> String {
    let engines = global.engines.as_ref().map(|names| format!("allowed = {names:?}\n")).unwrap_or_default();
    let threads = global.threads.map(|threads| format!("threads = {threads}\n")).unwrap_or_default();
    format!(
        "[listen]\nunix = \"oarlock.sock\"\n\
         [keys]\ndirectory = \"keys\"\n\
         [limits]\nmay_bring_keys = true\n\
         [engines]\n{engines}{threads}\
         [[grant]]\nkeys = [\"*\"]\nclients = [\"uid:{user}\"]\n"
    )
}
