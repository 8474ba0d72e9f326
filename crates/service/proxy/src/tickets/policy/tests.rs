use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType, IsCa,
    KeyIdMethod, KeyPair, RevokedCertParams, SerialNumber,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::server::danger::ClientCertVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, ConnectionCommon, Error, HandshakeKind, RootCertStore,
    ServerConfig, ServerConnection, SideData, SupportedProtocolVersion,
};

use x509_parser::prelude::{FromDer, X509Certificate};

use super::*;
use crate::clients::{ExpiredCrlRule, read_client_verifier};
use crate::config::ClientSettings;
use crate::tickets::rotating_tickets;

/// The time at which each test begins.
const START_S: u64 = 1_800_000_000;
const LIFETIME_S: u32 = 1_000;
const VERSIONS: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

type TestIssuer = CertifiedIssuer<'static, KeyPair>;

/// A chain and its key.
type TestIdentity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn params(name: &str, ends_at: Option<u64>) -> CertificateParams {
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    if let Some(seconds) = ends_at {
        params.not_after = (std::time::UNIX_EPOCH + Duration::from_secs(START_S + seconds)).into();
    }
    params
}

fn authority_params(name: &str, ends_at: Option<u64>) -> CertificateParams {
    let mut params = params(name, ends_at);
    params.subject_alt_names.clear();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

fn issue(issuer: &TestIssuer, others: &[&TestIssuer], ends_at: Option<u64>) -> TestIdentity {
    let key = KeyPair::generate().unwrap();
    let leaf = params("own", ends_at).signed_by(&key, issuer).unwrap().der().clone();
    let others = others.iter().map(|other| CertificateDer::from(other.der().to_vec()));
    (std::iter::once(leaf).chain(others).collect(), PrivatePkcs8KeyDer::from(key.serialize_der()).into())
}

struct TicketTest {
    clock: ServiceClock,
    keys: Arc<dyn ProducesTickets>,
    provider: Arc<CryptoProvider>,
    authority: TestIssuer,
    file: tempfile::NamedTempFile,
}

impl TicketTest {
    fn new() -> Self {
        let authority =
            CertifiedIssuer::self_signed(authority_params("authority", None), KeyPair::generate().unwrap());
        let authority: TestIssuer = authority.unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), authority.pem()).unwrap();
        Self {
            clock: ServiceClock::standing_at(START_S),
            keys: rotating_tickets(LIFETIME_S).unwrap(),
            provider: Arc::new(rustls::crypto::aws_lc_rs::default_provider()),
            authority,
            file,
        }
    }

    fn settings(&self) -> ClientSettings {
        ClientSettings {
            authorities: self.file.path().to_owned(),
            allowed_names: Vec::new(),
            crl_files: Vec::new(),
            expired_crls: ExpiredCrlRule::Refuse,
            required: true,
            max_chain_certificates: 8,
        }
    }

    /// Writes a list that ends after some seconds and revokes these certificates. Returns the settings with it.
    fn settings_with_list(&self, ends_at: u64, revoked: &[&TestIdentity]) -> ClientSettings {
        let date = |seconds: u64| (std::time::UNIX_EPOCH + Duration::from_secs(seconds)).into();
        let revoked = revoked.iter().map(|(chain, _)| RevokedCertParams {
            serial_number: SerialNumber::from_slice(
                X509Certificate::from_der(&chain[0]).unwrap().1.raw_serial(),
            ),
            revocation_time: date(START_S),
            reason_code: None,
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: date(START_S),
            next_update: date(START_S + ends_at),
            crl_number: SerialNumber::from(1_u64),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let path = self.file.path().with_extension("crl");
        std::fs::write(&path, params.signed_by(&self.authority).unwrap().der()).unwrap();
        ClientSettings { crl_files: vec![path], ..self.settings() }
    }

    fn policy(&self, settings: &ClientSettings) -> Arc<TicketPolicy> {
        let clients = Some(Arc::new(read_client_verifier(settings, &self.provider).unwrap()));
        let clock = self.clock.clone();
        Arc::new(TicketPolicy { keys: Arc::clone(&self.keys), lifetime_s: LIFETIME_S, clients, clock })
    }

    /// Returns an authority below the one that the settings name.
    fn intermediate(&self, ends_at: u64) -> TestIssuer {
        let params = authority_params("intermediate", Some(ends_at));
        CertifiedIssuer::signed_by(params, KeyPair::generate().unwrap(), &self.authority).unwrap()
    }

    /// Returns the configuration of a client that keeps its sessions.
    fn client(
        &self,
        version: &'static SupportedProtocolVersion,
        identity: Option<&TestIdentity>,
    ) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(self.authority.der().to_vec())).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::clone(&self.provider));
        let builder = builder.with_protocol_versions(&[version]).unwrap().with_root_certificates(roots);
        Arc::new(match identity {
            Some((chain, key)) => builder.with_client_auth_cert(chain.clone(), key.clone_key()).unwrap(),
            None => builder.with_no_client_auth(),
        })
    }

    /// Does a handshake in memory.
    fn connect(
        &self,
        policy: &Arc<TicketPolicy>,
        client: &Arc<ClientConfig>,
    ) -> Result<HandshakeKind, Error> {
        let clients = policy.clients.clone().unwrap() as Arc<dyn ClientCertVerifier>;
        let clock = Arc::new(self.clock.clone());
        let builder = ServerConfig::builder_with_details(Arc::clone(&self.provider), clock);
        let builder = builder.with_protocol_versions(&VERSIONS)?.with_client_cert_verifier(clients);
        let (chain, key) = issue(&self.authority, &[], None);
        let mut config = builder.with_single_cert(chain, key)?;
        config.ticketer = policy.for_connection();
        config.send_tls13_tickets = 1;
        let name = ServerName::try_from("localhost").unwrap();
        let mut client = ClientConnection::new(Arc::clone(client), name)?;
        let mut server = ServerConnection::new(Arc::new(config))?;
        while client.wants_write() || server.wants_write() {
            transfer(&mut client, &mut server)?;
            transfer(&mut server, &mut client)?;
        }
        Ok(server.handshake_kind().unwrap())
    }
}

