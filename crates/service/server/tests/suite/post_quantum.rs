//! Tests of ML-KEM, ML-DSA, SLH-DSA, HSS, XMSS and composites: single calls, batches, grants, and key files of every
//! form.

use bytes::Bytes;
use oarlock::keys::{export, generate, import, raw};
use oarlock::{
    CompositeAlg, Curve, DigestAlg, Input, Job, JobError, Key, MlDsaSet, MlDsaVariant, MlKemSet, NonceRule,
    Scheme, SlhDsaSet,
};
use oarlock_engine_kit::lattice::{ml_dsa, ml_kem};
use oarlock_engine_kit::stateful::KNOWN_SIGNATURES;
use oarlock_server::config::GrantConfig;
use oarlock_wire::ServerLink;
use oarlock_wire::proto::cryptoserver_client::CryptoserverClient;
use oarlock_wire::proto::{
    self, DecapsulateRequest, EncapsulateRequest, SignRequest, VerifyRequest, encapsulate_request, scheme,
    sign_request, verify_request,
};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::service::run;
use crate::test_server::{self, TestServer, open_resident, write_secret};

const KEM: MlKemSet = MlKemSet::MlKem768;
const DSA: MlDsaSet = MlDsaSet::MlDsa65;
const SLH_DSA: SlhDsaSet = SlhDsaSet::Sha2_128f;
const COMPOSITE: CompositeAlg = CompositeAlg::MlDsa65P256;

/// Starts a server that has a key of every set beside the usual ones, and a plaintext client. `schemes` are granted for
/// every key.
async fn server_with(schemes: &[&str]) -> (TestServer, CryptoserverClient<Channel>) {
    let server = TestServer::with(|config, _| {
        let keys = config.keys.directory.clone().unwrap();
        for set in MlKemSet::ALL {
            let key = generate::ml_kem(set).unwrap();
            write_secret(&keys.join(format!("{set}.pem")), &*export::private_pkcs8_pem(&key).unwrap());
        }
        for set in MlDsaSet::ALL {
            let key = generate::ml_dsa(set).unwrap();
            write_secret(&keys.join(format!("{set}.pem")), &*export::private_pkcs8_pem(&key).unwrap());
        }
        let key = generate::slh_dsa(SLH_DSA).unwrap();
        write_secret(&keys.join(format!("{SLH_DSA}.pem")), &*export::private_pkcs8_pem(&key).unwrap());
        let key = generate::composite(COMPOSITE).unwrap();
        write_secret(&keys.join(format!("{COMPOSITE}.pem")), &*export::private_pkcs8_pem(&key).unwrap());
        let mut grant = config.grants[0].clone();
        grant.clients.push("loopback".into());
        let schemes = schemes.iter().map(|scheme| (*scheme).into()).collect();
        config.grants = vec![GrantConfig { schemes, ..grant }];
    })
    .await;
    let url = format!("http://{}", server.addresses.plaintext.unwrap());
    let client = CryptoserverClient::new(Channel::from_shared(url).unwrap().connect().await.unwrap());
    (server, client)
}

async fn info(client: &mut CryptoserverClient<Channel>, name: &str) -> proto::KeyInfo {
    let request = proto::GetPublicKeyRequest { name: name.into() };
    client.get_public_key(request).await.unwrap().into_inner()
}

fn variant(kind: scheme::Kind, variant: MlDsaVariant) -> proto::Scheme {
    let written = oarlock_wire::scheme::write(Scheme::MlDsaVerify { set: DSA, variant }).unwrap();
    proto::Scheme { kind: kind.into(), ..written }
}

fn sign_request(key: &str, of: MlDsaVariant, input: Input<'_>, context: &[u8]) -> SignRequest {
    let bytes = Bytes::copy_from_slice(input.bytes());
    let input = match input {
        Input::Message(_) => sign_request::Input::Message(bytes),
        Input::Digest(_) => sign_request::Input::Digest(bytes),
    };
    SignRequest {
        key: key.into(),
        scheme: Some(variant(scheme::Kind::MlDsaSign, of)),
        input: Some(input),
        context: Bytes::copy_from_slice(context),
    }
}

