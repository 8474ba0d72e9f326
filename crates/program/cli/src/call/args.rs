//! Arguments of `oarlock call`, and the address of the server.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use oarlock::MacAlg;
use oarlock_records::RowCipher;
use oarlock_server::development::Development;
use oarlock_wire::{Credentials, Endpoint, ServerSettingsError, ServerUsers};

use super::CallError;
use crate::key_path::key_path;
use crate::named_values;

/// Arguments of `oarlock call`.
#[derive(Args, Debug)]
#[command(
    after_help = "Without --server the command calls the server that `oarlock serve` starts without --config on this machine, for \
                  this user.\n\n\
                  Examples: oarlock call keys\n          \
                  oarlock call sign --key rsa2048 --in hello.txt --out hello.sig\n          \
                  oarlock call verify --key rsa2048 --in hello.txt --signature hello.sig\n          \
                  oarlock call --server https://crypto.example.com:7443 --ca ca.pem --cert me.pem --cert-key me-key.pem keys\n\n\
                  Exit codes: 0 done, 1 the signature or value is not valid, 2 wrong usage or input, 3 the server failed."
)]
pub(crate) struct CallArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    #[command(flatten)]
    pub(super) servers: ServersArgs,
    #[command(subcommand)]
    pub(super) command: CallCommand,
}

/// Further servers that have the key or a share of it, and the use of their answers.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Connection")]
pub(super) struct ServersArgs {
    /// Further server with the same key, written as for --server; repeatable. If one fails, another is asked
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub(super) also: Vec<String>,
    /// Accept an answer only if this many servers give it, 1 to the number of servers [default: 1]
    #[arg(long, global = true, value_name = "K", conflicts_with = "threshold_key")]
    pub(super) agree: Option<u8>,
    /// Threshold key that the servers share: NAME.threshold.pem, which `oarlock keys split` writes (experimental)
    #[arg(long, global = true, value_name = "FILE", value_parser = key_path())]
    pub(super) threshold_key: Option<PathBuf>,
}

impl ServersArgs {
    /// True if one stream to one server is not enough.
    pub(super) fn are_several(&self) -> bool {
        !self.also.is_empty() || self.agree.is_some() || self.threshold_key.is_some()
    }
}

/// The server, and the credentials of both sides.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ServerArgs {
    /// Server: https://HOST:PORT, http://HOST:PORT, or the path of a UNIX socket [default: oarlock.sock in the
    /// directory of --state]
    #[arg(long, global = true, value_name = "ADDRESS", env = "OARLOCK_SERVER")]
    pub(crate) server: Option<String>,
    /// Certificate of the authority that certifies the server, in PEM [default: ca.pem in the directory of --state]
    #[arg(long, global = true, value_name = "FILE", env = "OARLOCK_CA", value_parser = key_path())]
    ca: Option<PathBuf>,
    /// Certificate of the client, in PEM [default: client.pem in the directory of --state]
    #[arg(long, global = true, value_name = "FILE", env = "OARLOCK_CERT", value_parser = key_path())]
    cert: Option<PathBuf>,
    /// Private key of the client, in PEM [default: client-key.pem in the directory of --state]
    #[arg(long, global = true, value_name = "FILE", env = "OARLOCK_KEY", value_parser = key_path())]
    cert_key: Option<PathBuf>,
    /// User whose UNIX socket is trusted, besides those of root and of this user: a name or a number
    #[arg(long, global = true, value_name = "USER", default_value = "oarlock")]
    server_user: String,
    /// Directory of the server that `oarlock serve` set up without --config [default: $XDG_STATE_HOME/oarlock, else
    /// ~/.local/state/oarlock]
    #[arg(long, global = true, value_name = "DIRECTORY")]
    state: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(super) enum CallCommand {
    /// Sign the content of a file
    Sign(CallSignArgs),
    /// Verify the signature of a file; exit code 1 if it is not valid
    Verify(CallVerifyArgs),
    /// Encrypt a value under a symmetric key: the result is the IV, the ciphertext and the tag
    #[command(visible_alias = "seal")]
    Encrypt(CallEncryptArgs),
    /// Decrypt a file under an RSA key, or the output of `call encrypt`; exit code 1 if that is not authentic
    #[command(visible_alias = "open")]
    Decrypt(CallDecryptArgs),
    /// Decrypt the output of `call encrypt`, and encrypt it again under the newest version of its key or under another
    /// key. The value does not leave the server
    Rewrap(CallRewrapArgs),
    /// Derive a shared secret with an X25519 or EC key
    Derive(DeriveArgs),
    /// Make a shared secret and its ciphertext under an ML-KEM key
    Encapsulate(EncapsulateArgs),
    /// Recover the shared secret of a ciphertext with an ML-KEM key
    Decapsulate(DecapsulateArgs),
    /// Make a message authentication code under a symmetric key
    Mac(CallMacArgs),
    /// List the keys that this client may use
    Keys,
    /// Print the public half of a key in PEM
    PublicKey(PublicKeyArgs),
    /// List the engines of the server
    Engines,
}

