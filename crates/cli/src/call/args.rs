//! Arguments of `oarlock call`, and where the server is.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use oarlock::MacAlg;
use oarlock_records::Cipher;
use oarlock_server::development::Development;
use oarlock_wire::{Credentials, Endpoint};
use zeroize::Zeroizing;

use super::CallError;
use crate::key_path::key_path;
use crate::records::{mac_alg, names};

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
#[command(next_help_heading = "Connection")]
pub(super) struct ServersArgs {
    /// A further server with the key, as --server; repeatable. Where one fails another is asked
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub(super) also: Vec<String>,
    /// Release an answer only when so many servers give it
    #[arg(long, global = true, value_name = "K", conflicts_with = "threshold_key")]
    pub(super) agree: Option<u8>,
    /// The key is shared among the servers: what `keys split` wrote to NAME.threshold.pem
    #[arg(long, global = true, value_name = "FILE", value_parser = key_path())]
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
#[command(next_help_heading = "Connection")]
pub(crate) struct ServerArgs {
    /// https://HOST:PORT, http://HOST:PORT, or the path of a UNIX socket [default: that of the development set-up]
    #[arg(long, global = true, value_name = "ADDRESS", env = "OARLOCK_SERVER")]
    pub(crate) server: Option<String>,
    /// The authority of the server's certificate [default: that of the development set-up]
    #[arg(long, global = true, value_name = "FILE", env = "OARLOCK_CA", value_parser = key_path())]
    ca: Option<PathBuf>,
    /// The client's certificate
    #[arg(long, global = true, value_name = "FILE", env = "OARLOCK_CERT", value_parser = key_path())]
    cert: Option<PathBuf>,
    /// Its private key
    #[arg(long, global = true, value_name = "FILE", env = "OARLOCK_KEY", value_parser = key_path())]
    cert_key: Option<PathBuf>,
    /// Who may serve a UNIX socket, beside root and this user: a name or a number
    #[arg(long, global = true, value_name = "USER", default_value = "oarlock")]
    server_user: String,
    /// Where the development set-up is [default: oarlock in the XDG state directory]
    #[arg(long, global = true, value_name = "DIRECTORY")]
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
    /// Encrypt a value under a symmetric key: the result is the IV, the ciphertext and the tag
    Seal(SealArgs),
    /// Decrypt what seal wrote; exit code 1 if it is not authentic
    Open(OpenArgs),
    /// Make a message authentication code under a symmetric key
    Mac(MacArgs),
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
    #[arg(long, value_name = "FILE", value_parser = key_path())]
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

/// The place of a result, and its form.
#[derive(Args, Debug)]
pub(super) struct OutputArgs {
    /// The file for the result [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Write the result in hexadecimal digits, and a line end
    #[arg(long)]
    pub(super) hex: bool,
    /// Write the result in base64, and a line end
    #[arg(long, conflicts_with = "hex")]
    pub(super) base64: bool,
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
    #[command(flatten)]
    pub(super) output: OutputArgs,
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
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(super) struct DeriveArgs {
    #[command(flatten)]
    pub(super) key: KeyArgs,
    /// The peer's public key: 32 bytes, PEM or DER
    #[arg(long, value_name = "FILE")]
    pub(super) peer: PathBuf,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(super) struct SealArgs {
    /// A symmetric key that lives at the server, by name
    #[arg(long, value_name = "NAME")]
    pub(super) key: String,
    #[arg(long, value_name = "NAME", help = cipher_help())]
    pub(super) cipher: Option<Cipher>,
    /// The IV in hexadecimal digits, if the key's policy takes the caller's [default: the server makes a new one]
    #[arg(long, value_name = "HEX")]
    pub(super) iv: Option<String>,
    /// Text that GCM authenticates with the value; open needs the same
    #[arg(long, value_name = "TEXT")]
    pub(super) aad: Option<String>,
    /// The value, for CBC in whole blocks; - for stdin
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(super) input: PathBuf,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(super) struct OpenArgs {
    /// A symmetric key that lives at the server, by name
    #[arg(long, value_name = "NAME")]
    pub(super) key: String,
    #[arg(long, value_name = "NAME", help = cipher_help())]
    pub(super) cipher: Option<Cipher>,
    /// The text that seal had
    #[arg(long, value_name = "TEXT")]
    pub(super) aad: Option<String>,
    /// The output of seal, as raw bytes; - for stdin
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(super) input: PathBuf,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(super) struct MacArgs {
    /// A symmetric key that lives at the server, by name
    #[arg(long, value_name = "NAME")]
    pub(super) key: String,
    #[arg(long = "mac", value_name = "NAME", value_parser = mac_alg, help = mac_help())]
    pub(super) alg: Option<MacAlg>,
    /// Leading bytes of the code, at least 4 [default: all]
    #[arg(long, value_name = "BYTES")]
    pub(super) length: Option<u32>,
    /// The message; - for stdin
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(super) input: PathBuf,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

fn cipher_help() -> String {
    format!("Cipher: {} [default: GCM under AES keys, else CBC]", names(&Cipher::ALL))
}

fn mac_help() -> String {
    format!("Algorithm: {} [default: hmac-sha256, CMAC, or des-mac, as suits the key]", names(&MacAlg::ALL))
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

/// False if an address lacks its scheme, as `localhost:7443` does, has another one, or is empty. The path of a socket may have
/// any name if a directory stands before it.
fn is_path(address: &str) -> bool {
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let has_port = address.rsplit_once(':').is_some_and(|(_, port)| is_port(port));
    !address.is_empty() && !address.contains("://") && (address.contains('/') || !has_port)
}

impl ServerArgs {
    /// The server, with the development set-up in the place of what was not said.
    pub(crate) fn endpoint(&self) -> Result<Endpoint, CallError> {
        match &self.server {
            Some(server) => self.at(server),
            None => Ok(self.unix(self.development()?.socket())),
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
        if !is_path(server) {
            return Err(CallError::Address { found: server.to_owned() });
        }
        Ok(self.unix(server.into()))
    }

    fn unix(&self, path: PathBuf) -> Endpoint {
        let server_uids = oarlock_ffi::uid_of(&self.server_user).into_iter().collect();
        Endpoint::UnixOf { path, server_uids }
    }

    fn development(&self) -> Result<Development, CallError> {
        match &self.state {
            Some(state) => Ok(Development::at(state)),
            None => Ok(Development::of_user()?),
        }
    }

    fn credentials(&self) -> Result<Credentials, CallError> {
        if self.cert.is_some() != self.cert_key.is_some() {
            return Err(CallError::HalfIdentity {
                given: if self.cert.is_some() { "--cert" } else { "--cert-key" },
                missing: if self.cert.is_some() { "--cert-key" } else { "--cert" },
            });
        }
        let or = |own: &Option<PathBuf>, other: fn(&Development) -> PathBuf| match own {
            Some(path) => Ok::<_, CallError>(path.clone()),
            None => Ok(other(&self.development()?)),
        };
        Ok(Credentials {
            server_ca: super::read(&or(&self.ca, Development::ca)?)?.to_vec(),
            certificate: super::read(&or(&self.cert, Development::client_certificate)?)?.to_vec(),
            private_key: Zeroizing::new(
                super::read_key(&or(&self.cert_key, Development::client_key)?)?.to_vec(),
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_its_scheme_is_no_path() {
        for address in ["localhost:7443", "[::1]:7443", "10.0.0.1:1", "tcp://localhost:7443", ""] {
            assert!(!is_path(address), "{address}");
        }
        for path in ["/run/oarlock/oarlock.sock", "./localhost:7443", "oarlock.sock", "a:b"] {
            assert!(is_path(path), "{path}");
        }
    }
}