/// Returns the request that verifies what another one has signed.
fn verify_request(signed: &SignRequest, key: verify_request::Key, signature: &Bytes) -> VerifyRequest {
    let input = signed.input.clone().map(|input| match input {
        sign_request::Input::Message(message) => verify_request::Input::Message(message),
        sign_request::Input::Digest(digest) => verify_request::Input::Digest(digest),
    });
    let scheme =
        signed.scheme.map(|scheme| proto::Scheme { kind: scheme::Kind::MlDsaVerify.into(), ..scheme });
    VerifyRequest {
        key: Some(key),
        scheme,
        input,
        signature: signature.clone(),
        context: signed.context.clone(),
    }
}

fn resident(name: &str) -> verify_request::Key {
    verify_request::Key::Resident(name.into())
}

async fn decapsulate(
    client: &mut CryptoserverClient<Channel>,
    key: &str,
    ciphertext: impl Into<Bytes>,
) -> Result<Bytes, Status> {
    let request = DecapsulateRequest { key: key.into(), ciphertext: ciphertext.into() };
    client.decapsulate(request).await.map(|answer| answer.into_inner().shared_secret)
}

#[tokio::test]
async fn signs_and_verifies_every_variant_under_a_context() {
    let (_server, mut client) = server_with(&["*"]).await;
    let digest = [5; 48];
    let pre_hash = MlDsaVariant::PreHash(DigestAlg::Sha3_384);
    for set in MlDsaSet::ALL {
        let name = set.to_string();
        let public = info(&mut client, &name).await;
        assert_eq!(public.kind, name);
        for (of, input, context) in [
            (MlDsaVariant::Pure, Input::Message(b"hello"), &b"mail"[..]),
            (MlDsaVariant::Pure, Input::Message(b""), &[7; 255]),
            (pre_hash, Input::Message(b"hello"), b""),
            (pre_hash, Input::Digest(&digest), b"mail"),
            (MlDsaVariant::ExternalMu, Input::Digest(&[9; 64]), b""),
        ] {
            let signed = sign_request(&name, of, input, context);
            let signature = client.sign(signed.clone()).await.unwrap().into_inner().signature;
            assert_eq!(signature.len(), set.signature_len());
            for key in [resident(&name), verify_request::Key::PublicKey(public.public_key.clone())] {
                let verify = verify_request(&signed, key, &signature);
                assert!(client.verify(verify.clone()).await.unwrap().into_inner().is_valid, "{of:?}");
                if of != MlDsaVariant::ExternalMu {
                    let other = VerifyRequest { context: "other".into(), ..verify };
                    assert!(!client.verify(other).await.unwrap().into_inner().is_valid, "{of:?}");
                }
            }
        }
    }
}

/// The signatures of one variant are none of another, except those over a mu that was made for it.
#[tokio::test]
async fn tells_the_variants_of_ml_dsa_apart() {
    let (_server, mut client) = server_with(&["*"]).await;
    let name = DSA.to_string();
    let public = import::spki_der(&info(&mut client, &name).await.public_key).unwrap();
    let tr = ml_dsa::public_hash(public.ml_dsa_public().unwrap().1);
    let mu = ml_dsa::message_mu(&tr, b"mail", b"hello").unwrap();
    let pure = sign_request(&name, MlDsaVariant::Pure, Input::Message(b"hello"), b"mail");
    let hashed =
        sign_request(&name, MlDsaVariant::PreHash(DigestAlg::Sha512), Input::Message(b"hello"), b"mail");
    let given = sign_request(&name, MlDsaVariant::ExternalMu, Input::Digest(&mu), b"");
    let requests = [pure, hashed, given];
    for (at, signed) in requests.iter().enumerate() {
        let signature = client.sign(signed.clone()).await.unwrap().into_inner().signature;
        for (other, claimed) in requests.iter().enumerate() {
            let verify = verify_request(claimed, resident(&name), &signature);
            let is_valid = client.verify(verify).await.unwrap().into_inner().is_valid;
            assert_eq!(is_valid, (at == 1) == (other == 1), "{at} as {other}");
        }
        let verify = verify_request(signed, resident("ml-dsa-87"), &signature);
        assert!(!client.verify(verify).await.unwrap().into_inner().is_valid, "another set");
    }
    let deterministic = |mut request: SignRequest| {
        request.scheme.as_mut().unwrap().is_deterministic = true;
        request
    };
    let mut signatures = Vec::new();
    for request in
        [deterministic(requests[0].clone()), deterministic(requests[0].clone()), requests[0].clone()]
    {
        signatures.push(client.sign(request).await.unwrap().into_inner().signature);
    }
    assert!(signatures[0] == signatures[1] && signatures[1] != signatures[2]);
}

