//! The text of configurations.

use std::fmt::Write;
use std::path::Path;

use oarlock_terminal::GlobalOptions;

use super::plan::{ResolverName, ResolverProvider};
use crate::bench::plan::TlsProvider;
use crate::bench::settings;

/// The settings of a resolver.
pub(super) struct ResolverConfig<'a> {
    /// The directory that it may write to.
    pub(super) directory: &'a Path,
    pub(super) port: u16,
    /// The port of the server that has all zones.
    pub(super) authority: u16,
    /// The DS record of the root's key.
    pub(super) anchor: &'a str,
}

impl ResolverConfig<'_> {
    /// Returns the configuration of a resolver with one thread that asks the authority for everything.
    pub(super) fn text(&self, name: ResolverName) -> String {
        match name {
            ResolverName::Unbound => self.unbound(),
            ResolverName::Bind => self.named(),
        }
    }

    fn unbound(&self) -> String {
        let Self { directory, port, authority, anchor } = self;
        let directory = directory.display();
        // The servers that Unbound asks are usually not on its own machine, and it would not ask this one.
        format!(
            "server:\n  interface: 127.0.0.1@{port}\n  do-daemonize: no\n  do-ip6: no\n  \
             do-not-query-localhost: no\n  username: \"\"\n  chroot: \"\"\n  directory: \"{directory}\"\n  \
             pidfile: \"\"\n  use-syslog: no\n  logfile: \"\"\n  num-threads: 1\n  \
             module-config: \"validator iterator\"\n  msg-cache-size: 256m\n  rrset-cache-size: 512m\n  \
             num-queries-per-thread: 1024\n  trust-anchor-signaling: no\n  trust-anchor: \"{anchor}\"\n\
             remote-control:\n  control-enable: no\n\
             stub-zone:\n  name: \".\"\n  stub-addr: 127.0.0.1@{authority}\n"
        )
    }

    fn named(&self) -> String {
        let Self { directory, port, authority, anchor } = self;
        let directory = directory.display();
        let anchor = named_anchor(anchor);
        format!(
            "options {{\n  directory \"{directory}\";\n  listen-on port {port} {{ 127.0.0.1; }};\n  \
             listen-on-v6 {{ none; }};\n  pid-file none;\n  session-keyfile none;\n  lock-file none;\n  \
             recursion yes;\n  recursive-clients 10000;\n  dnssec-validation yes;\n  empty-zones-enable no;\n  \
             max-cache-size 512m;\n  forward only;\n  forwarders {{ 127.0.0.1 port {authority}; }};\n}};\n\
             controls {{ }};\n\
             trust-anchors {{ . static-ds {anchor}; }};\n"
        )
    }
}

/// Returns the data of a DS record with the digest in quotes.
fn named_anchor(anchor: &str) -> String {
    let data = anchor.split_once(" DS ").map_or(anchor, |(_, data)| data);
    match data.rsplit_once(' ') {
        Some((fields, digest)) => format!("{fields} \"{digest}\""),
        None => data.to_owned(),
    }
}

/// Returns the configuration of Knot with these zones, each in a file of its name and the ending `signed`.
pub(super) fn knot(directory: &Path, port: u16, zones: &[String], owner: &str) -> String {
    let directory = directory.display();
    let mut text = format!(
        "server:\n  listen: 127.0.0.1@{port}\n  rundir: {directory}\n  user: {owner}\n  udp-workers: 1\n  \
         tcp-workers: 1\n  background-workers: 1\n\
         log:\n  - target: stderr\n    any: warning\n\
         database:\n  storage: {directory}/database\n\
         template:\n  - id: default\n    storage: {directory}\n    zonefile-load: whole\n    \
         journal-content: none\n\
         zone:\n"
    );
    for zone in zones {
        // Memory does not fail.
        let _ = writeln!(text, "  - domain: {zone}\n    file: {}", super::zones::signed_file(zone));
    }
    text
}

/// The properties of TLS servers, and those of resolvers, which make a key from its numbers for many signatures. Only
/// the second query prefers Oarlock's key managers. Without it the default provider makes each key first, which costs
/// as much as a verification.
const PROPERTIES: [&str; 2] = ["?provider=oarlock", "?provider=oarlock,?oarlock.keys=import"];

/// Returns openssl.cnf. It is empty for OpenSSL alone.
pub(super) fn openssl(provider: ResolverProvider, module: &Path, global: &GlobalOptions) -> String {
    let (kind, engines) = match provider {
        ResolverProvider::Default => (TlsProvider::Default, None),
        ResolverProvider::Oarlock { engine } => (TlsProvider::Local, Some(vec![engine.to_owned()])),
    };
    let global = GlobalOptions { engines, ..global.clone() };
    settings::openssl(kind, module, Path::new(""), &global).replace(PROPERTIES[0], PROPERTIES[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_anchor_of_bind_is_the_data_of_the_ds_record() {
        assert_eq!(named_anchor(". IN DS 38806 13 2 72DACA"), "38806 13 2 \"72DACA\"");
    }
}
