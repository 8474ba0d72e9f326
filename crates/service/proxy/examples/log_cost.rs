//! Measures the cost of the access log: the CPU time of the proxy for a connection with a full handshake of TLS 1.3 and
//! a P-256 certificate, without the log, with text and with JSON, in turns.
//!
//! ```console
//! $ cargo run --release -p oarlock-proxy --example log_cost -- 400
//! ```
//!
//! The number is that of the connections in a turn. The CPU time is that of all threads but those of the clients. The
//! cost is the median difference between two settings of the same turn, so a clock that drifts between turns hides
//! nothing.
#![allow(clippy::unwrap_used, reason = "a measurement")]

use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use oarlock::Accelerator;
use oarlock_proxy::{ProxyConfig, ProxyService};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::client::Resumption;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;

type Failure = Box<dyn Error + Send + Sync>;

/// The name of the thread with the clients and the backend.
const CLIENTS: &str = "clients";

/// The turns of each setting.
const TURNS: usize = 61;

const LOGS: [(&str, &str); 3] = [
    ("none", "log.connections = \"none\"\n"),
    ("text", "log.connections = \"all\"\nlog.file = \"connections.log\"\n"),
    ("json", "log.connections = \"all\"\nlog.file = \"connections.log\"\nlog.format = \"json\"\n"),
];

fn main() -> Result<(), Failure> {
    let count = std::env::args().nth(1).map_or(Ok(400), |text| text.parse())?;
    let measuring = std::thread::Builder::new().name(CLIENTS.to_owned()).spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(measure(count))
    })?;
    measuring.join().map_err(|_| "the measurement panicked")?
}

async fn measure(count: usize) -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    let roots = write_certificate(directory.path())?;
    let backend = echo_backend().await?;
    let settings = |log: &str| -> Result<ProxyConfig, Failure> {
        let path = directory.path().join("proxy.toml");
        let text = format!(
            "listen.sockets = [\"127.0.0.1:0\"]\nlisten.threads = 1\nbackend.address = \"{backend}\"\n\
             certificates.path = \"localhost.pem\"\n{log}"
        );
        fs::write(&path, text)?;
        Ok(ProxyConfig::read(&path)?)
    };
    let service = ProxyService::open(settings(LOGS[0].1)?, Accelerator::builder()).await?;
    let bound = service.bind().await?;
    let address = bound.addresses()[0].clone();
    // The proxy has threads of its own. This thread only waits for their end.
    tokio::spawn(bound.run(std::future::pending()));
    let mut client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    client.resumption = Resumption::disabled();
    let client = Arc::new(client);
    let mut turns = [const { Vec::new() }; LOGS.len()];
    for turn in 0..=TURNS {
        for (index, (_, log)) in LOGS.iter().enumerate() {
            service.reconfigure(settings(log)?).await?;
            let before = proxy_ns()?;
            for _ in 0..count {
                connect(&address, &client).await?;
            }
            // The first turn warms up.
            if turn > 0 {
                turns[index].push((proxy_ns()? - before) as f64 / count as f64 / 1e3);
            }
        }
    }
    print(&turns);
    Ok(())
}

fn print(turns: &[Vec<f64>]) {
    let without = median(turns[0].clone());
    for ((name, _), times) in LOGS.iter().zip(turns) {
        let more = median(times.iter().zip(&turns[0]).map(|(with, without)| with - without).collect());
        println!(
            "log {name}: {:.1} us a connection, {more:+.1} us, {:+.1} %",
            median(times.clone()),
            more / without * 100.0
        );
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the CPU time of all threads but those of the clients, in nanoseconds.
fn proxy_ns() -> Result<u64, Failure> {
    let mut sum = 0;
    for task in fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        // A thread may have ended in between.
        let Ok(name) = fs::read_to_string(task.join("comm")) else { continue };
        let Ok(times) = fs::read_to_string(task.join("schedstat")) else { continue };
        if name.trim() != CLIENTS {
            sum += times.split(' ').next().unwrap_or_default().parse::<u64>()?;
        }
    }
    Ok(sum)
}

async fn connect(address: &str, config: &Arc<ClientConfig>) -> Result<(), Failure> {
    let tcp = TcpStream::connect(address).await?;
    let connector = TlsConnector::from(Arc::clone(config));
    let mut stream = connector.connect(ServerName::try_from("localhost")?, tcp).await?;
    stream.write_all(b"hello").await?;
    stream.read_exact(&mut [0; 5]).await?;
    stream.shutdown().await?;
    stream.read_to_end(&mut Vec::new()).await?;
    Ok(())
}

/// Writes a certificate for `localhost`, and returns its authority.
fn write_certificate(directory: &Path) -> Result<RootCertStore, Failure> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let chain = CertificateParams::new(vec!["localhost".to_owned()])?.signed_by(&key, &issuer)?.pem();
    let path = directory.join("localhost.pem");
    fs::write(&path, chain + &key.serialize_pem())?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(issuer.der().to_vec()))?;
    Ok(roots)
}

async fn echo_backend() -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut reader, mut writer) = stream.split();
                // A connection that fails is the client's error.
                let _ = tokio::io::copy(&mut reader, &mut writer).await;
            });
        }
    });
    Ok(address)
}