/// Pure signatures and those of digests are none of each other, and a second computation changes no answer.
#[tokio::test]
async fn signs_and_verifies_slh_dsa_with_and_without_a_digest() {
    let (_server, mut client) = server_with(&["*slh-dsa*"]).await;
    let name = SLH_DSA.to_string();
    let public = info(&mut client, &name).await;
    assert_eq!(public.kind, name);
    let scheme = |kind: scheme::Kind, pre_hash: Option<DigestAlg>| {
        let written = oarlock_wire::scheme::write(Scheme::SlhDsaVerify { set: SLH_DSA, pre_hash }).unwrap();
        proto::Scheme { kind: kind.into(), is_deterministic: kind == scheme::Kind::SlhDsaSign, ..written }
    };
    let mut signatures = Vec::new();
    let digests = [None, Some(DigestAlg::Sha256), Some(DigestAlg::Shake128)];
    for pre_hash in digests {
        let request = SignRequest {
            key: name.clone(),
            scheme: Some(scheme(scheme::Kind::SlhDsaSign, pre_hash)),
            input: Some(sign_request::Input::Message("hello".into())),
            context: "mail".into(),
        };
        let signature = client.sign(request.clone()).await.unwrap().into_inner().signature;
        assert_eq!(signature.len(), SLH_DSA.signature_len());
        assert_eq!(client.sign(request).await.unwrap().into_inner().signature, signature, "deterministic");
        signatures.push(signature);
    }
    for (at, signature) in signatures.iter().enumerate() {
        for (other, pre_hash) in digests.into_iter().enumerate() {
            let request = VerifyRequest {
                key: Some(verify_request::Key::PublicKey(public.public_key.clone())),
                scheme: Some(scheme(scheme::Kind::SlhDsaVerify, pre_hash)),
                input: Some(verify_request::Input::Message("hello".into())),
                signature: signature.clone(),
                context: "mail".into(),
            };
            let is_valid = client.verify(request).await.unwrap().into_inner().is_valid;
            assert_eq!(is_valid, at == other, "{at} as {other}");
        }
    }
    let with_variant = proto::Scheme {
        ml_dsa_variant: scheme::MlDsaVariant::ExternalMu.into(),
        ..scheme(scheme::Kind::SlhDsaSign, None)
    };
    let request = SignRequest {
        key: name,
        scheme: Some(with_variant),
        input: Some(sign_request::Input::Message("hello".into())),
        context: Bytes::new(),
    };
    let refused = client.sign(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains("ml_dsa_variant"), "{}", refused.message());
}

#[tokio::test]
async fn signs_and_verifies_composites() {
    let (_server, mut client) = server_with(&["*"]).await;
    let name = COMPOSITE.to_string();
    let public = info(&mut client, &name).await;
    assert_eq!(public.kind, name);
    let scheme = |scheme| Some(oarlock_wire::scheme::write(scheme).unwrap());
    let request = SignRequest {
        key: name.clone(),
        scheme: scheme(Scheme::CompositeSign { alg: COMPOSITE }),
        input: Some(sign_request::Input::Message("hello".into())),
        context: "mail".into(),
    };
    let signature = client.sign(request.clone()).await.unwrap().into_inner().signature;
    for key in [
        verify_request::Key::Resident(name.clone()),
        verify_request::Key::PublicKey(public.public_key.clone()),
    ] {
        for (context, is_valid) in [("mail", true), ("", false)] {
            let request = VerifyRequest {
                key: Some(key.clone()),
                scheme: scheme(Scheme::CompositeVerify { alg: COMPOSITE }),
                input: Some(verify_request::Input::Message("hello".into())),
                signature: signature.clone(),
                context: context.into(),
            };
            assert_eq!(client.verify(request).await.unwrap().into_inner().is_valid, is_valid);
        }
    }
    // The key of a composite has no half that signs alone, nor does another key sign as one.
    for (key, other) in [
        (name, Scheme::MlDsaSign { set: DSA, variant: MlDsaVariant::Pure, nonce: NonceRule::Hedged }),
        (DSA.to_string(), Scheme::CompositeSign { alg: COMPOSITE }),
    ] {
        let request = SignRequest { key, scheme: scheme(other), ..request.clone() };
        assert_eq!(client.sign(request).await.unwrap_err().code(), Code::InvalidArgument, "{other}");
    }
}