/// The selection of a key.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(super) struct CallKeyArgs {
    /// Name of a key of the server
    #[arg(long, value_name = "NAME")]
    pub(super) key: Option<String>,
    /// File of your own key, in PEM or DER. The server uses it for this call and then forgets it
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) own_key: Option<PathBuf>,
}

/// The message or the digest.
#[derive(Args, Debug)]
pub(super) struct InputArgs {
    /// File of the message; - is stdin
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(super) input: PathBuf,
    /// The file contains the digest of the message, or the mu of mu-ml-dsa, as raw bytes
    #[arg(long)]
    pub(super) digest: bool,
}

/// The options of ML-DSA and SLH-DSA.
#[derive(Args, Debug)]
pub(super) struct ContextArgs {
    /// Context of the signature, under an ML-DSA, SLH-DSA or composite key: a text of at most 255 bytes [default:
    /// empty]
    #[arg(long, value_name = "TEXT")]
    pub(super) context: Option<String>,
    /// Context in hexadecimal digits
    #[arg(long, value_name = "HEX", conflicts_with = "context")]
    pub(super) context_hex: Option<String>,
    /// Digest of HashML-DSA or HashSLH-DSA, under a key of these: sha256, sha384, sha512, shake256 and others [default:
    /// none]
    #[arg(long, value_name = "NAME", conflicts_with = "scheme")]
    pub(super) pre_hash: Option<String>,
}

/// The file of a result, and its form.
#[derive(Args, Debug)]
pub(super) struct OutputArgs {
    /// File for the result [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Write the result in hexadecimal digits with a line end
    #[arg(long)]
    pub(super) hex: bool,
    /// Write the result in base64 with a line end
    #[arg(long, conflicts_with = "hex")]
    pub(super) base64: bool,
}

