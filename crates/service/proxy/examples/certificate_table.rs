//! Measures the table of certificates: the time of a load and of a reload, and the memory of a certificate.
//!
//! ```console
//! $ cargo run --release -p oarlock-proxy --example certificate_table -- 10000
//! ```
#![allow(clippy::unwrap_used, reason = "a measurement")]

use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use oarlock::Accelerator;
use oarlock_proxy::certificate::{
    CertificateKeySources, CertificateSource, CertificateTable, UnknownNamePolicy,
};
use oarlock_service_kit::KeyHolders;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustix::time::{ClockId, clock_gettime};

fn main() -> Result<(), Box<dyn Error>> {
    let certificates = std::env::args().nth(1).map_or(Ok(10_000), |text| text.parse())?;
    let directory = tempfile::tempdir()?;
    write_certificates(directory.path(), certificates)?;
    let sources = CertificateKeySources {
        accelerator: Accelerator::builder().lazy().build()?,
        holders: KeyHolders::default(),
    };
    let source = CertificateSource { path: directory.path().to_owned() };
    let load = |before: Option<&CertificateTable>| {
        CertificateTable::load(&source, None, UnknownNamePolicy::Refuse, &sources, before)
    };
    // The first certificate starts what every program has once.
    let one = CertificateSource { path: directory.path().join("0.pem") };
    CertificateTable::load(&one, None, UnknownNamePolicy::Refuse, &sources, None)?;
    let empty = resident_bytes();
    let (first, time) = timed(|| load(None))?;
    let bytes = resident_bytes().saturating_sub(empty);
    println!("load: {certificates} certificates in {time}, {} bytes each", bytes / certificates.max(1));
    let (second, time) = timed(|| load(Some(&first)))?;
    println!("reload without changes: {time}");
    drop(first);
    let _ = oarlock_ffi::trim_memory();
    let full = resident_bytes();
    let mut current = second;
    let mut after = Vec::new();
    for _ in 0..20 {
        current = load(None)?;
        // The service does this after each reload.
        let _ = oarlock_ffi::trim_memory();
        after.push(resident_bytes());
    }
    println!(
        "resident memory: {:+.1} % after a second load of all certificates, {:+.1} % after the twentieth",
        growth(full, after[0]),
        growth(full, after[19]),
    );
    println!("{} in use", current.entries().len());
    Ok(())
}

/// Writes certificates with P-256 keys, and an authority behind each.
fn write_certificates(directory: &Path, certificates: usize) -> Result<(), Box<dyn Error>> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    for number in 0..certificates {
        let key = KeyPair::generate()?;
        let names = vec![format!("www{number}.example.com"), format!("*.{number}.example.com")];
        let chain = CertificateParams::new(names)?.signed_by(&key, &issuer)?.pem() + &issuer.pem();
        let path = directory.join(format!("{number}.pem"));
        fs::write(&path, chain + &key.serialize_pem())?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

/// Runs a step, and returns its time in words.
fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, String), E> {
    let cpu_seconds = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    };
    let (began, cpu) = (Instant::now(), cpu_seconds());
    let result = work()?;
    let (wall, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    Ok((result, format!("{wall:.2} s ({cpu:.2} s of CPU time)")))
}

fn resident_bytes() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<usize>().ok()).unwrap_or(0) << 10
}

fn growth(before: usize, after: usize) -> f64 {
    (after as f64 / before.max(1) as f64 - 1.0) * 100.0
}