#[tokio::test]
async fn verifies_hss_and_xmss_under_public_keys() {
    let (_server, mut client) = server_with(&["*"]).await;
    let bytes = |text: &str| -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    for line in KNOWN_SIGNATURES.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [public, message, signature] = [1, 2, 3].map(|at| bytes(words[at]));
        let (key, scheme) = match words[0] {
            "hss" => (raw::hss_public(&public).unwrap(), Scheme::HssVerify),
            _ => (raw::xmss_public(&public).unwrap(), Scheme::XmssVerify),
        };
        for (message, is_valid) in [(message, true), (b"another".to_vec(), false)] {
            let request = VerifyRequest {
                key: Some(verify_request::Key::PublicKey(export::spki_der(&key).unwrap().into())),
                scheme: Some(oarlock_wire::scheme::write(scheme).unwrap()),
                input: Some(verify_request::Input::Message(message.into())),
                signature: signature.clone().into(),
                context: Bytes::new(),
            };
            assert_eq!(client.verify(request).await.unwrap().into_inner().is_valid, is_valid, "{scheme}");
        }
    }
}

#[tokio::test]
async fn names_what_is_wrong_with_a_signature_request() {
    let (_server, mut client) = server_with(&["*"]).await;
    let sign = |key: &str, of, input, context: &[u8]| sign_request(key, of, input, context);
    let (pure, mu) = (MlDsaVariant::Pure, MlDsaVariant::ExternalMu);
    let hello = Input::Message(b"hello");
    let with_digest = {
        let mut request = sign("ml-dsa-65", pure, hello, b"");
        request.scheme.as_mut().unwrap().digest = proto::Digest::Sha512.into();
        request
    };
    let ecdsa = SignRequest {
        key: "p256".into(),
        scheme: Some(proto::Scheme {
            kind: scheme::Kind::EcdsaSign.into(),
            digest: proto::Digest::Sha256.into(),
            ..Default::default()
        }),
        ..sign("p256", pure, hello, b"mail")
    };
    for (request, code, reason) in [
        (sign("ml-dsa-65", pure, hello, &[1; 256]), Code::InvalidArgument, "at most 255 with ml-dsa-65-sign"),
        (sign("ml-dsa-65", mu, Input::Digest(&[1; 64]), b"x"), Code::InvalidArgument, "context"),
        (sign("ml-dsa-65", mu, Input::Digest(&[1; 63]), b""), Code::InvalidArgument, "mu"),
        (sign("ml-dsa-65", mu, hello, b""), Code::Unimplemented, "external mu"),
        (sign("ml-dsa-65", pure, Input::Digest(&[1; 64]), b""), Code::Unimplemented, "digest"),
        (sign("ml-kem-768", pure, hello, b""), Code::InvalidArgument, "wrong key type"),
        (sign("ed25519", pure, hello, b""), Code::InvalidArgument, "wrong key type"),
        (ecdsa, Code::InvalidArgument, "at most 0 with ecdsa-p256-sha256-sign"),
        (with_digest, Code::InvalidArgument, "digest is set, and has no meaning with the variant PURE"),
    ] {
        let status = client.sign(request).await.unwrap_err();
        assert!(status.code() == code && status.message().contains(reason), "{reason}: {status:?}");
    }
    // Signatures of any length come from the peer: they are not valid, and no error.
    let signed = sign("ml-dsa-65", pure, hello, b"");
    for signature in [vec![0; 1], vec![0; DSA.signature_len() - 1], vec![0; DSA.signature_len()]] {
        let verify = verify_request(&signed, resident("ml-dsa-65"), &signature.into());
        assert!(!client.verify(verify).await.unwrap().into_inner().is_valid);
    }
}

