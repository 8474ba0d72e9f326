//! A proxy in this process, its certificates, a backend and clients.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use oarlock::{Accelerator, AcceleratorBuilder};
use oarlock_proxy::{ProxyConfig, ProxyService};
use oarlock_service_kit::ServiceClock;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertificateRevocationListParams, CertifiedIssuer,
    CustomExtension, DnType, IsCa, KeyIdMethod, KeyPair, NameConstraints, RevokedCertParams, SerialNumber,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A bound on waits. It only ends a test that would wait forever.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// An authority and the certificates that it issues, in a directory.
pub(crate) struct TestAuthority {
    pub(crate) directory: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate of a client, its key and its number.
pub(crate) struct ClientIdentity {
    chain: Vec<CertificateDer<'static>>,
    key: KeyPair,
    pub(crate) serial: SerialNumber,
    /// The certificate and the key in PEM.
    pub(crate) pem: String,
}

impl TestAuthority {
    /// Makes an authority and a certificate for `localhost`, as the first one of the directory `certificates`.
    pub(crate) fn new() -> Self {
        Self::named("test authority")
    }

    pub(crate) fn named(name: &str) -> Self {
        let params = authority_params(name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let settings = Self { directory: tempfile::tempdir().unwrap(), issuer };
        fs::write(settings.path("ca.pem"), settings.issuer.pem()).unwrap();
        fs::create_dir(settings.path("certificates")).unwrap();
        settings.add("a-localhost", &["localhost"]);
        settings
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Issues a certificate for names. Returns the chain in PEM, and the key.
    pub(crate) fn issue(&self, names: &[&str], common_name: &str) -> (String, KeyPair) {
        self.issue_for(KeyPair::generate().unwrap(), names, common_name)
    }

    fn issue_for(&self, key: KeyPair, names: &[&str], common_name: &str) -> (String, KeyPair) {
        let mut params =
            CertificateParams::new(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).unwrap();
        params.distinguished_name.push(DnType::CommonName, common_name);
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key)
    }

    /// Adds a certificate to the directory of the proxy.
    pub(crate) fn add(&self, file: &str, names: &[&str]) {
        let (chain, key) = self.issue(names, "test");
        self.write(file, &(chain + &key.serialize_pem()));
    }

    /// Adds a certificate to another directory.
    pub(crate) fn add_in(&self, directory: &str, file: &str, names: &[&str]) {
        let (chain, key) = self.issue(names, "test");
        fs::create_dir_all(self.path(directory)).unwrap();
        write_private(&self.path(directory).join(format!("{file}.pem")), chain + &key.serialize_pem());
    }

    /// Adds a certificate that names an OCSP responder, with the certificate of the authority. Returns its number in
    /// hexadecimal digits.
    pub(crate) fn add_with_responder(&self, file: &str, names: &[&str], url: &str) -> String {
        let tagged = |tag: u8, bytes: &[u8]| [&[tag, u8::try_from(bytes.len()).unwrap()][..], bytes].concat();
        let method = tagged(6, &[0x2b, 6, 1, 5, 5, 7, 0x30, 1]);
        let access = tagged(0x30, &tagged(0x30, &[method, tagged(0x86, url.as_bytes())].concat()));
        let names = names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let mut params = CertificateParams::new(names).unwrap();
        params.custom_extensions =
            vec![CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], access)];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        self.write(file, &(certificate.pem() + &self.issuer.pem() + &key.serialize_pem()));
        let (_, parsed) = x509_parser::parse_x509_certificate(certificate.der()).unwrap();
        parsed.raw_serial().iter().map(|byte| format!("{byte:02X}")).collect()
    }

    /// Writes the certificate and the key of the authority for a responder.
    pub(crate) fn write_key(&self, file: &str) {
        write_private(&self.path(file), self.issuer.pem() + &self.issuer.key().serialize_pem());
    }