#[derive(Args, Debug)]
pub(super) struct CallSignArgs {
    #[command(flatten)]
    pub(super) key: CallKeyArgs,
    /// Scheme: rsa-pkcs1-DIGEST, rsa-pss-DIGEST, ecdsa-DIGEST, ecdsa-DIGEST-fixed, ed25519, ml-dsa, mu-ml-dsa,
    /// slh-dsa, composite [default: suits the key, with SHA-256 or the curve's own digest]
    #[arg(long)]
    pub(super) scheme: Option<String>,
    #[command(flatten)]
    pub(super) context: ContextArgs,
    #[command(flatten)]
    pub(super) input: InputArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(super) struct CallVerifyArgs {
    #[command(flatten)]
    pub(super) key: CallKeyArgs,
    /// Scheme, as with sign; and hss, xmss
    #[arg(long)]
    pub(super) scheme: Option<String>,
    #[command(flatten)]
    pub(super) context: ContextArgs,
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// File of the signature
    #[arg(long, value_name = "FILE")]
    pub(super) signature: PathBuf,
}

#[derive(Args, Debug)]
pub(super) struct CallDecryptArgs {
    #[command(flatten)]
    pub(super) key: CallKeyArgs,
    /// Under an RSA key, the scheme: rsa-oaep-DIGEST, or rsa-pkcs1 with implicit rejection [default: rsa-oaep-sha256]
    #[arg(long)]
    pub(super) scheme: Option<String>,
    /// Under an RSA key, the label of OAEP
    #[arg(long)]
    pub(super) label: Option<String>,
    /// Cipher [default: GCM under AES keys, else CBC]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["scheme", "label"], value_parser = named_values::cipher())]
    pub(super) cipher: Option<RowCipher>,
    /// Under a symmetric key, the text that was given to `call encrypt`
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["scheme", "label"])]
    pub(super) aad: Option<String>,
    /// File of the ciphertext, as raw bytes; - is stdin
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(super) input: PathBuf,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(super) struct DeriveArgs {
    #[command(flatten)]
    pub(super) key: CallKeyArgs,
    /// File of the peer's public key: 32 bytes for X25519, an uncompressed point for an EC key, or PEM or DER
    #[arg(long, value_name = "FILE")]
    pub(super) peer: PathBuf,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(super) struct EncapsulateArgs {
    #[command(flatten)]
    pub(super) key: CallKeyArgs,
    /// File for the ciphertext, as raw bytes. A JSON document may hold it instead
    #[arg(long, value_name = "FILE")]
    pub(super) ciphertext: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(super) struct DecapsulateArgs {
    #[command(flatten)]
    pub(super) key: CallKeyArgs,
    /// File of the ciphertext, as raw bytes; - is stdin
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(super) input: PathBuf,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(super) struct CallEncryptArgs {
    /// Name of a symmetric key of the server
    #[arg(long, value_name = "NAME")]
    pub(super) key: String,
    /// Cipher [default: GCM under AES keys, else CBC]
    #[arg(long, value_name = "NAME", value_parser = named_values::cipher())]
    pub(super) cipher: Option<RowCipher>,
    /// IV in hexadecimal digits, if the key's policy allows one from the caller [default: the server makes a new one]
    #[arg(long, value_name = "HEX")]
    pub(super) iv: Option<String>,
    /// Text that is authenticated with the value; decrypt needs the same text
    #[arg(long, value_name = "TEXT")]
    pub(super) aad: Option<String>,
    /// File of the value, whole blocks for CBC; - is stdin
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(super) input: PathBuf,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(super) struct CallRewrapArgs {
    /// Name of a symmetric key of the server, with the version that encrypted, such as cards@2
    #[arg(long, value_name = "NAME")]
    pub(super) key: String,
    /// Cipher [default: GCM under AES keys, else CBC]
    #[arg(long, value_name = "NAME", value_parser = named_values::cipher())]
    pub(super) cipher: Option<RowCipher>,
    /// Text that was given to `call encrypt`
    #[arg(long, value_name = "TEXT")]
    pub(super) aad: Option<String>,
    /// Key that encrypts [default: the newest version of --key]
    #[arg(long, value_name = "NAME")]
    pub(super) to_key: Option<String>,
    /// Cipher of --to-key [default: as for --cipher]
    #[arg(long, value_name = "NAME", value_parser = named_values::cipher(), hide_possible_values = true)]
    pub(super) to_cipher: Option<RowCipher>,
    /// File with the output of `call encrypt`, as raw bytes; - is stdin
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(super) input: PathBuf,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(super) struct CallMacArgs {
    /// Name of a symmetric key of the server
    #[arg(long, value_name = "NAME")]
    pub(super) key: String,
    /// Algorithm [default: hmac-sha256, CMAC, or des-mac, as suits the key]
    #[arg(long = "mac", value_name = "NAME", value_parser = named_values::mac())]
    pub(super) alg: Option<MacAlg>,
    /// Length of the MAC in bytes, from 4 to the length of the algorithm [default: the length of the algorithm]
    #[arg(long, value_name = "BYTES")]
    pub(super) length: Option<u32>,
    /// File of the message; - is stdin
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(super) input: PathBuf,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(super) struct PublicKeyArgs {
    /// Name of the key
    pub(super) name: String,
    /// Write a reference instead of the public key: the key's name and its public half in one file, for programs that
    /// use the key of the server
    #[arg(long)]
    pub(super) reference: bool,
    /// File to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

/// False if an address lacks its scheme, as `localhost:7443` does, has another one, or is empty. The path of a socket
/// may have any name if a directory stands before it.
fn is_path(address: &str) -> bool {
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let has_port = address.rsplit_once(':').is_some_and(|(_, port)| is_port(port));
    !address.is_empty() && !address.contains("://") && (address.contains('/') || !has_port)
}

impl ServerArgs {
    /// True if the user names a server, so that no other one gets any data.
    pub(crate) fn is_named(&self) -> bool {
        self.server.is_some() || self.state.is_some()
    }

    /// Returns the endpoint of the server. The development set-up supplies everything that was not given.
    pub(crate) fn endpoint(&self) -> Result<Endpoint, CallError> {
        match &self.server {
            Some(server) => self.at(server),
            None => Ok(self.unix(self.development()?.socket())),
        }
    }

    /// Returns the endpoint of another server with the same certificates.
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
        Endpoint::Unix { path, users: ServerUsers::with_user(&self.server_user) }
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
        let or = |given: &Option<PathBuf>, other: fn(&Development) -> PathBuf| match given {
            Some(path) if path.as_os_str() == "-" => Ok("/dev/stdin".into()),
            Some(path) => Ok::<_, CallError>(path.clone()),
            None => Ok(other(&self.development()?)),
        };
        let read = Credentials::read(
            &or(&self.ca, Development::ca)?,
            &or(&self.cert, Development::client_certificate)?,
            &or(&self.cert_key, Development::client_key)?,
        );
        read.map_err(|error| match error {
            ServerSettingsError::File { path, error, .. } => CallError::Read { path, error },
            _ => CallError::Usage("--ca, --cert and --cert-key: expected the names of files"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_its_scheme_is_not_a_path() {
        for address in ["localhost:7443", "[::1]:7443", "10.0.0.1:1", "tcp://localhost:7443", ""] {
            assert!(!is_path(address), "{address}");
        }
        for path in ["/run/oarlock/oarlock.sock", "./localhost:7443", "oarlock.sock", "a:b"] {
            assert!(is_path(path), "{path}");
        }
    }
}
