//! Hybrid groups and ML-DSA certificates, with clients that have them and clients that do not.

use std::io::ErrorKind;
use std::process::Command;
use std::sync::Arc;

use rcgen::{KeyPair, RsaKeySize};
use rustls::crypto::aws_lc_rs::{default_provider, kx_group};
use rustls::crypto::{CryptoProvider, SupportedKxGroup, WebPkiSupportedAlgorithms};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, HandshakeKind, NamedGroup, SignatureScheme, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::hello::ClientHelloBytes;
use crate::proxied::{RunningProxy, TestAuthority, echo_backend};

const BOTH: &[&SupportedProtocolVersion] = &[&TLS13, &TLS12];

const HANDSHAKE: u8 = 22;
const ALERT: u8 = 21;

/// The alert `illegal_parameter`. RFC 8446 4.2.8.
const ILLEGAL_PARAMETER: u8 = 47;

/// The length of ML-KEM-768's half of a client's share.
const ML_KEM_LEN: usize = 1_184;

/// Returns a client with these groups, the first of which it sends a share of, and these signature schemes.
fn client(
    authority: &TestAuthority,
    versions: &[&'static SupportedProtocolVersion],
    groups: &[&'static dyn SupportedKxGroup],
    has_scheme: fn(SignatureScheme) -> bool,
) -> ClientConfig {
    let base = default_provider();
    let mapping = base.signature_verification_algorithms.mapping.iter().copied();
    let mapping: Vec<_> = mapping.filter(|(scheme, _)| has_scheme(*scheme)).collect();
    let provider = CryptoProvider {
        kx_groups: groups.to_vec(),
        signature_verification_algorithms: WebPkiSupportedAlgorithms {
            mapping: Vec::leak(mapping),
            ..base.signature_verification_algorithms
        },
        ..base
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(provider));
    let builder = builder.with_protocol_versions(versions).unwrap();
    builder.with_root_certificates(authority.roots()).with_no_client_auth()
}

fn is_ml_dsa(scheme: SignatureScheme) -> bool {
    matches!(scheme, SignatureScheme::ML_DSA_44 | SignatureScheme::ML_DSA_65 | SignatureScheme::ML_DSA_87)
}

fn is_rsa(scheme: SignatureScheme) -> bool {
    matches!(
        scheme,
        SignatureScheme::RSA_PSS_SHA256 | SignatureScheme::RSA_PSS_SHA384 | SignatureScheme::RSA_PSS_SHA512
    )
}

/// Returns the object identifier of the key in the certificate that a client gets.
async fn shown_key(proxy: &RunningProxy, client: &ClientConfig) -> String {
    let stream = proxy.echo(client, "localhost").await;
    let chain = stream.get_ref().1.peer_certificates().unwrap();
    let (_, certificate) = X509Certificate::from_der(&chain[0]).unwrap();
    certificate.public_key().algorithm.algorithm.to_id_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_client_gets_the_kind_of_certificate_that_it_takes() {
    const ECDSA: &str = "1.2.840.10045.2.1";
    const RSA: &str = "1.2.840.113549.1.1.1";
    const ML_DSA_65: &str = "2.16.840.1.101.3.4.3.18";
    let authority = TestAuthority::new();
    let rsa = KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_2048).unwrap();
    authority.add_for(rsa, "b-rsa", &["localhost"]);
    let ml_dsa = KeyPair::generate_for(&rcgen::PKCS_ML_DSA_65).unwrap();
    authority.add_for(ml_dsa, "c-ml-dsa", &["localhost"]);
    let backend = echo_backend().await;
    let proxy = RunningProxy::start(&authority, backend, "").await;
    let groups: &[&dyn SupportedKxGroup] = &[kx_group::X25519MLKEM768, kx_group::X25519, kx_group::SECP256R1];
    for (versions, has_scheme, expected) in [
        (BOTH, (|_| true) as fn(SignatureScheme) -> bool, ML_DSA_65),
        (BOTH, is_ml_dsa, ML_DSA_65),
        (BOTH, |scheme| !is_ml_dsa(scheme), ECDSA),
        (BOTH, is_rsa, RSA),
        // TLS 1.2 has no ML-DSA. This client lists it nevertheless, and suites of TLS 1.3.
        (&[&TLS12], |_| true, ECDSA),
    ] {
        let client = client(&authority, versions, groups, has_scheme);
        assert_eq!(shown_key(&proxy, &client).await, expected, "{versions:?}");
    }
    // Without a group of ML-KEM, a client may be one of TLS 1.2.
    let without = client(&authority, BOTH, &groups[1..], |_| true);
    assert_eq!(shown_key(&proxy, &without).await, ECDSA);
    // Another parameter set is another scheme.
    let other = client(&authority, BOTH, groups, |scheme| scheme == SignatureScheme::ML_DSA_44);
    proxy.connect(&other, "localhost").await.unwrap_err();

    let proxy = RunningProxy::start(&authority, backend, "tls.max_version = \"1.2\"\n").await;
    let client = client(&authority, BOTH, groups, |_| true);
    assert_eq!(shown_key(&proxy, &client).await, ECDSA);
}

#[tokio::test(flavor = "multi_thread")]
async fn hybrid_groups_are_agreed_on_and_counted() {
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, echo_backend().await, "").await;
    for (group, name) in [
        (kx_group::X25519MLKEM768, "X25519MLKEM768"),
        (kx_group::SECP256R1MLKEM768, "secp256r1MLKEM768"),
        (kx_group::X25519, "X25519"),
    ] {
        let client = client(&authority, &[&TLS13], &[group], |_| true);
        let stream = proxy.echo(&client, "localhost").await;
        let connection = stream.get_ref().1;
        assert_eq!(connection.negotiated_key_exchange_group().unwrap().name(), group.name());
        assert_eq!(connection.handshake_kind(), Some(HandshakeKind::Full));
        let metric =
            format!("oarlock_proxy_handshakes_total{{version=\"TLSv1.3\",group=\"{name}\",resumed=\"no\"}}");
        assert_eq!(proxy.metric(&metric).await, 1);
    }
}

/// The client's first share is of a group that the proxy does not have, so the proxy asks for another one.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_with_a_share_of_another_group_is_asked_for_a_hybrid() {
    let authority = TestAuthority::new();
    for (settings, wanted) in [
        ("X25519MLKEM768", kx_group::X25519MLKEM768),
        ("SecP256r1MLKEM768", kx_group::SECP256R1MLKEM768),
        ("X25519", kx_group::X25519),
    ] {
        let more = format!("tls.groups = [\"{settings}\"]\n");
        let proxy = RunningProxy::start(&authority, echo_backend().await, &more).await;
        let client = client(&authority, &[&TLS13], &[kx_group::SECP384R1, wanted], |_| true);
        let stream = proxy.echo(&client, "localhost").await;
        let connection = stream.get_ref().1;
        assert_eq!(connection.negotiated_key_exchange_group().unwrap().name(), wanted.name());
        assert_eq!(connection.handshake_kind(), Some(HandshakeKind::FullWithHelloRetryRequest));
    }
    // TLS 1.2 has no hybrid.
    let proxy =
        RunningProxy::start(&authority, echo_backend().await, "tls.groups = [\"X25519MLKEM768\"]\n").await;
    let client = client(&authority, &[&TLS12], &[kx_group::X25519], |_| true);
    proxy.connect(&client, "localhost").await.unwrap_err();
    proxy.wait_for_refusal("incompatible", 1).await;
}

