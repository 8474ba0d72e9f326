//! The text of configurations.

use std::path::{Path, PathBuf};

use oarlock_terminal::GlobalOptions;

use super::handshake::{ClientTlsGroup, ClientTlsVersion, HandshakeKind};
use super::plan::TlsProvider;

/// The body of every answer.
pub(super) const BODY: &str = "handshake done";

/// The settings of a TLS server.
pub(super) struct TlsServerConfig<'a> {
    /// The directory that it may write to.
    pub(super) directory: &'a Path,
    pub(super) port: u16,
    pub(super) certificates: Vec<ServerCertificate>,
    pub(super) workers: u32,
    pub(super) connections: usize,
    pub(super) handshake: HandshakeKind,
    /// The certificate of the clients' authority.
    pub(super) client_authority: &'a Path,
}

/// The files of a certificate.
pub(super) struct ServerCertificate {
    pub(super) certificate: PathBuf,
    /// The file with the private key or a reference to it. HAProxy reads the certificate from it too.
    pub(super) key: PathBuf,
}

/// The cipher suites of TLS 1.2.
const TLS12_SUITES: &str = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256";

/// Returns the configuration of nginx in the foreground with a master. Workers of a root master stay root, because
/// the directory is closed to everybody else.
pub(super) fn nginx(server: &TlsServerConfig<'_>, is_root: bool) -> String {
    let TlsServerConfig { port, workers, .. } = server;
    let directory = server.directory.display();
    let certificates: String = server
        .certificates
        .iter()
        .map(|ServerCertificate { certificate, key }| {
            let (certificate, key) = (certificate.display(), key.display());
            format!("    ssl_certificate {certificate};\n    ssl_certificate_key {key};\n")
        })
        .collect();
    let user = if is_root { "user root;\n" } else { "" };
    let handshake = nginx_handshake(server);
    // All connections may come to one worker.
    let max_connections = (2 * server.connections).max(512);
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|name| format!("  {name}_temp_path {directory}/{name};\n"))
        .collect();
    format!(
        "{user}daemon off;\nmaster_process on;\nworker_processes {workers};\npid {directory}/nginx.pid;\n\
         error_log {directory}/server.log;\n\
         events {{\n  worker_connections {max_connections};\n}}\n\
         http {{\n  access_log off;\n{temporary}  server {{\n\
         \x20   listen 127.0.0.1:{port} ssl;\n\
{certificates}{handshake}\
         \x20   location / {{\n      return 200 \"{BODY}\";\n    }}\n  }}\n}}\n"
    )
}

/// Returns the lines that decide what a handshake of nginx is.
fn nginx_handshake(server: &TlsServerConfig<'_>) -> String {
    let HandshakeKind { version, group, has_client_certificates, resumes } = server.handshake;
    let tickets = if resumes { "on" } else { "off" };
    // Workers share the keys of tickets, since their parent made them. A cache of sessions they would not share.
    let mut lines = vec![
        format!("ssl_protocols TLSv{}", version.number()),
        format!("ssl_session_tickets {tickets}"),
        "ssl_session_cache off".to_owned(),
    ];
    if version == ClientTlsVersion::Tls12 {
        lines.push(format!("ssl_ciphers {TLS12_SUITES}"));
    }
    if group != ClientTlsGroup::X25519 {
        lines.push(format!("ssl_ecdh_curve {}", offered_groups(group)));
    }
    if has_client_certificates {
        lines.push(format!("ssl_client_certificate {}", server.client_authority.display()));
        lines.push("ssl_verify_client on".to_owned());
    }
    lines.into_iter().map(|line| format!("    {line};\n")).collect()
}

/// Returns the groups of a server that is measured with a group and, beside it, with X25519: as an administrator would
/// write them, with P-256 for other clients.
fn offered_groups(group: ClientTlsGroup) -> String {
    format!("{}:{}:prime256v1", group.name(), ClientTlsGroup::X25519.name())
}

/// Returns the options of HAProxy's socket that decide what a handshake is.
fn haproxy_handshake(server: &TlsServerConfig<'_>) -> String {
    let HandshakeKind { version, group, has_client_certificates, resumes } = server.handshake;
    let number = version.number();
    let mut options = format!("ssl-min-ver TLSv{number} ssl-max-ver TLSv{number}");
    if !resumes {
        options += " no-tls-tickets";
    }
    if version == ClientTlsVersion::Tls12 {
        options += &format!(" ciphers {TLS12_SUITES}");
    }
    if group != ClientTlsGroup::X25519 {
        options += &format!(" curves {}", offered_groups(group));
    }
    if has_client_certificates {
        options += &format!(" ca-file {} verify required", server.client_authority.display());
    }
    options
}

/// Returns the configuration of HAProxy with one thread.
pub(super) fn haproxy(server: &TlsServerConfig<'_>, is_async: bool) -> String {
    let port = server.port;
    let certificates: String =
        server.certificates.iter().map(|files| format!(" crt {}", files.key.display())).collect();
    let handshake = haproxy_handshake(server);
    let mode = if is_async { "  ssl-mode-async\n" } else { "" };
    let max_connections = (2 * server.connections).max(512);
    format!(
        "global\n  insecure-fork-wanted\n  nbthread 1\n  maxconn {max_connections}\n  tune.ssl.cachesize 0\n{mode}\
         defaults\n  mode http\n  timeout client 30s\n  timeout connect 30s\n  timeout server 30s\n\
         frontend bench\n\
         \x20 bind 127.0.0.1:{port} ssl{certificates} {handshake}\n\
         \x20 http-request return status 200 content-type text/plain string \"{BODY}\"\n"
    )
}

/// Returns openssl.cnf. It is empty for OpenSSL alone.
pub(super) fn openssl(provider: TlsProvider, module: &Path, socket: &Path, global: &GlobalOptions) -> String {
    let engines = global.engines.as_ref().map(|names| format!("engines = {}\n", names.join(",")));
    let settings = match provider {
        TlsProvider::Default | TlsProvider::Rustls => return String::new(),
        TlsProvider::Oarlock => format!("socket = {}\n", socket.display()),
        TlsProvider::Service | TlsProvider::Held => {
            format!("mode = service\nsocket = {}\n", socket.display())
        }
        TlsProvider::Local => {
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

/// Returns the configuration of the cryptoserver: only processes of this user may connect, and they may bring keys.
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
