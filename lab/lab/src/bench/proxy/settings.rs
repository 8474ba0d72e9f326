//! The command lines and the configurations of proxies.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::plan::{OwnProxy, ProxyPeer};

/// The addresses and the files of a proxy.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProxySite<'a> {
    /// The directory that it may write to.
    pub(super) directory: &'a Path,
    /// The port that it listens at.
    pub(super) port: u16,
    /// The port of the plain backend.
    pub(super) backend: u16,
    /// A file with the certificate and the private key.
    pub(super) bundle: &'a Path,
    /// The largest number of connections at once.
    pub(super) connections: usize,
    /// True if this process runs as root.
    pub(super) is_root: bool,
    /// nginx's module for TCP, if it has to be loaded.
    pub(super) stream_module: Option<&'a Path>,
}

/// The name of the cryptoserver's UNIX socket in the directory of a proxy.
pub(super) const SERVER_SOCKET: &str = "oarlock.sock";

/// Returns the text of a proxy's configuration with one worker in the foreground.
pub(super) fn configuration(peer: ProxyPeer, site: &ProxySite<'_>) -> String {
    match peer {
        ProxyPeer::Hitch => hitch(site),
        ProxyPeer::Haproxy => haproxy(site),
        ProxyPeer::Nginx => nginx(site),
        ProxyPeer::Stunnel => stunnel(site),
    }
}

/// Returns the arguments that start a proxy with a configuration.
pub(super) fn arguments(peer: ProxyPeer, directory: &Path, configuration: &Path) -> Vec<OsString> {
    match peer {
        ProxyPeer::Hitch => vec![joined("--config=", configuration)],
        ProxyPeer::Haproxy => words(&["-db", "-f"], configuration),
        ProxyPeer::Nginx => nginx_arguments(directory, configuration),
        ProxyPeer::Stunnel => vec![configuration.into()],
    }
}

/// Returns the arguments that only check a configuration. stunnel has no such arguments.
#[cfg(test)]
pub(super) fn check_arguments(
    peer: ProxyPeer,
    directory: &Path,
    configuration: &Path,
) -> Option<Vec<OsString>> {
    match peer {
        ProxyPeer::Hitch => Some(vec!["--test".into(), joined("--config=", configuration)]),
        ProxyPeer::Haproxy => Some(words(&["-c", "-f"], configuration)),
        ProxyPeer::Nginx => {
            Some([nginx_arguments(directory, configuration), vec![OsString::from("-t")]].concat())
        }
        ProxyPeer::Stunnel => None,
    }
}

/// Returns the arguments of Oarlock's proxy. `configuration` is the file of [`own_configuration`].
pub(super) fn own_arguments(proxy: OwnProxy, configuration: &Path) -> Vec<OsString> {
    let engines = match proxy {
        OwnProxy::Lanes | OwnProxy::Keyless => "lanes,scalar",
        OwnProxy::Scalar => "scalar",
    };
    words(&["--engines", engines, "--threads", "1", "proxy", "--config"], configuration)
}

/// Returns the settings of Oarlock's proxy. `certificates` has the chain and the key, or its reference.
pub(super) fn own_configuration(set_up: OwnProxy, site: &ProxySite<'_>, certificates: &Path) -> String {
    let ProxySite { port, backend, .. } = site;
    let cryptoserver = match set_up {
        OwnProxy::Keyless => {
            format!("[cryptoserver]\nservers = [{:?}]\n", site.directory.join(SERVER_SOCKET))
        }
        OwnProxy::Lanes | OwnProxy::Scalar => String::new(),
    };
    format!(
        "[listen]\nsockets = [\"127.0.0.1:{port}\"]\n[backend]\naddress = \"127.0.0.1:{backend}\"\n\
         [certificates]\npath = {certificates:?}\n[limits]\nmax_connections_per_address = 0\n\
         max_drain_seconds = 1\n{cryptoserver}"
    )
}