fn share(group: &'static dyn SupportedKxGroup) -> Vec<u8> {
    group.start().unwrap().pub_key().to_vec()
}

fn hello(group: NamedGroup, share: &[u8]) -> ClientHelloBytes {
    ClientHelloBytes::with_share(b"localhost", group.into(), share)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hybrid_hello_may_come_in_pieces_and_in_a_hundred_records() {
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, echo_backend().await, "").await;
    let hello = hello(NamedGroup::X25519MLKEM768, &share(kx_group::X25519MLKEM768));
    let record_len = hello.message.len().div_ceil(100);
    for (records, piece) in [
        (hello.in_records(1 << 14), usize::MAX),
        (hello.in_records(record_len), usize::MAX),
        // About as much as a packet holds: the share is in two.
        (hello.in_records(1 << 14), 1_200),
        (hello.in_records(1 << 14), 1),
        (hello.in_records(record_len), 7),
    ] {
        let mut stream = TcpStream::connect(proxy.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        for piece in records.chunks(piece.min(records.len())) {
            stream.write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
        assert_eq!(stream.read_u8().await.unwrap(), HANDSHAKE);
    }
}

/// Sends a hello, and returns the alert that answers it.
async fn alert(proxy: &RunningProxy, hello: &ClientHelloBytes) -> u8 {
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    stream.write_all(&hello.in_records(1 << 14)).await.unwrap();
    // The type, the version, the length and the level stand before the description.
    let mut record = [0; 7];
    match stream.read_exact(&mut record).await {
        Ok(_) => assert_eq!(record[0], ALERT, "{record:?}"),
        Err(error) => panic!("{:?} instead of an alert", error.kind()),
    }
    let ended = stream.read_u8().await.unwrap_err().kind();
    assert!(matches!(ended, ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset), "{ended:?}");
    record[6]
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_shares_of_hybrids_are_refused() {
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, echo_backend().await, "").await;
    let (x25519, p256) = (share(kx_group::X25519MLKEM768), share(kx_group::SECP256R1MLKEM768));
    assert_eq!((x25519.len(), p256.len()), (ML_KEM_LEN + 32, 65 + ML_KEM_LEN));
    let mut hellos = Vec::new();
    for (group, share, classical_at, post_quantum_at) in
        [(NamedGroup::X25519MLKEM768, x25519, ML_KEM_LEN, 0), (NamedGroup::secp256r1MLKEM768, p256, 0, 65)]
    {
        // Too short by one, by the whole half of the curve, and by that of ML-KEM; too long.
        hellos.push(hello(group, &share[..share.len() - 1]));
        hellos.push(hello(group, &share[post_quantum_at..post_quantum_at + ML_KEM_LEN]));
        hellos.push(hello(group, &share[classical_at..classical_at + share.len() - ML_KEM_LEN]));
        hellos.push(hello(group, &[&share[..], &[0]].concat()));
        // The half of the curve is zeros, and that of ML-KEM is valid.
        let mut zeros = share.clone();
        zeros[classical_at..classical_at + share.len() - ML_KEM_LEN].fill(0);
        hellos.push(hello(group, &zeros));
        // The first coefficient of ML-KEM's half is 4,095, above q.
        let mut beyond = share.clone();
        beyond[post_quantum_at..post_quantum_at + 2].copy_from_slice(&[0xff, 0x0f]);
        hellos.push(hello(group, &beyond));
    }
    for (number, hello) in hellos.iter().enumerate() {
        assert_eq!(alert(&proxy, hello).await, ILLEGAL_PARAMETER, "hello {number}");
    }
    proxy.wait_for_refusal("protocol", hellos.len() as u64).await;
    proxy.echo(&authority.client(), "localhost").await;
}

const GO_CLIENT: &str = r#"package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"os"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	pem, err := os.ReadFile(os.Args[2])
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	conn, err := tls.Dial("tcp", os.Args[1], &tls.Config{RootCAs: roots, ServerName: "localhost"})
	check(err)
	_, err = conn.Write([]byte("hello"))
	check(err)
	echo := make([]byte, 5)
	_, err = io.ReadFull(conn, echo)
	check(err)
	fmt.Println(conn.ConnectionState().CurveID, string(echo))
}
"#;

/// The groups of Go's own choice.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_go_agrees_on_the_hybrid() {
    if Command::new("go").arg("version").output().is_err() {
        eprintln!("SKIPPED: Go is not installed");
        return;
    }
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, echo_backend().await, "").await;
    let source = authority.path("client.go");
    std::fs::write(&source, GO_CLIENT).unwrap();
    let mut command = Command::new("go");
    command.arg("run").arg(source).arg(proxy.address.to_string()).arg(authority.path("ca.pem"));
    command.env("GOTOOLCHAIN", "local").current_dir(authority.directory.path());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "X25519MLKEM768 hello\n", "{errors}");
    let metric =
        "oarlock_proxy_handshakes_total{version=\"TLSv1.3\",group=\"X25519MLKEM768\",resumed=\"no\"}";
    assert_eq!(proxy.metric(metric).await, 1);
}
