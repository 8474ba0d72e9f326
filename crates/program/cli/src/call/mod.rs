//! `oarlock call`: a client of the cryptoserver.

mod args;
mod error;
mod peers;
mod scheme;
mod symmetric;

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use oarlock::keys::reference::Reference;
use oarlock::keys::{export, import};
use oarlock::{Job, JobError, Key, MlDsaSet, MlDsaVariant, MlKemSet, Scheme};
use oarlock_files::output::write_private;
use oarlock_key_files::read_private;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::screen::wants_colour;
use oarlock_terminal::table::{TableCell, TextTable, count};
use oarlock_wire::proto::{self, open_key, request, response};
use zeroize::Zeroizing;

pub(crate) use self::args::{CallArgs, ServerArgs};
use self::args::{CallCommand, CallKeyArgs, ContextArgs, InputArgs, OutputArgs};
pub(crate) use self::error::CallError;
use self::peers::CallPeers;
pub(crate) use self::peers::{connect_observer, server_holder};
use self::scheme::ChosenScheme;
use crate::runtime::run_future;

pub(crate) fn run(global: &GlobalOptions, args: &CallArgs) -> Result<(), CallError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CallError::Runtime)?;
    run_future(&runtime, async {
        let call = CallSession { global, peers: CallPeers::connect(global, args).await? };
        match &args.command {
            CallCommand::Sign(args) => call.sign(args).await,
            CallCommand::Verify(args) => call.verify(args).await,
            CallCommand::Encrypt(args) => call.encrypt(args).await,
            CallCommand::Decrypt(args) => call.decrypt(args).await,
            CallCommand::Rewrap(args) => call.rewrap(args).await,
            CallCommand::Derive(args) => call.derive(args).await,
            CallCommand::Encapsulate(args) => call.encapsulate(args).await,
            CallCommand::Decapsulate(args) => call.decapsulate(args).await,
            CallCommand::Mac(args) => call.mac(args).await,
            CallCommand::Keys => call.keys().await,
            CallCommand::PublicKey(args) => call.public_key(args).await,
            CallCommand::Engines => call.engines().await,
        }
    })
}

struct CallSession<'c> {
    global: &'c GlobalOptions,
    peers: CallPeers,
}