/// Returns the reason why nginx cannot relay TCP, or the module that it has to load. `version` is what `nginx -V`
/// prints.
pub(super) fn stream_module(version: &str) -> Result<Option<PathBuf>, String> {
    let mut options = version.split_whitespace();
    match options.clone().find(|option| ["--with-stream", "--with-stream=dynamic"].contains(option)) {
        None => return Err("this nginx was built without its stream module".to_owned()),
        Some("--with-stream") => return Ok(None),
        Some(_) => {}
    }
    let directory = options.find_map(|option| option.strip_prefix("--modules-path=")).unwrap_or_default();
    let path = Path::new(directory).join("ngx_stream_module.so");
    match path.is_file() {
        true => Ok(Some(path)),
        false => Err(format!(
            "{} is not there: install nginx's stream module (Debian and Ubuntu: apt-get install libnginx-mod-stream)",
            path.display()
        )),
    }
}

fn hitch(site: &ProxySite<'_>) -> String {
    let ProxySite { port, backend, bundle, .. } = site;
    // hitch refuses to run workers as root. They need no file after their start.
    let user = if site.is_root { "user = \"nobody\"\n" } else { "" };
    format!(
        "frontend = \"[127.0.0.1]:{port}\"\nbackend = \"[127.0.0.1]:{backend}\"\npem-file = \"{}\"\n\
         tls-protos = TLSv1.2 TLSv1.3\nworkers = 1\nbacklog = {}\ndaemon = off\n{user}",
        bundle.display(),
        site.backlog()
    )
}

fn haproxy(site: &ProxySite<'_>) -> String {
    let ProxySite { port, backend, bundle, .. } = site;
    // Each connection of a client has one to the backend.
    let max_connections = (4 * site.connections).max(512);
    format!(
        "global\n  nbthread 1\n  maxconn {max_connections}\n\
         defaults\n  mode tcp\n  timeout client 60s\n  timeout connect 30s\n  timeout server 60s\n\
         listen bench\n  bind 127.0.0.1:{port} ssl crt {} ssl-min-ver TLSv1.2 backlog {}\n\
         \x20 server plain 127.0.0.1:{backend}\n",
        bundle.display(),
        site.backlog()
    )
}

fn nginx(site: &ProxySite<'_>) -> String {
    let ProxySite { port, backend, .. } = site;
    let (directory, bundle) = (site.directory.display(), site.bundle.display());
    let module = site.stream_module.map(|path| format!("load_module {};\n", path.display()));
    // Workers of a root master stay root, because the directory is closed to everybody else.
    let user = if site.is_root { "user root;\n" } else { "" };
    let max_connections = (4 * site.connections).max(512);
    format!(
        "{}{user}daemon off;\nmaster_process on;\nworker_processes 1;\npid {directory}/nginx.pid;\n\
         error_log {directory}/proxy.log;\n\
         events {{\n  worker_connections {max_connections};\n}}\n\
         stream {{\n  server {{\n    listen 127.0.0.1:{port} ssl backlog={};\n    proxy_pass 127.0.0.1:{backend};\n\
         \x20   ssl_certificate {bundle};\n    ssl_certificate_key {bundle};\n\
         \x20   ssl_protocols TLSv1.2 TLSv1.3;\n    tcp_nodelay on;\n  }}\n}}\n",
        module.unwrap_or_default(),
        site.backlog()
    )
}

fn stunnel(site: &ProxySite<'_>) -> String {
    let ProxySite { port, backend, bundle, .. } = site;
    format!(
        "foreground = yes\npid =\nsyslog = no\ndebug = err\n\
         socket = l:TCP_NODELAY=1\nsocket = r:TCP_NODELAY=1\n\
         [bench]\naccept = 127.0.0.1:{port}\nconnect = 127.0.0.1:{backend}\ncert = {}\n\
         sslVersionMin = TLSv1.2\n",
        bundle.display()
    )
}

impl ProxySite<'_> {
    /// Returns the length of the queue of new connections: all clients may connect at the same moment.
    fn backlog(&self) -> usize {
        self.connections.max(128)
    }
}

fn nginx_arguments(directory: &Path, configuration: &Path) -> Vec<OsString> {
    let log = directory.join("proxy.log");
    vec!["-p".into(), directory.into(), "-c".into(), configuration.into(), "-e".into(), log.into()]
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(path);
    argument
}

fn words(options: &[&str], path: &Path) -> Vec<OsString> {
    options.iter().map(OsString::from).chain([path.into()]).collect()
}
