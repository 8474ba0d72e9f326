//! The cryptoserver that computes private operations: like `oarlock serve`, on a core of its own.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::Args;
use oarlock::Accelerator;
use oarlock_server::development::Development;
use oarlock_server::{BoundServer, CryptoserverConfig};

use super::HeadError;
use crate::role_process::{BenchProcess, MeasuredCores, answer, stay_on};

/// The name with which a process of this role is called.
pub(crate) const ROLE: &str = "cryptoserver";

/// Arguments of the role.
#[derive(Args, Debug)]
pub(crate) struct CryptoserverArgs {
    #[arg(long)]
    config: PathBuf,
    #[arg(long)]
    core: Option<usize>,
}

/// The configuration, with the certificates and keys of the development set-up.
const CONFIG: &str = r#"[listen]
tcp = "127.0.0.1:0"
plaintext = "127.0.0.1:0"
unix = "oarlock.sock"

[tls]
certificate = "server.pem"
private_key = "server-key.pem"
client_ca = "ca.pem"

[keys]
directory = "keys"

[[grant]]
keys = ["*"]
clients = ["*"]
"#;

/// Starts the cryptoserver in a process of its own.
pub(super) fn start(development: &Development, cores: Option<MeasuredCores>) -> io::Result<BenchProcess> {
    fs::write(development.config(), CONFIG)?;
    let arguments = [ROLE.to_owned(), "--config".to_owned(), development.config().display().to_string()];
    BenchProcess::start(&arguments, cores.map(|cores| cores.second))
}

pub(crate) fn run(args: &CryptoserverArgs) -> Result<(), HeadError> {
    stay_on(args.core)?;
    let config = CryptoserverConfig::read(&args.config)?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let server = BoundServer::bind(
            config,
            Accelerator::builder().environment(true).cost_cache(oarlock::default_cost_cache()),
        )
        .await?;
        let addresses = server.addresses();
        answer(&serde_json::json!({
            "tcp": addresses.tcp, "plaintext": addresses.plaintext, "unix": addresses.unix,
        }))?;
        Ok(server.run(std::future::pending()).await?)
    })
}
