//! Certificates, peers and engines for the tests.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use oarlock::engine_api::{BatchSize, Engine, EngineFault, Jobs};
use oarlock::{Accelerator, Outcomes, SchedulerConfig, Shape, Status};
use oarlock_scalar::ScalarEngine;
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair, RsaKeySize};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, NamedGroup, RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::LocalSet;

/// The kinds of keys that certificates have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyChoice {
    Rsa2048,
    P256,
    P384,
    Ed25519,
    MlDsa44,
    MlDsa65,
    MlDsa87,
}

/// For TLS 1.2 and 1.3.
pub(crate) const ALL_KEYS: [KeyChoice; 4] =
    [KeyChoice::Rsa2048, KeyChoice::P256, KeyChoice::P384, KeyChoice::Ed25519];
/// For TLS 1.3 only.
pub(crate) const ML_DSA_KEYS: [KeyChoice; 3] = [KeyChoice::MlDsa44, KeyChoice::MlDsa65, KeyChoice::MlDsa87];
pub(crate) const BOTH_VERSIONS: [&SupportedProtocolVersion; 2] =
    [&rustls::version::TLS12, &rustls::version::TLS13];
pub(crate) const HYBRIDS: [NamedGroup; 2] = [NamedGroup::X25519MLKEM768, NamedGroup::secp256r1MLKEM768];

/// A certificate with its key, and the authority that issued it.
pub(crate) struct Identity {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) chain_pem: String,
    pub(crate) key_der: Vec<u8>,
    pub(crate) authority: CertificateDer<'static>,
}

impl KeyChoice {
    pub(crate) fn generate(self) -> KeyPair {
        match self {
            Self::Rsa2048 => KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_2048),
            Self::P256 => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256),
            Self::P384 => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384),
            Self::Ed25519 => KeyPair::generate_for(&rcgen::PKCS_ED25519),
            Self::MlDsa44 => KeyPair::generate_for(&rcgen::PKCS_ML_DSA_44),
            Self::MlDsa65 => KeyPair::generate_for(&rcgen::PKCS_ML_DSA_65),
            Self::MlDsa87 => KeyPair::generate_for(&rcgen::PKCS_ML_DSA_87),
        }
        .unwrap()
    }
}

impl Identity {
    /// The authority has the same kind of key.
    pub(crate) fn new(choice: KeyChoice) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, choice.generate()).unwrap();
        let key = choice.generate();
        let leaf = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = leaf.signed_by(&key, &issuer).unwrap();
        Self {
            chain: vec![certificate.der().clone()],
            chain_pem: certificate.pem(),
            key_der: key.serialize_der(),
            authority: issuer.der().clone(),
        }
    }

    pub(crate) fn key(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key_der.clone()).into()
    }

    pub(crate) fn roots(&self) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.clone()).unwrap();
        Arc::new(roots)
    }
}

/// The provider of rustls, for the other side.
pub(crate) fn plain() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

/// The provider of rustls with all of its groups, the hybrids first.
pub(crate) fn plain_with_hybrids() -> Arc<CryptoProvider> {
    let mut kx_groups = aws_lc_rs::ALL_KX_GROUPS.to_vec();
    kx_groups.sort_by_key(|group| !HYBRIDS.contains(&group.name()));
    Arc::new(CryptoProvider { kx_groups, ..aws_lc_rs::default_provider() })
}

/// A provider over every engine of this machine.
pub(crate) fn ours() -> Arc<CryptoProvider> {
    static PROVIDER: std::sync::LazyLock<Arc<CryptoProvider>> =
        std::sync::LazyLock::new(|| Arc::new(oarlock_rustls::provider(&Accelerator::new().unwrap())));
    Arc::clone(&PROVIDER)
}

pub(crate) fn server_config(
    provider: Arc<CryptoProvider>,
    version: &'static SupportedProtocolVersion,
    server: &Identity,
    client: Option<&Identity>,
) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_protocol_versions(&[version]).unwrap();
    let builder = match client {
        None => builder.with_no_client_auth(),
        Some(client) => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(client.roots(), provider).build().unwrap(),
        ),
    };
    Arc::new(builder.with_single_cert(server.chain.clone(), server.key()).unwrap())
}