impl CallSession<'_> {
    async fn sign(&self, args: &args::CallSignArgs) -> Result<(), CallError> {
        let key = self.open(&args.key).await?;
        let scheme = scheme::sign(args.chosen(), key.kind())?;
        let context = args.context.context_for(scheme, &args.input)?;
        let input = args.input.read()?;
        let job = Job::with_scheme(scheme, &key, args.input.input(&input), &[]).context(&context);
        let signature = self.job(job).await?;
        self.write_result(&args.output, &signature, &scheme.to_string())
    }

    async fn verify(&self, args: &args::CallVerifyArgs) -> Result<(), CallError> {
        let key = self.open(&args.key).await?;
        let scheme = scheme::verify(args.chosen(), key.kind())?;
        let context = args.context.context_for(scheme, &args.input)?;
        let (input, signature) = (args.input.read()?, read(&args.signature)?);
        let job = Job::with_scheme(scheme, &key, args.input.input(&input), &signature).context(&context);
        let is_valid = match self.job(job).await {
            Ok(_) => true,
            Err(CallError::Job(JobError::Rejected)) => false,
            Err(error) => return Err(error),
        };
        if self.global.json {
            writeln!(
                io::stdout(),
                "{}",
                serde_json::json!({ "scheme": scheme.to_string(), "valid": is_valid })
            )?;
        } else {
            writeln!(
                io::stdout(),
                "{}",
                if is_valid { "the signature is valid" } else { "the signature is NOT valid" }
            )?;
        }
        if is_valid { Ok(()) } else { Err(CallError::Job(JobError::Rejected)) }
    }

    async fn decrypt(&self, args: &args::CallDecryptArgs) -> Result<(), CallError> {
        // Without the options of RSA, the kind of the key decides.
        if let (Some(name), None, None) = (&args.key.key, &args.scheme, &args.label)
            && let Some(key) = self.find_symmetric(name).await?
        {
            return self.decrypt_value(args, key).await;
        }
        if args.cipher.is_some() || args.aad.is_some() {
            return Err(CallError::Usage(
                "--cipher and --aad are for symmetric keys: expected --scheme and --label",
            ));
        }
        let key = self.open(&args.key).await?;
        let scheme = scheme::decrypt(args.scheme.as_deref().unwrap_or("rsa-oaep-sha256"), key.kind())?;
        let ciphertext = read(&args.input)?;
        let label = args.label.as_deref().unwrap_or_default().as_bytes();
        let input = oarlock::Input::Message(&ciphertext);
        let plaintext = self.job(Job::with_scheme(scheme, &key, input, label)).await?;
        self.write_secret(&args.output, &plaintext, &scheme.to_string())
    }

    async fn derive(&self, args: &args::DeriveArgs) -> Result<(), CallError> {
        let key = self.open(&args.key).await?;
        let scheme = scheme::derive(key.kind())?;
        let peer = peer(&read(&args.peer)?, scheme)?;
        let shared = self.job(Job::agree(&key, &peer)).await?;
        self.write_secret(&args.output, &shared, &scheme.to_string())
    }

    async fn encapsulate(&self, args: &args::EncapsulateArgs) -> Result<(), CallError> {
        let in_json = self.global.json && args.output.is_plain();
        // Asked for before the call: the secret is of no use without its ciphertext.
        if args.ciphertext.is_none() && !in_json {
            return Err(CallError::Usage("expected --ciphertext FILE, or --json and no form of the secret"));
        }
        let key = self.open(&args.key).await?;
        let scheme = scheme::encapsulate(key.kind())?;
        let answer = self.job(Job::encapsulate(&key)).await?;
        let (ciphertext, secret) =
            answer.split_last_chunk::<{ MlKemSet::SECRET_LEN }>().ok_or(CallError::Unexpected)?;
        if let Some(path) = &args.ciphertext {
            write_out(Some(path), ciphertext)?;
        }
        if in_json {
            let value = serde_json::json!({
                "scheme": scheme.to_string(), "ciphertext": hex(ciphertext), "hex": hex(secret),
            });
            return Ok(writeln!(io::stdout(), "{value}")?);
        }
        self.write_secret(&args.output, secret, &scheme.to_string())
    }

    async fn decapsulate(&self, args: &args::DecapsulateArgs) -> Result<(), CallError> {
        let key = self.open(&args.key).await?;
        let scheme = scheme::decapsulate(key.kind())?;
        let ciphertext = read(&args.input)?;
        // The server would only say that it is wrong.
        if let Scheme::MlKemDecaps { set } = scheme
            && ciphertext.len() != set.ciphertext_len()
        {
            return Err(CallError::CiphertextLen { set, found: ciphertext.len() });
        }
        let secret = self.job(Job::decapsulate(&key, &ciphertext)).await?;
        self.write_secret(&args.output, &secret, &scheme.to_string())
    }

    async fn keys(&self) -> Result<(), CallError> {
        let body = request::Body::ListKeys(proto::ListKeysRequest {});
        let response::Body::Keys(list) = self.peers.one()?.call(body).await? else {
            return Err(CallError::Unexpected);
        };
        if list.keys.is_empty() {
            eprintln!(
                "oarlock: this client may use no key: no grant of the server names it, or the keys of its grants do not exist"
            );
        }
        if self.global.json {
            let rows: Vec<_> = list.keys.iter().map(about).collect();
            return Ok(writeln!(io::stdout(), "{}", serde_json::Value::from(rows))?);
        }
        if list.keys.is_empty() {
            return Ok(());
        }
        let head = ["key", "kind", "may be used for", "fingerprint", "certificates"];
        let mut table = TextTable::with_columns(head, []);
        for key in &list.keys {
            let fingerprint = match lasting_fingerprint(key) {
                // Never too short: `lasting_fingerprint` takes eight bytes or more.
                Some(whole) => TableCell::from(&whole[..16]),
                None => TableCell::none(),
            };
            let [name, kind, allowed] =
                [&*key.name, &*key.kind, &*key.allowed.join(" ")].map(TableCell::from);
            let certificates = match key.certificates.len() {
                0 => TableCell::none(),
                len => TableCell::from(&*len.to_string()),
            };
            table.row([name, kind, allowed, fingerprint, certificates]);
        }
        let table = table.without_empty_columns();
        Ok(write!(io::stdout(), "{}", table.render(wants_colour()))?)
    }

    async fn public_key(&self, args: &args::PublicKeyArgs) -> Result<(), CallError> {
        let body = request::Body::GetPublicKey(proto::GetPublicKeyRequest { name: args.name.clone() });
        let response::Body::Key(info) = self.peers.one()?.call(body).await? else {
            return Err(CallError::Unexpected);
        };
        // Symmetric keys have no public half.
        if info.public_key.is_empty() {
            return Err(CallError::NoPublicKey { name: args.name.clone() });
        }
        let key = import::spki_der(&info.public_key)?;
        let pem = match args.reference {
            true => Reference { name: args.name.clone(), spki: Some(export::spki_der(&key)?) }.to_pem()?,
            false => export::spki_pem(&key)?,
        };
        if self.global.json {
            let mut about = about(&info);
            about[if args.reference { "reference" } else { "pem" }] = pem.into();
            return Ok(writeln!(io::stdout(), "{about}")?);
        }
        write_out(args.out.as_deref(), pem.as_bytes())
    }

    async fn engines(&self) -> Result<(), CallError> {
        let body = request::Body::ListEngines(proto::ListEnginesRequest {});
        let response::Body::Engines(list) = self.peers.one()?.call(body).await? else {
            return Err(CallError::Unexpected);
        };
        if self.global.json {
            let rows: Vec<_> = list
                .engines
                .iter()
                .map(|engine| serde_json::json!({ "name": engine.name, "shapes": engine.shapes, "absence": engine.absence }))
                .collect();
            return Ok(writeln!(
                io::stdout(),
                "{}",
                serde_json::json!({ "version": list.version, "engines": rows })
            )?);
        }
        let mut out = io::stdout().lock();
        writeln!(out, "oarlock {}", list.version)?;
        for engine in &list.engines {
            match engine.absence.as_str() {
                "" => writeln!(out, "{}: {}", engine.name, count(engine.shapes.len() as u64, "shape"))?,
                absence => writeln!(out, "{}: absent, {absence}", engine.name)?,
            }
        }
        Ok(())
    }

    /// Opens a key at the server, and returns its public half, which stands for it in jobs.
    async fn open(&self, args: &CallKeyArgs) -> Result<Key, CallError> {
        let source = match (&args.key, &args.own_key) {
            (Some(name), _) => open_key::Source::Resident(name.clone()),
            (None, Some(path)) => open_key::Source::Asymmetric(read_own(path)?.to_vec().into()),
            (None, None) => return Err(CallError::Usage("expected --key or --own-key")),
        };
        let key = self.peers.open(source).await?;
        self.global.note(|| format!("the key is {:?}, {}", key.kind(), key.fingerprint()));
        Ok(key)
    }

    async fn job(&self, job: Job<'_>) -> Result<Zeroizing<Vec<u8>>, CallError> {
        let answer = self.peers.job(job).await;
        // Also after an error: then the reports say which server has caused it.
        self.peers.report(self.global);
        answer
    }

    /// Writes a result that is not secret.
    fn write_result(&self, output: &OutputArgs, bytes: &[u8], scheme: &str) -> Result<(), CallError> {
        self.write_with(output, bytes, scheme, write_out)
    }

    /// Writes a plaintext or a shared secret. Only the owner can read its file.
    fn write_secret(&self, output: &OutputArgs, bytes: &[u8], scheme: &str) -> Result<(), CallError> {
        self.write_with(output, bytes, scheme, write_secret_out)
    }

    /// Writes raw bytes to a file or a pipe, or text if it was asked for. A terminal gets no raw bytes.
    fn write_with(
        &self,
        output: &OutputArgs,
        bytes: &[u8],
        scheme: &str,
        write_out: fn(Option<&Path>, &[u8]) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        let out = output.out.as_deref();
        if output.hex {
            return write_out(out, Zeroizing::new(hex(bytes) + "\n").as_bytes());
        }
        if output.base64 {
            return write_out(out, Zeroizing::new(base64(bytes) + "\n").as_bytes());
        }
        if self.global.json && out.is_none() {
            let value = serde_json::json!({ "scheme": scheme, "hex": hex(bytes) });
            return Ok(writeln!(io::stdout(), "{value}")?);
        }
        if out.is_none() && io::stdout().is_terminal() {
            return Err(CallError::Usage(
                "stdout is a terminal and the result is raw bytes: expected --hex, --base64, --out FILE or a pipe",
            ));
        }
        write_out(out, bytes)
    }
}