fn transfer<A: SideData, B: SideData>(
    from: &mut ConnectionCommon<A>,
    to: &mut ConnectionCommon<B>,
) -> Result<(), Error> {
    let mut bytes = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut bytes).unwrap();
    }
    let mut rest = &*bytes;
    while !rest.is_empty() {
        to.read_tls(&mut rest).unwrap();
        to.process_new_packets()?;
    }
    Ok(())
}

fn is_expired(result: &Result<HandshakeKind, Error>) -> bool {
    matches!(
        result,
        Err(Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }))
    )
}

#[test]
fn a_session_ends_with_a_certificate_of_its_chain() {
    for version in VERSIONS {
        let test = TicketTest::new();
        let policy = test.policy(&test.settings());
        let intermediate = test.intermediate(300);
        for identity in [issue(&test.authority, &[], Some(300)), issue(&intermediate, &[&intermediate], None)]
        {
            let client = test.client(version, Some(&identity));
            test.clock.set(START_S);
            assert_eq!(test.connect(&policy, &client), Ok(HandshakeKind::Full));
            test.clock.set(START_S + 300);
            assert_eq!(test.connect(&policy, &client), Ok(HandshakeKind::Resumed));
            // The ticket of a second ago is not opened, and the full handshake refuses the client.
            test.clock.set(START_S + 301);
            let refused = test.connect(&policy, &client);
            assert!(is_expired(&refused), "{refused:?}");
        }
    }
}

#[test]
fn an_ended_certificate_that_no_path_needs_ends_no_session() {
    let test = TicketTest::new();
    let policy = test.policy(&test.settings());
    let needless = test.intermediate(300);
    let identity = issue(&test.authority, &[&needless], None);
    let client = test.client(&TLS13, Some(&identity));
    assert_eq!(test.connect(&policy, &client), Ok(HandshakeKind::Full));
    test.clock.set(START_S + 301);
    assert_eq!(test.connect(&policy, &client), Ok(HandshakeKind::Resumed));
}

#[test]
fn a_chain_of_resumptions_ends() {
    for version in VERSIONS {
        let test = TicketTest::new();
        let policy = test.policy(&test.settings());
        let identity = issue(&test.authority, &[], None);
        let client = test.client(version, Some(&identity));
        let at = |seconds: u64| {
            test.clock.set(START_S + seconds);
            test.connect(&policy, &client)
        };
        assert_eq!(at(0), Ok(HandshakeKind::Full));
        assert_eq!(at(900), Ok(HandshakeKind::Resumed));
        assert_eq!(at(1_800), Ok(HandshakeKind::Resumed));
        // Each ticket was young, and the session was not.
        assert_eq!(at(2_100), Ok(HandshakeKind::Full));
        assert_eq!(at(2_101), Ok(HandshakeKind::Resumed));
        // A ticket by itself is good for its lifetime, also if its key is kept for longer.
        assert_eq!(at(3_102), Ok(HandshakeKind::Full));
    }
    assert_eq!(max_session_seconds(604_800), 604_800);
    assert_eq!(max_session_seconds(21_600), 43_200);
}

