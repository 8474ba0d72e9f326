//! Finds the faults of a configuration and of the files that it names, without changing anything.

use std::io;
use std::path::{Path, PathBuf};

use oarlock::AcceleratorBuilder;
use oarlock_key_files::{SecretReader, secret_group};
use oarlock_network::SocketFile;
use oarlock_service_kit::ServiceClock;

use crate::config::CryptoserverConfig;
use crate::error::CryptoserverError;
use crate::keyring::{CounterUse, KeyChanges, KeySources, Keyring};
use crate::server::engine_builder;
use crate::tls::TlsState;

/// Checks a configuration and everything that it names: certificates, keys, grants, engines, and the paths of the
/// socket and of the audit log. The check creates, binds and changes nothing. Returns warnings about faults with which
/// a server would still run.
///
/// # Errors
/// A server would not start, or could not serve any client.
pub fn check(
    config: &CryptoserverConfig,
    engines: AcceleratorBuilder,
) -> Result<Vec<String>, CryptoserverError> {
    config.check()?;
    let mut warnings = Vec::new();
    if let Some(tls) = &config.tls {
        let state = TlsState::read(tls, &ServiceClock::default(), SecretReader::Service)?;
        let faults = state.term_faults().into_iter();
        warnings.extend(faults.map(|(role, fault)| format!("[tls] {}: {fault}", role.setting())));
        warnings.extend(state.unlinked.iter().map(|fault| format!("[tls] certificate: {fault}")));
    }
    if let Some(path) = &config.listen.unix {
        SocketFile::check(path)?;
    }
    if let Some(audit) = &config.audit {
        // Not by opening the log, which would create the file.
        check_audit(&audit.file)
            .map_err(|error| CryptoserverError::Audit { path: audit.file.clone(), error })?;
    }
    let (sources, keyring, found) = KeySources::open(config, None, CounterUse::Check)?;
    warnings.extend(key_warnings(&found));
    warnings.extend(group_warnings(config, &sources));
    warnings.extend(grant_warnings(config, &keyring));
    if config.engines.null_key {
        warnings.push(
            "[engines] null_key: the key \"null\" answers with zeros: switch it on for benchmarks only"
                .to_owned(),
        );
    }
    // A lazy accelerator measures nothing, so nothing is written to the cache of costs.
    let accelerator = engine_builder(config, engines).cost_cache(None).lazy().build()?;
    if config.engines.allowed.is_some() {
        let absent = accelerator.absent().iter();
        warnings.extend(absent.map(|absent| {
            format!("[engines] {}: {}; the scalar engine does its work", absent.name, absent.reason)
        }));
    }
    Ok(warnings)
}

/// Checks the file of the audit log. A log that does not exist yet needs its directory.
fn check_audit(path: &Path) -> io::Result<()> {
    match path.metadata() {
        Ok(about) if about.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let is_folder = folder.unwrap_or(Path::new(".")).metadata()?.is_dir();
            if is_folder { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
        }
        Err(error) => Err(error),
    }
}

fn key_warnings(found: &KeyChanges) -> Vec<String> {
    let refused = found.changes.refused.iter();
    let refused = refused.map(|(path, fault)| format!("[keys] {}: {fault}", path.display()));
    let chains = found.chain_faults.iter();
    let chains = chains.map(|(path, fault)| {
        format!("[keys] {}: {fault}; the key is used without certificates", path.display())
    });
    refused.chain(chains).collect()
}

/// Returns warnings about groups that may read secrets. This is right only for a service of another user. Only the
/// start of the service can find that its user is not in the group.
fn group_warnings(config: &CryptoserverConfig, sources: &KeySources) -> Vec<String> {
    if !rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    let tls = config.tls.iter().map(|tls| tls.private_key.clone());
    let keys = [config.keys.passphrase_file.clone(), config.keys.identity.clone()];
    let files = tls.chain(keys.into_iter().flatten()).chain(sources.secret_files());
    let warning = |path: PathBuf| {
        let (group, path) = (secret_group(&path)?, path.display());
        Some(format!(
            "{path}: the group {group} may read this private file: the server must run as a member of it, because \
             root's server refuses the file"
        ))
    };
    files.filter_map(warning).collect()
}

/// Returns warnings about patterns without a key. The key may come later, so this is not an error.
fn grant_warnings(config: &CryptoserverConfig, keyring: &Keyring) -> Vec<String> {
    let names: Vec<_> = keyring.names().collect();
    let mut warnings = Vec::new();
    for (number, grant) in (1..).zip(&config.grants) {
        for pattern in grant.keys.iter().filter(|pattern| !names.iter().any(|name| pattern.fits(name))) {
            let pattern = pattern.as_str();
            warnings.push(format!("[[grant]] {number}, keys: no key has a name that {pattern:?} fits"));
        }
    }
    warnings
}
