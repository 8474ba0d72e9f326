//! The TLS server: one thread for all connections.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use oarlock::Accelerator;
use oarlock::keys::import;
use oarlock_server::development::Development;
use oarlock_wire::{Endpoint, RemoteConfig, RemoteHolder};
use s2n_tls::config::Config;
use s2n_tls::security::DEFAULT_TLS13;
use s2n_tls_tokio::TlsAcceptor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use zeroize::Zeroizing;

use super::private_key::AcceleratorSigner;
use super::{ANSWER, HeadError, KEY, REQUEST};
use crate::role_process::{answer, stay_on};

/// The name with which a process of this role is called.
pub(crate) const ROLE: &str = "head-server";

/// Arguments of the role.
#[derive(Args, Debug)]
pub(crate) struct HeadServerArgs {
    #[arg(long)]
    certificate: PathBuf,
    #[arg(long)]
    private_key: Option<PathBuf>,
    /// The cryptoserver that holds the key.
    #[arg(long)]
    server: Option<String>,
    /// The directory with the credentials of this process.
    #[arg(long)]
    state: Option<PathBuf>,
    #[arg(long, value_enum)]
    by: ServerSigning,
    #[arg(long)]
    core: Option<usize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ServerSigning {
    S2n,
    Scalar,
    Oarlock,
}

pub(crate) fn run(args: &HeadServerArgs) -> Result<(), HeadError> {
    stay_on(args.core)?;
    oarlock_service_kit::raise_open_files();
    let config = config(args)?;
    // One thread, because the measurement is about one core.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        answer(&serde_json::json!({ "address": listener.local_addr()? }))?;
        let acceptor = TlsAcceptor::new(config);
        loop {
            let (stream, _) = listener.accept().await?;
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // The client notices and counts failures.
                let _ = serve(&acceptor, stream).await;
            });
        }
    })
}

fn config(args: &HeadServerArgs) -> Result<Config, HeadError> {
    let certificate = fs::read(&args.certificate)?;
    let mut config = Config::builder();
    config.set_security_policy(&DEFAULT_TLS13)?;
    match (args.by, &args.private_key) {
        // s2n-tls computes by itself only with a key of its own and without a callback.
        (ServerSigning::S2n, Some(key)) => {
            config.load_pem(&certificate, &Zeroizing::new(fs::read(key)?))?;
        }
        _ => {
            config.load_public_pem(&certificate)?.set_private_key_callback(signer(args)?)?;
        }
    }
    Ok(config.build()?)
}

/// Returns an accelerator: engines of this process for a local key, else the cryptoserver, whose answers the engines
/// verify.
fn signer(args: &HeadServerArgs) -> Result<AcceleratorSigner, HeadError> {
    let engines = || match args.by {
        ServerSigning::Scalar => Accelerator::builder()
            .environment(true)
            .cost_cache(oarlock::default_cost_cache())
            .engines(["scalar"]),
        _ => Accelerator::builder().environment(true).cost_cache(oarlock::default_cost_cache()),
    };
    let Some(server) = &args.server else {
        let path = args.private_key.as_ref().ok_or(HeadError::Usage("expected --private-key or --server"))?;
        let key = import::any(&Zeroizing::new(fs::read(path)?), None)?;
        return Ok(AcceleratorSigner { accelerator: engines().build()?, key });
    };
    let remote = RemoteHolder::new(
        RemoteConfig::new("cryptoserver", vec![endpoint(args, server)?]),
        engines().build()?,
    )?;
    let key = remote.key(KEY)?;
    Ok(AcceleratorSigner { accelerator: engines().holder(Arc::new(remote)).build()?, key })
}

fn endpoint(args: &HeadServerArgs, server: &str) -> Result<Endpoint, HeadError> {
    if !server.contains("://") {
        return Ok(Endpoint::unix(server));
    }
    let credentials = args.state.as_ref().map(|state| Development::at(state).credentials()).transpose();
    let credentials = credentials.map_err(std::io::Error::other)?;
    Ok(Endpoint::Grpc { url: server.to_owned(), credentials })
}

/// Serves one connection: handshake, request, answer, end.
async fn serve(acceptor: &TlsAcceptor, stream: TcpStream) -> Result<(), HeadError> {
    // Nagle's algorithm would hold the answer back until the client acknowledges the handshake.
    stream.set_nodelay(true)?;
    let mut tls = acceptor.accept(stream).await?;
    let mut request = [0; REQUEST.len()];
    tls.read_exact(&mut request).await?;
    if request == *REQUEST {
        tls.write_all(ANSWER).await?;
    }
    Ok(tls.shutdown().await?)
}