#[test]
fn a_ticket_is_good_for_one_policy_only() {
    for version in VERSIONS {
        let test = TicketTest::new();
        let settings = test.settings();
        let with_names =
            ClientSettings { allowed_names: vec!["DNS:localhost".parse().unwrap()], ..settings.clone() };
        let open = ClientSettings { required: false, ..settings.clone() };
        let shorter = ClientSettings { max_chain_certificates: 2, ..settings.clone() };
        let all = [settings, with_names, open, shorter].map(|settings| test.policy(&settings));
        let identity = issue(&test.authority, &[], None);
        for (issued, issuer) in all.iter().enumerate() {
            for (used, policy) in all.iter().enumerate() {
                let client = test.client(version, Some(&identity));
                assert_eq!(test.connect(issuer, &client), Ok(HandshakeKind::Full));
                let expected = if issued == used { HandshakeKind::Resumed } else { HandshakeKind::Full };
                assert_eq!(test.connect(policy, &client), Ok(expected), "{issued} {used}");
            }
        }
        // A client without a certificate has a ticket, and then needs a certificate.
        let client = test.client(version, None);
        assert_eq!(test.connect(&all[2], &client), Ok(HandshakeKind::Full));
        assert_eq!(test.connect(&all[2], &client), Ok(HandshakeKind::Resumed));
        assert_eq!(test.connect(&all[0], &client), Err(Error::NoCertificatesPresented));
    }
}

#[test]
fn a_revoked_client_is_refused_also_if_it_has_a_ticket() {
    for version in VERSIONS {
        let test = TicketTest::new();
        let (good, bad) = (issue(&test.authority, &[], None), issue(&test.authority, &[], None));
        let before = test.policy(&test.settings_with_list(900, &[]));
        let after = test.policy(&test.settings_with_list(900, &[&bad]));
        let (good, bad) = (test.client(version, Some(&good)), test.client(version, Some(&bad)));
        for client in [&good, &bad] {
            assert_eq!(test.connect(&before, client), Ok(HandshakeKind::Full));
            assert_eq!(test.connect(&before, client), Ok(HandshakeKind::Resumed));
        }
        assert_eq!(test.connect(&after, &bad), Err(CertificateError::Revoked.into()));
        // A changed list ends all sessions once.
        assert_eq!(test.connect(&after, &good), Ok(HandshakeKind::Full));
        assert_eq!(test.connect(&after, &good), Ok(HandshakeKind::Resumed));
    }
}

#[test]
fn a_session_ends_with_a_revocation_list_unless_ended_ones_are_used() {
    for version in VERSIONS {
        let test = TicketTest::new();
        let identity = issue(&test.authority, &[], None);
        let settings = test.settings_with_list(300, &[]);
        for (rule, is_used) in [(ExpiredCrlRule::Refuse, false), (ExpiredCrlRule::Use, true)] {
            let policy = test.policy(&ClientSettings { expired_crls: rule, ..settings.clone() });
            let client = test.client(version, Some(&identity));
            test.clock.set(START_S);
            assert_eq!(test.connect(&policy, &client), Ok(HandshakeKind::Full));
            test.clock.set(START_S + 299);
            assert_eq!(test.connect(&policy, &client), Ok(HandshakeKind::Resumed));
            test.clock.set(START_S + 300);
            let result = test.connect(&policy, &client);
            assert_eq!(result == Ok(HandshakeKind::Resumed), is_used, "{result:?}");
            assert_eq!(result.is_err(), !is_used);
        }
    }
}

#[test]
fn a_connection_tries_few_tickets() {
    let test = TicketTest::new();
    let policy = test.policy(&ClientSettings { required: false, ..test.settings() });
    // A session of a client without a name and without a certificate.
    let session = [0, 3, 4, 0x13, 1, 1, 7, 0, 0];
    let ticket = policy.for_connection().encrypt(&session).unwrap();
    let tickets = policy.for_connection();
    for _ in 0..MAX_TRIES {
        assert_eq!(tickets.decrypt(&ticket).as_deref(), Some(&session[..]));
    }
    assert_eq!(tickets.decrypt(&ticket), None);
    assert_eq!(tickets.encrypt(b"another encoding of sessions"), None);
}