#[tokio::test]
async fn encapsulates_and_decapsulates() {
    let (_server, mut client) = server_with(&["*"]).await;
    for set in MlKemSet::ALL {
        let name = set.to_string();
        let public = info(&mut client, &name).await;
        let of = |key| EncapsulateRequest { key: Some(key) };
        for request in [
            of(encapsulate_request::Key::Resident(name.clone())),
            of(encapsulate_request::Key::PublicKey(public.public_key.clone())),
        ] {
            let made = client.encapsulate(request).await.unwrap().into_inner();
            assert_eq!((made.ciphertext.len(), made.shared_secret.len()), (set.ciphertext_len(), 32));
            let secret = decapsulate(&mut client, &name, made.ciphertext.clone()).await.unwrap();
            assert_eq!(secret, made.shared_secret);
            // Implicit rejection: a ciphertext that was not made for the key has a secret that stays the same.
            let mut changed = made.ciphertext.to_vec();
            changed[17] ^= 1;
            let rejected = decapsulate(&mut client, &name, changed.clone()).await.unwrap();
            assert_eq!(rejected.len(), 32);
            assert_ne!(rejected, made.shared_secret);
            assert_eq!(decapsulate(&mut client, &name, changed).await.unwrap(), rejected);
        }
    }
}

#[tokio::test]
async fn names_what_is_wrong_with_a_ciphertext_or_a_kem_key() {
    let (_server, mut client) = server_with(&["*"]).await;
    let len = KEM.ciphertext_len();
    for (key, ciphertext, reason) in [
        ("ml-kem-768", vec![0; len - 1], "rejected"),
        ("ml-kem-768", vec![0; len + 1], "rejected"),
        ("ml-kem-1024", vec![0; len], "rejected"),
        ("ml-kem-768", vec![], "ciphertext is missing"),
        ("", vec![0; len], "key is missing"),
        ("x25519", vec![0; len], "wrong key type"),
        ("ml-dsa-65", vec![0; len], "wrong key type"),
        ("aes128", vec![0; len], "symmetric key"),
    ] {
        let status = decapsulate(&mut client, key, ciphertext).await.unwrap_err();
        assert!(
            status.code() == Code::InvalidArgument && status.message().contains(reason),
            "{key}: {status:?}"
        );
    }
    let absent = decapsulate(&mut client, "absent", vec![0; len]).await.unwrap_err();
    assert_eq!(absent.code(), Code::PermissionDenied);
    let point = generate::ec(Curve::P256).unwrap();
    let brought = |key: &Key| encapsulate_request::Key::PublicKey(export::spki_der(key).unwrap().into());
    for (key, reason) in [
        (None, "key is missing"),
        (Some(encapsulate_request::Key::Resident(String::new())), "key is missing"),
        (Some(encapsulate_request::Key::Resident("ml-dsa-44".into())), "wrong key type"),
        (Some(brought(&point)), "wrong key type"),
        (Some(encapsulate_request::Key::PublicKey("no key".into())), ""),
    ] {
        let status = client.encapsulate(EncapsulateRequest { key }).await.unwrap_err();
        assert!(
            status.code() == Code::InvalidArgument && status.message().contains(reason),
            "{reason}: {status:?}"
        );
    }
}

/// Only the job that is wrong fails, at its place.
#[tokio::test]
async fn answers_batches_with_contexts_on_every_listener() {
    let (server, _) = server_with(&["*"]).await;
    for endpoint in [server.tls(), server.plaintext(), server.unix()] {
        let link = ServerLink::open(&endpoint).await.unwrap();
        let mut keys = Vec::new();
        for (handle, name) in (0..).zip(["ml-dsa-65", "ml-kem-768", "ed25519"]) {
            let info = open_resident(&link, handle, name).await;
            keys.push(import::spki_der(&info.public_key).unwrap());
        }
        let [dsa, kem, edwards] = &keys[..] else { panic!("three keys") };
        let (variant, nonce) = (MlDsaVariant::Pure, NonceRule::Hedged);
        let sign = Scheme::MlDsaSign { set: DSA, variant, nonce };
        let job = |context| Job::with_scheme(sign, dsa, Input::Message(b"hello"), &[]).context(context);
        let edwards_job = Job::with_scheme(Scheme::Ed25519Sign, edwards, Input::Message(b"hello"), &[]);
        let first = run(
            &link,
            &[
                (job(b"one"), 0),
                (job(&[3; 256]), 0),
                (Job::encapsulate(kem), 1),
                (edwards_job.context(b"one"), 2),
                (edwards_job, 2),
                (job(b""), 0),
                (job(b"one"), 1),
            ],
        )
        .await;
        let reason = |at: usize| first[at].as_ref().unwrap_err().to_string();
        assert!(reason(1).contains("at most 255 with ml-dsa-65-sign"), "{}", reason(1));
        assert!(reason(3).contains("at most 0 with ed25519-sign"), "{}", reason(3));
        assert!(reason(6).contains("wrong key type"), "{}", reason(6));
        let made = first[2].as_ref().unwrap();
        let (ciphertext, secret) = made.split_at(KEM.ciphertext_len());
        let verify = |context, signature| {
            let scheme = Scheme::MlDsaVerify { set: DSA, variant };
            (Job::with_scheme(scheme, dsa, Input::Message(b"hello"), signature).context(context), 0)
        };
        let (one, empty) = (first[0].as_ref().unwrap(), first[5].as_ref().unwrap());
        let second = run(
            &link,
            &[
                verify(b"one", one),
                verify(b"two", one),
                verify(b"", empty),
                (Job::decapsulate(kem, ciphertext), 1),
                (Job::decapsulate(kem, &ciphertext[1..]), 1),
                (Job::decapsulate(kem, &[]), 1),
                (Job::decapsulate(kem, &[8; 1_088]), 1),
            ],
        )
        .await;
        let rejected = Err(JobError::Rejected);
        assert_eq!(
            second[..6],
            [Ok(vec![]), rejected.clone(), Ok(vec![]), Ok(secret.to_vec()), rejected.clone(), rejected]
        );
        assert_eq!(second[6].as_ref().unwrap().len(), 32);
    }
}