impl OutputArgs {
    /// True if no file and no form was asked for.
    fn is_plain(&self) -> bool {
        self.out.is_none() && !self.hex && !self.base64
    }
}

impl args::CallSignArgs {
    fn chosen(&self) -> ChosenScheme<'_> {
        ChosenScheme::new(self.scheme.as_deref(), self.context.pre_hash.as_deref())
    }
}

impl args::CallVerifyArgs {
    fn chosen(&self) -> ChosenScheme<'_> {
        ChosenScheme::new(self.scheme.as_deref(), self.context.pre_hash.as_deref())
    }
}

impl ContextArgs {
    /// Returns the context, which is empty if none was given.
    fn context_for(&self, scheme: Scheme, input: &InputArgs) -> Result<Vec<u8>, CallError> {
        let variant = match scheme {
            Scheme::MlDsaSign { variant, .. } | Scheme::MlDsaVerify { variant, .. } => Some(variant),
            _ => None,
        };
        if variant == Some(MlDsaVariant::ExternalMu) && !input.digest {
            return Err(CallError::Usage("--scheme mu-ml-dsa: expected --digest and a file of mu, 64 bytes"));
        }
        let context = match (&self.context, &self.context_hex) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(digits)) => from_hex(digits)
                .ok_or(CallError::Usage("--context-hex: expected an even number of hexadecimal digits"))?,
            (None, None) => return Ok(Vec::new()),
        };
        if !scheme.takes_context() {
            return Err(CallError::NoContext { scheme });
        }
        match context.len() {
            ..=MlDsaSet::MAX_CONTEXT_LEN => Ok(context),
            found => Err(CallError::LongContext { found }),
        }
    }
}

