//! Arguments of `oarlock call`, and where the server is.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use oarlock_server::development::Development;
use oarlock_wire::{Credentials, Endpoint};
use zeroize::Zeroizing;

use super::CallError;

/// Arguments of `oarlock call`.
#[derive(Args, Debug)]
pub(crate) struct CallArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    #[command(flatten)]
    pub(super) servers: ServersArgs,
    #[command(subcommand)]
    pub(super) command: CallCommand,
}

/// Further servers that have the key or a share of it, and how their answers are used.
#[derive(Args, Clone, Debug)]
pub(super) struct ServersArgs {
    /// A further server with the key, as --server; repeatable. Where one fails another is asked
    #[arg(long, value_name = "ADDRESS")]
    pub(super) also: Vec<String>,
    /// Release an answer only when so many servers give it
    #[arg(long, value_name = "K", conflicts_with = "threshold_key")]
    pub(super) agree: Option<u8>,
    /// The key is shared among the servers: what `keys split` wrote to NAME.threshold.pem
    #[arg(long, value_name = "FILE")]
    pub(super) threshold_key: Option<PathBuf>,
}

impl ServersArgs {
    /// True where one stream to one server will not do.
    pub(super) fn are_several(&self) -> bool {
        !self.also.is_empty() || self.agree.is_some() || self.threshold_key.is_some()
    }
}

/// Where the server is, and what proves both sides to each other.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServerArgs {
    /// https://HOST:PORT, http://HOST:PORT, or the path of a UNIX socket [default: that of the development set-up]
    #[arg(long, value_name = "ADDRESS", env = "OARLOCK_SERVER")]
    pub(crate) server: Option<String>,
    /// The authority of the server's certificate [default: that of the development set-up]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// The client's certificate
    #[arg(long, value_name = "FILE", requires = "cert_key")]
    cert: Option<PathBuf>,
    /// Its private key
    #[arg(long, value_name = "FILE", requires = "cert")]
    cert_key: Option<PathBuf>,
    /// Where the development set-up is [default: oarlock in the XDG state directory]
    #[arg(long, value_name = "DIRECTORY")]
    state: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(super) enum CallCommand {
    /// Sign a file
    Sign(SignArgs),
    /// Verify a signature; exit code 1 where it is not valid
    Verify(VerifyArgs),
    /// Decrypt a file under an RSA key
    Decrypt(DecryptArgs),
    /// Agree on a shared secret under an X25519 key
    Derive(DeriveArgs),
    /// The keys that this client may use
    Keys,
    /// The public half of a key, in PEM
    PublicKey(PublicKeyArgs),
    /// The server's engines
    Engines,
}

/// Which key.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(super) struct KeyArgs {
    /// A key that lives at the server, by name
    #[arg(long, value_name = "NAME")]
    pub(super) key: Option<String>,
    /// A key of one's own, in PEM or DER, that is sent along and forgotten with the connection
    #[arg(long, value_name = "FILE")]
    pub(super) own_key: Option<PathBuf>,
}

/// What is signed.
#[derive(Args, Debug)]
pub(super) struct InputArgs {
    /// The message; - for stdin
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(super) input: PathBuf,
    /// The file is the message's digest, as raw bytes
    #[arg(long)]
    pub(super) digest: bool,
}

#[derive(Args, Debug)]
pub(super) struct SignArgs {
    #[command(flatten)]
    pub(super) key: KeyArgs,
    /// rsa-pkcs1-DIGEST, rsa-pss-DIGEST, ecdsa-DIGEST, ecdsa-DIGEST-fixed, ed25519 [default: what suits the key, with SHA-256
    /// or the curve's own digest]
    #[arg(long)]
    pub(super) scheme: Option<String>,
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// Where the signature goes [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    pub(super) key: KeyArgs,
    /// As with sign
    #[arg(long)]
    pub(super) scheme: Option<String>,
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// The signature
    #[arg(long, value_name = "FILE")]
    pub(super) signature: PathBuf,
}

#[derive(Args, Debug)]
pub(super) struct DecryptArgs {
    #[command(flatten)]
    pub(super) key: KeyArgs,
    /// rsa-oaep-DIGEST or rsa-pkcs1, which never shows whether the padding was good
    #[arg(long, default_value = "rsa-oaep-sha256")]
    pub(super) scheme: String,
    /// The label of OAEP
    #[arg(long)]
    pub(super) label: Option<String>,
    /// The ciphertext; - for stdin
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(super) input: PathBuf,
    /// Where the plaintext goes [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct DeriveArgs {
    #[command(flatten)]
    pub(super) key: KeyArgs,
    /// The peer's public key: 32 bytes, PEM or DER
    #[arg(long, value_name = "FILE")]
    pub(super) peer: PathBuf,
    /// Where the shared secret goes [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct PublicKeyArgs {
    /// The key's name
    pub(super) name: String,
    /// A reference in the place of the public key: the key's name and its public half in one file, for programs that use the key
    /// where the server has it
    #[arg(long)]
    pub(super) reference: bool,
    /// Where it goes [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

impl ServerArgs {
    /// The server, with the development set-up in the place of what was not said.
    pub(crate) fn endpoint(&self) -> Result<Endpoint, CallError> {
        match &self.server {
            Some(server) => self.at(server),
            None => Ok(Endpoint::Unix(self.development()?.socket())),
        }
    }

    /// Another server, reached with the same certificates.
    pub(super) fn at(&self, server: &str) -> Result<Endpoint, CallError> {
        if server.starts_with("https://") {
            return Ok(Endpoint::Grpc { url: server.to_owned(), credentials: Some(self.credentials()?) });
        }
        if server.starts_with("http://") {
            return Ok(Endpoint::Grpc { url: server.to_owned(), credentials: None });
        }
        Ok(Endpoint::Unix(server.into()))
    }

    fn development(&self) -> Result<Development, CallError> {
        match &self.state {
            Some(state) => Ok(Development::at(state)),
            None => Ok(Development::of_user()?),
        }
    }

    fn credentials(&self) -> Result<Credentials, CallError> {
        let or = |own: &Option<PathBuf>, other: fn(&Development) -> PathBuf| match own {
            Some(path) => Ok::<_, CallError>(path.clone()),
            None => Ok(other(&self.development()?)),
        };
        Ok(Credentials {
            server_ca: super::read(&or(&self.ca, Development::ca)?)?.to_vec(),
            certificate: super::read(&or(&self.cert, Development::client_certificate)?)?.to_vec(),
            private_key: Zeroizing::new(super::read(&or(&self.cert_key, Development::client_key)?)?.to_vec()),
        })
    }
}