/// A client that signs a mu of any content can make signatures of every variant and context.
#[tokio::test]
async fn a_grant_covers_one_variant_and_never_mu_by_the_way() {
    let (pure, mu) = (MlDsaVariant::Pure, MlDsaVariant::ExternalMu);
    let hash = MlDsaVariant::PreHash(DigestAlg::Sha512);
    for (granted, allowed) in [
        ("ml-dsa-65-sign", vec![pure]),
        ("ml-dsa-*", vec![pure]),
        ("hash-sha512-ml-dsa-65-sign", vec![hash]),
        ("hash-*", vec![hash]),
        ("mu-ml-dsa-65-sign", vec![mu]),
        ("ml-dsa-44-sign", vec![]),
        ("*-ml-dsa-65-sign", vec![hash, mu]),
        ("*-sign", vec![pure, hash, mu]),
    ] {
        let (_server, mut client) = server_with(&[granted]).await;
        for of in [pure, hash, mu] {
            let input = if of == mu { Input::Digest(&[1; 64]) } else { Input::Message(b"hello") };
            let answer = client.sign(sign_request("ml-dsa-65", of, input, b"")).await;
            let code = answer.err().map(|status| status.code());
            let expected = (!allowed.contains(&of)).then_some(Code::PermissionDenied);
            assert_eq!(code, expected, "{granted}: {of:?}");
        }
    }
}

#[tokio::test]
async fn decapsulation_needs_a_grant_of_its_own() {
    let (_server, mut client) = server_with(&["ml-kem-768-encaps", "*-verify"]).await;
    let key = Some(encapsulate_request::Key::Resident("ml-kem-768".into()));
    let made = client.encapsulate(EncapsulateRequest { key }).await.unwrap().into_inner();
    let refused = decapsulate(&mut client, "ml-kem-768", made.ciphertext).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    assert!(refused.message().contains("ml-kem-768-decaps"), "{refused}");
}

/// Writes PKCS#8 around the content of the OCTET STRING. All lengths here need two bytes.
fn pkcs8(last_arc: (u8, u8), content: &[u8]) -> Vec<u8> {
    let long = |tag: u8, content: &[u8]| {
        let len = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[tag, 0x82], &len[..], content].concat()
    };
    let oid = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, last_arc.0, last_arc.1];
    let algorithm = [&[0x30, 0x0b], &oid[..]].concat();
    long(0x30, &[&[2, 1, 0], &algorithm[..], &long(0x04, content)].concat())
}

fn octets(content: &[u8]) -> Vec<u8> {
    match u8::try_from(content.len()) {
        Ok(len @ ..=127) => [&[4, len], content].concat(),
        _ => [&[4, 0x82], &u16::try_from(content.len()).unwrap().to_be_bytes()[..], content].concat(),
    }
}