impl InputArgs {
    fn read(&self) -> Result<Zeroizing<Vec<u8>>, CallError> {
        read(&self.input)
    }

    fn input<'i>(&self, bytes: &'i [u8]) -> oarlock::Input<'i> {
        if self.digest { oarlock::Input::Digest(bytes) } else { oarlock::Input::Message(bytes) }
    }
}

/// Reads a peer's public key for a scheme: its raw bytes (32 for X25519, an uncompressed point for ECDH), PEM or DER.
fn peer(bytes: &[u8], scheme: Scheme) -> Result<Vec<u8>, CallError> {
    let (raw_len, expected) = match scheme {
        Scheme::Ecdh { curve } => (
            curve.point_len(),
            "--peer: expected a public key on the curve of the key, as an uncompressed point, PEM or DER",
        ),
        _ => (32, "--peer: expected an X25519 public key, as 32 bytes, PEM or DER"),
    };
    // No PEM or DER of a public key is as short as its raw bytes.
    if bytes.len() == raw_len {
        return Ok(bytes.to_vec());
    }
    let key = import::any(bytes, None)?;
    let public = match scheme {
        Scheme::Ecdh { curve } => {
            key.ec_public().filter(|(key_curve, _)| *key_curve == curve).map(|(_, point)| point)
        }
        _ => key.x25519_public().map(|public| &public[..]),
    };
    public.map(<[u8]>::to_vec).ok_or(CallError::Usage(expected))
}

fn about(info: &proto::KeyInfo) -> serde_json::Value {
    serde_json::json!({
        "name": info.name, "kind": info.kind, "fingerprint": lasting_fingerprint(info), "allowed": info.allowed,
        "public_key": hex(&info.public_key),
        "certificates": info.certificates.iter().map(|certificate| hex(certificate)).collect::<Vec<_>>(),
    })
}

/// Returns the fingerprint of a key that has a public half. That of a symmetric key is drawn at random at each start of
/// the server, so it is not shown.
fn lasting_fingerprint(info: &proto::KeyInfo) -> Option<String> {
    (!info.public_key.is_empty() && info.fingerprint.len() >= 8).then(|| hex(&info.fingerprint))
}

fn base64(bytes: &[u8]) -> String {
    let mut text = oarlock_records::SecretBuffer::default();
    oarlock_records::Encoding::Base64.encode(bytes, &mut text);
    String::from_utf8_lossy(&text[..]).into_owned()
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let mut bytes = oarlock_records::SecretBuffer::default();
    oarlock_records::Encoding::Hex.decode(digits.as_bytes(), &mut bytes)?;
    Some(bytes[..].to_vec())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a private key. Other users must not be able to read its file.
fn read_key(path: &Path) -> Result<Zeroizing<Vec<u8>>, CallError> {
    if path == Path::new("-") {
        return read(path);
    }
    read_private(path, MAX_KEY_BYTES).map_err(|error| CallError::Read { path: path.to_owned(), error })
}

/// Reads the caller's own key. Everybody may read the file of a public key.
fn read_own(path: &Path) -> Result<Zeroizing<Vec<u8>>, CallError> {
    // Read first, because only the content tells whether the file must be private.
    let bytes = read(path)?;
    if import::private_key_format(&bytes).is_some() { read_key(path) } else { Ok(bytes) }
}

/// The largest key file in bytes, far more than a chain of certificates and a key.
const MAX_KEY_BYTES: usize = 1 << 20;

fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, CallError> {
    let mut bytes = Zeroizing::new(Vec::new());
    let read = if path == Path::new("-") {
        io::stdin().read_to_end(&mut bytes).map(drop)
    } else {
        fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)).map(drop)
    };
    read.map_err(|error| CallError::Read { path: path.to_owned(), error })?;
    Ok(bytes)
}

fn write_out(out: Option<&Path>, bytes: &[u8]) -> Result<(), CallError> {
    match out {
        Some(path) => {
            fs::write(path, bytes).map_err(|error| CallError::Write { path: path.to_owned(), error })
        }
        None => Ok(io::stdout().write_all(bytes)?),
    }
}

/// Writes a secret to stdout, or to a file that only its owner can read.
fn write_secret_out(out: Option<&Path>, bytes: &[u8]) -> Result<(), CallError> {
    let Some(path) = out else { return Ok(io::stdout().write_all(bytes)?) };
    write_private(path, bytes).map_err(|error| CallError::Write { path: path.to_owned(), error })
}