    /// Adds a certificate for a key of any kind.
    pub(crate) fn add_for(&self, key: KeyPair, file: &str, names: &[&str]) {
        let (chain, key) = self.issue_for(key, names, file);
        self.write(file, &(chain + &key.serialize_pem()));
    }

    /// Adds a certificate that is valid from the beginning of a day of January 2026 to that of another.
    pub(crate) fn add_with_term(&self, file: &str, names: &[&str], days: RangeInclusive<u8>) {
        let (chain, key) = self.issue_with_term(names, days);
        self.write(file, &(chain.pem() + &key.serialize_pem()));
    }

    fn issue_with_term(&self, names: &[&str], days: RangeInclusive<u8>) -> (Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = rcgen::date_time_ymd(2026, 1, *days.start());
        params.not_after = rcgen::date_time_ymd(2026, 1, *days.end());
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }

    fn write(&self, file: &str, text: &str) {
        write_private(&self.path("certificates").join(format!("{file}.pem")), text);
    }

    /// Issues an authority, which may have constraints.
    pub(crate) fn intermediate(
        &self,
        name: &str,
        constraints: Option<NameConstraints>,
    ) -> CertifiedIssuer<'static, KeyPair> {
        let mut params = authority_params(name);
        params.name_constraints = constraints;
        CertifiedIssuer::signed_by(params, KeyPair::generate().unwrap(), &self.issuer).unwrap()
    }

    /// Returns a client with a chain of eight certificates: its own, six of authorities, and the one of this authority.
    pub(crate) fn client_of_eight(&self) -> ClientConfig {
        let mut authorities = vec![self.intermediate("authority 1", None)];
        for number in 2..=6 {
            let (params, key) =
                (authority_params(&format!("authority {number}")), KeyPair::generate().unwrap());
            let authority = CertifiedIssuer::signed_by(params, key, authorities.last().unwrap()).unwrap();
            authorities.push(authority);
        }
        let others = authorities.iter().rev().chain([&self.issuer]).map(der).collect();
        self.client_below(authorities.last().unwrap(), "eight", others)
    }

    /// Returns a client whose certificate is issued by `issuer` and names nothing but its common name.
    pub(crate) fn client_below(
        &self,
        issuer: &CertifiedIssuer<'static, KeyPair>,
        common_name: &str,
        others: Vec<CertificateDer<'static>>,
    ) -> ClientConfig {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, common_name);
        let leaf = params.signed_by(&key, issuer).unwrap().der().clone();
        self.client_with(std::iter::once(leaf).chain(others).collect(), &key)
    }

    /// Returns a client's configuration with this chain.
    fn client_with(&self, chain: Vec<CertificateDer<'static>>, key: &KeyPair) -> ClientConfig {
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        builder.with_root_certificates(self.roots()).with_client_auth_cert(chain, key).unwrap()
    }

    pub(crate) fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(self.issuer.der().to_vec())).unwrap();
        roots
    }

    /// Returns a client's configuration without a certificate.
    pub(crate) fn client(&self) -> ClientConfig {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        builder.with_root_certificates(self.roots()).with_no_client_auth()
    }

    /// Returns a client's configuration with a certificate.
    pub(crate) fn client_named(&self, names: &[&str], common_name: &str) -> ClientConfig {
        let (chain, key) = self.issue(names, common_name);
        let (_, chain) = x509_parser::pem::parse_x509_pem(chain.as_bytes()).unwrap();
        self.client_with(vec![CertificateDer::from(chain.contents)], &key)
    }

    /// Issues a certificate for a client.
    pub(crate) fn identity(&self, common_name: &str) -> ClientIdentity {
        let (text, key) = self.issue(&["client.test"], common_name);
        let (_, chain) = x509_parser::pem::parse_x509_pem(text.as_bytes()).unwrap();
        let serial = chain.parse_x509().unwrap().raw_serial().to_vec();
        let pem = text + &key.serialize_pem();
        ClientIdentity { pem, chain: vec![CertificateDer::from(chain.contents)], key, serial: serial.into() }
    }

    /// Returns a client's configuration with some versions of TLS.
    pub(crate) fn client_of(
        &self,
        identity: &ClientIdentity,
        versions: &[&'static SupportedProtocolVersion],
    ) -> ClientConfig {
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(identity.key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
        let builder = builder.with_root_certificates(self.roots());
        builder.with_client_auth_cert(identity.chain.clone(), key).unwrap()
    }

    /// Writes a list of revoked certificates that begins and ends at times in seconds since 1970.
    pub(crate) fn write_list(&self, file: &str, revoked: &[&SerialNumber], term: RangeInclusive<u64>) {
        let date = |seconds: &u64| (std::time::UNIX_EPOCH + Duration::from_secs(*seconds)).into();
        let revoked = revoked.iter().map(|&serial| RevokedCertParams {
            serial_number: serial.clone(),
            revocation_time: rcgen::date_time_ymd(2026, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: date(term.start()),
            next_update: date(term.end()),
            crl_number: SerialNumber::from(1_u64),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        // Renamed into place, so that the file is another one even within one tick of the clock.
        let new = self.path("new.crl");
        fs::write(&new, params.signed_by(&self.issuer).unwrap().pem().unwrap()).unwrap();
        fs::rename(new, self.path(file)).unwrap();
    }

    /// Returns a client's configuration with a certificate of the term of [`Self::add_with_term`].
    pub(crate) fn client_with_term(&self, days: RangeInclusive<u8>) -> ClientConfig {
        let (chain, key) = self.issue_with_term(&["client.test"], days);
        self.client_with(vec![chain.der().clone()], &key)
    }
}

/// Returns the properties of an authority.
pub(crate) fn authority_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// Returns the certificate of an authority.
pub(crate) fn der(issuer: &CertifiedIssuer<'static, KeyPair>) -> CertificateDer<'static> {
    CertificateDer::from(issuer.der().to_vec())
}

/// Returns the beginning of a day of January 2026, in seconds since 1970.
pub(crate) fn day_s(day: u64) -> u64 {
    const YEAR_2026_S: u64 = 1_767_225_600;
    YEAR_2026_S + (day - 1) * 86_400
}

pub(crate) fn write_private(path: &Path, text: impl AsRef<[u8]>) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// A running proxy.
pub(crate) struct RunningProxy {
    /// The first address.
    pub(crate) address: SocketAddr,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) service: ProxyService,
    metrics: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl RunningProxy {
    /// Starts a proxy with two threads in front of a backend, with more settings.
    pub(crate) async fn start(authority: &TestAuthority, backend: SocketAddr, more: &str) -> Self {
        Self::start_with(authority, &format!("backend.address = \"{backend}\"\n{more}")).await
    }

    /// Starts a proxy with settings that name the backend.
    pub(crate) async fn start_with(authority: &TestAuthority, settings: &str) -> Self {
        // The scalar engine needs no long self test.
        let engines = Accelerator::builder().engines(["scalar"]).lazy();
        Self::start_on(authority, settings, engines).await
    }

    /// Starts a proxy with engines of the test.
    pub(crate) async fn start_on(
        authority: &TestAuthority,
        settings: &str,
        engines: AcceleratorBuilder,
    ) -> Self {
        let config = config(authority, settings);
        Self::run(ProxyService::open(config, engines).await.unwrap()).await
    }

    /// Starts a proxy with a clock of the test.
    pub(crate) async fn start_at(authority: &TestAuthority, settings: &str, clock: &ServiceClock) -> Self {
        let (config, clock) = (config(authority, settings), clock.clone());
        let engines = Accelerator::builder().engines(["scalar"]).lazy();
        Self::run(ProxyService::open_with_clock(config, engines, clock).await.unwrap()).await
    }

    async fn run(service: ProxyService) -> Self {
        let bound = service.bind().await.unwrap();
        let addresses: Vec<SocketAddr> =
            bound.addresses().iter().filter_map(|text| text.parse().ok()).collect();
        let (address, metrics) = (addresses[0], bound.metrics().unwrap());
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            bound
                .run(async {
                    let _ = stopped.await;
                })
                .await
                .unwrap();
        });
        Self { address, addresses, service, metrics, stop, task }
    }

    /// Stops the proxy, which drains.
    pub(crate) fn stop(self) -> JoinHandle<()> {
        let _ = self.stop.send(());
        self.task
    }

    /// Returns the value of a metric, by its name and labels.
    pub(crate) async fn metric(&self, name: &str) -> u64 {
        let page = self.page().await;
        let line =
            page.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
        let line = line.unwrap_or_else(|| panic!("no metric {name} in:\n{page}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    pub(crate) async fn page(&self) -> String {
        let mut stream = TcpStream::connect(self.metrics).await.unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).await.unwrap();
        page
    }

    /// Waits until a metric has a value.
    pub(crate) async fn wait_for(&self, name: &str, value: u64) {
        let wait = async {
            while self.metric(name).await != value {
                tokio::task::yield_now().await;
            }
        };
        if tokio::time::timeout(DEADLINE, wait).await.is_err() {
            panic!("{name} is not {value}:\n{}", self.page().await);
        }
    }

    /// Waits until so many connections were refused for a reason.
    pub(crate) async fn wait_for_refusal(&self, reason: &str, value: u64) {
        let name = format!("oarlock_proxy_connections_refused_total{{reason=\"{reason}\"}}");
        self.wait_for(&name, value).await;
    }

    /// Connects with TLS and asks for a name.
    pub(crate) async fn connect(
        &self,
        config: &ClientConfig,
        name: &str,
    ) -> io::Result<TlsStream<TcpStream>> {
        let tcp = TcpStream::connect(self.address).await?;
        connect_over(tcp, config, name).await
    }

    /// Sends bytes, and checks that the echo comes back.
    pub(crate) async fn echo(&self, config: &ClientConfig, name: &str) -> TlsStream<TcpStream> {
        let mut stream = self.connect(config, name).await.unwrap();
        check_echo(&mut stream).await;
        stream
    }
}

pub(crate) async fn connect_over(
    tcp: TcpStream,
    config: &ClientConfig,
    name: &str,
) -> io::Result<TlsStream<TcpStream>> {
    let connector = TlsConnector::from(Arc::new(config.clone()));
    connector.connect(ServerName::try_from(name.to_owned()).unwrap(), tcp).await
}

/// Returns the configuration of a client without a certificate, with some versions of TLS.
pub(crate) fn with_versions(
    authority: &TestAuthority,
    versions: &[&'static SupportedProtocolVersion],
) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
    builder.with_root_certificates(authority.roots()).with_no_client_auth()
}

pub(crate) async fn check_echo(stream: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin)) {
    stream.write_all(b"hello").await.unwrap();
    let mut echo = [0; 5];
    stream.read_exact(&mut echo).await.unwrap();
    assert_eq!(&echo, b"hello");
}

/// Returns the settings of a test proxy. `more` begins with plain keys, and may end with sections.
pub(crate) fn config(authority: &TestAuthority, more: &str) -> ProxyConfig {
    let path = authority.path("proxy.toml");
    let listens = if more.contains("listen.sockets") { "" } else { "listen.sockets = [\"127.0.0.1:0\"]\n" };
    let text = format!(
        "certificates.path = \"certificates\"\nlisten.metrics = \"127.0.0.1:0\"\nlisten.threads = 2\n{listens}{more}\n"
    );
    fs::write(&path, text).unwrap();
    ProxyConfig::read(&path).unwrap()
}

/// Starts a backend that returns what it gets, until the client ends.
pub(crate) async fn echo_backend() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let (mut reader, mut writer) = stream.split();
                let _ = tokio::io::copy(&mut reader, &mut writer).await;
                let _ = writer.shutdown().await;
            });
        }
    });
    address
}

/// Returns a listener for a backend of the test's own, and its address.
pub(crate) async fn backend() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Returns an address at which nobody listens.
pub(crate) async fn closed_address() -> SocketAddr {
    backend().await.1
}