fn both(seed: &[u8], expanded: &[u8]) -> Vec<u8> {
    let members = [octets(seed), octets(expanded)].concat();
    [&[0x30, 0x82], &u16::try_from(members.len()).unwrap().to_be_bytes()[..], &members].concat()
}

/// RFC 9881 and RFC 9935 section 6: a key file has the seed, the expanded key, or both, which must belong together.
#[tokio::test]
async fn reads_key_files_of_every_form_and_names_the_broken_ones() {
    let kem_seed: Vec<u8> = (0..64).collect();
    let dsa_seed: Vec<u8> = (0..32).collect();
    let kem = ml_kem::expand(KEM, kem_seed[..].try_into().unwrap()).unwrap();
    let dsa = ml_dsa::expand(DSA, dsa_seed[..].try_into().unwrap()).unwrap();
    let (kem_oid, dsa_oid) = ((4, 2), (3, 18));
    let server = TestServer::with(|config, _| {
        config.grants[0].clients.push("loopback".into());
        let keys = config.keys.directory.clone().unwrap();
        let write = |name: &str, der: Vec<u8>| write_secret(&keys.join(format!("{name}.der")), der);
        for (name, oid, seed, expanded) in
            [("kem", kem_oid, &kem_seed, &kem.private), ("dsa", dsa_oid, &dsa_seed, &dsa.private)]
        {
            let tagged = [&[0x80, u8::try_from(seed.len()).unwrap()], &seed[..]].concat();
            // A short key has short lengths.
            let short = |content: &[u8]| {
                let mut der = pkcs8(oid, content);
                let inner = [&[4, u8::try_from(content.len()).unwrap()], content].concat();
                der.truncate(20);
                der.splice(0..4, [0x30, u8::try_from(16 + inner.len()).unwrap()]);
                [der, inner].concat()
            };
            write(&format!("{name}-seed"), short(&tagged));
            write(&format!("{name}-expanded"), pkcs8(oid, &octets(expanded)));
            write(&format!("{name}-both"), pkcs8(oid, &both(seed, expanded)));
            let mut changed = expanded.to_vec();
            *changed.last_mut().unwrap() ^= 1;
            write(&format!("{name}-changed"), pkcs8(oid, &both(seed, &changed)));
            write(&format!("{name}-cut"), pkcs8(oid, &octets(&expanded[1..])));
        }
    })
    .await;
    let warnings = oarlock_server::check(&server.config, test_server::engines()).unwrap();
    for (file, reason) in [
        (
            "kem-changed.der",
            "ML-KEM-768: expected the expanded key that follows from the seed, found another",
        ),
        ("dsa-changed.der", "ML-DSA-65: expected the expanded key that follows from the seed, found another"),
        ("kem-cut.der", "2400"),
        ("dsa-cut.der", "4032"),
    ] {
        let said = warnings.iter().find(|warning| warning.contains(file));
        assert!(said.is_some_and(|said| said.contains(reason)), "{file}: {warnings:?}");
    }
    let url = format!("http://{}", server.addresses.plaintext.unwrap());
    let mut client = CryptoserverClient::new(Channel::from_shared(url).unwrap().connect().await.unwrap());
    let encapsulate = EncapsulateRequest { key: Some(encapsulate_request::Key::Resident("kem-seed".into())) };
    let made = client.encapsulate(encapsulate).await.unwrap().into_inner();
    let signed = sign_request("dsa-seed", MlDsaVariant::Pure, Input::Message(b"hello"), b"");
    let signature = client.sign(signed.clone()).await.unwrap().into_inner().signature;
    for form in ["seed", "expanded", "both"] {
        let secret = decapsulate(&mut client, &format!("kem-{form}"), made.ciphertext.clone()).await.unwrap();
        assert_eq!(secret, made.shared_secret, "{form}");
        let verify = verify_request(&signed, resident(&format!("dsa-{form}")), &signature);
        assert!(client.verify(verify).await.unwrap().into_inner().is_valid, "{form}");
        let signed = sign_request(&format!("dsa-{form}"), MlDsaVariant::Pure, Input::Message(b"x"), b"");
        assert!(client.sign(signed).await.is_ok(), "{form}");
    }
    for name in ["kem-changed", "dsa-changed", "kem-cut"] {
        let request = proto::GetPublicKeyRequest { name: name.into() };
        assert_eq!(client.get_public_key(request).await.unwrap_err().code(), Code::PermissionDenied);
    }
}