pub(crate) fn client_config(
    provider: Arc<CryptoProvider>,
    server: &Identity,
    client: Option<&Identity>,
) -> Arc<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(provider);
    let builder =
        builder.with_safe_default_protocol_versions().unwrap().with_root_certificates(server.roots());
    Arc::new(match client {
        None => builder.with_no_client_auth(),
        Some(client) => builder.with_client_auth_cert(client.chain.clone(), client.key()).unwrap(),
    })
}

pub(crate) fn localhost() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}

/// Runs a test on a current-thread runtime.
pub(crate) fn run_local<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, test)
}

/// Sends bytes from each side to the other.
pub(crate) async fn talk(
    one: &mut (impl AsyncRead + AsyncWrite + Unpin),
    two: &mut (impl AsyncRead + AsyncWrite + Unpin),
) {
    let mut heard = [0; 5];
    one.write_all(b"hello").await.unwrap();
    one.flush().await.unwrap();
    two.read_exact(&mut heard).await.unwrap();
    two.write_all(&heard).await.unwrap();
    two.flush().await.unwrap();
    one.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"hello");
}

/// An engine for the tests: the scalar engine, which counts, stops, lies or fails when it is told to.
#[derive(Debug)]
pub(crate) struct TestEngine {
    inner: ScalarEngine,
    /// The largest batch since the last reset.
    pub(crate) largest: AtomicUsize,
    pub(crate) lies: AtomicBool,
    pub(crate) fails: AtomicBool,
    gate: Mutex<EngineGate>,
    opened: Condvar,
}

#[derive(Debug, Default)]
struct EngineGate {
    is_closed: bool,
    waiting: usize,
}

impl TestEngine {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: ScalarEngine::detect().unwrap(),
            largest: AtomicUsize::new(0),
            lies: AtomicBool::new(false),
            fails: AtomicBool::new(false),
            gate: Mutex::default(),
            opened: Condvar::new(),
        })
    }

    /// An accelerator in which this engine takes everything that is queued, even one job.
    pub(crate) fn accelerator(self: &Arc<Self>) -> Accelerator {
        let config = SchedulerConfig::default()
            .with_threads(1)
            .with_spins(0)
            .with_caller_budget(std::time::Duration::ZERO)
            .with_fixed_break_even(1)
            .with_hang_after(std::time::Duration::from_secs(600))
            .with_cross_check(0.0);
        Accelerator::builder().config(config).engine(Arc::clone(self) as _).engines(["test"]).build().unwrap()
    }

    /// Lets every batch wait until [`open`](Self::open).
    pub(crate) fn close(&self) {
        self.gate.lock().unwrap().is_closed = true;
    }

    pub(crate) fn open(&self) {
        self.gate.lock().unwrap().is_closed = false;
        self.opened.notify_all();
    }

    pub(crate) fn waiting(&self) -> usize {
        self.gate.lock().unwrap().waiting
    }

    fn pass(&self) {
        let mut gate = self.gate.lock().unwrap();
        gate.waiting += 1;
        while gate.is_closed {
            gate = self.opened.wait(gate).unwrap();
        }
        gate.waiting -= 1;
    }
}

impl Engine for TestEngine {
    fn name(&self) -> &'static str {
        "test"
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.inner.offers(shape)?;
        let is_offered = match shape {
            Shape::RsaPrivate { bits } | Shape::RsaPublic { bits, .. } => bits == 2_048,
            Shape::ModExp { .. } => false,
            shape => !shape.is_record(),
        };
        is_offered.then_some(BatchSize { preferred: 8, max: 64 })
    }

    fn confirms(&self, _: Shape) -> bool {
        false
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.largest.fetch_max(jobs.len(), Ordering::Relaxed);
        self.pass();
        if self.fails.load(Ordering::Relaxed) {
            return Err(EngineFault::Failed { engine: "test", reason: "told to fail".into() });
        }
        self.inner.run(jobs, out)?;
        if self.lies.load(Ordering::Relaxed) {
            (0..jobs.len()).for_each(|index| damage(index, out));
        }
        Ok(())
    }
}

fn damage(index: usize, out: &mut Outcomes) {
    let status = out.statuses()[index];
    match (status, out.result_mut(index).last_mut()) {
        (Status::Done, Some(last)) => *last ^= 1,
        (Status::Done, None) => out.set(index, Status::Rejected),
        (_, _) => out.set(index, Status::Done),
    }
}
