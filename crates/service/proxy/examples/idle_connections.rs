//! Measures the memory of idle connections in a running proxy: their number, then the bytes of each.
//!
//! ```console
//! $ make build
//! $ ulimit -n 30000
//! $ cargo run --release -p oarlock-proxy --example idle_connections -- target/release/oarlock 10000
//! ```
//!
//! Each connection has done a full handshake of TLS 1.3 and moved a few bytes both ways. The memory is resident memory
//! of the proxy's process. The clients and the backend are in this process.
#![allow(clippy::unwrap_used, reason = "a measurement")]

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Connections that were opened before the first reading, so that memory of every program is not counted.
const FIRST: usize = 200;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(program), count) = (arguments.next(), arguments.next()) else {
        return Err("expected the path of the program oarlock, and a number of connections".into());
    };
    let count: usize = count.map_or(Ok(10_000), |text| text.parse())?;
    let directory = tempfile::tempdir()?;
    let roots = write_certificate(directory.path())?;
    let backend = echo_backend().await?;
    let (mut proxy, address) = start(&program, directory.path(), &backend)?;
    let result = measure(proxy.id(), &address, roots, count).await;
    proxy.kill()?;
    proxy.wait()?;
    result
}

async fn measure(
    process: u32,
    address: &str,
    roots: RootCertStore,
    count: usize,
) -> Result<(), Box<dyn Error>> {
    let config = Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth());
    let mut connections = Vec::new();
    for _ in 0..FIRST {
        connections.push(connect(address, &config).await?);
    }
    let before = resident_bytes(process)?;
    for _ in 0..count {
        connections.push(connect(address, &config).await?);
    }
    let bytes = resident_bytes(process)?.saturating_sub(before);
    println!("{count} idle connections: {} bytes each", bytes / count.max(1));
    Ok(())
}

async fn connect(address: &str, config: &Arc<ClientConfig>) -> Result<TlsStream<TcpStream>, Box<dyn Error>> {
    let tcp = TcpStream::connect(address).await?;
    let connector = TlsConnector::from(Arc::clone(config));
    let mut stream = connector.connect(ServerName::try_from("localhost")?, tcp).await?;
    let mut echo = [0; 5];
    stream.write_all(b"hello").await?;
    stream.read_exact(&mut echo).await?;
    Ok(stream)
}

/// Writes a certificate for `localhost`, and returns its authority.
fn write_certificate(directory: &Path) -> Result<RootCertStore, Box<dyn Error>> {
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

/// Starts a proxy, and returns its address.
fn start(program: &str, directory: &Path, backend: &str) -> Result<(Child, String), Box<dyn Error>> {
    let config = directory.join("proxy.toml");
    let settings = format!(
        "listen.sockets = [\"127.0.0.1:0\"]\nbackend.address = \"{backend}\"\ncertificates.path = \"localhost.pem\"\n\
         limits.max_connections = 100000\nlimits.max_connections_per_address = 100000\n"
    );
    fs::write(&config, settings)?;
    let mut command = Command::new(program);
    let mut proxy =
        command.args(["--json", "proxy", "--config"]).arg(config).stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    BufReader::new(proxy.stdout.take().unwrap()).read_line(&mut line)?;
    let line: serde_json::Value = serde_json::from_str(&line)?;
    let address = line["sockets"][0].as_str().ok_or("the proxy names no socket")?;
    Ok((proxy, address.trim_start_matches("tcp:").to_owned()))
}

fn resident_bytes(process: u32) -> Result<usize, Box<dyn Error>> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<usize>()? * 1024)
}
