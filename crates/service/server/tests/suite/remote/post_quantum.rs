//! Tests of ML-KEM and ML-DSA keys that live at servers.

use oarlock::keys::export;
use oarlock::{CompositeAlg, DigestAlg, MlDsaSet, MlDsaVariant, MlKemSet, SigningScheme, VerifyingScheme};

use super::*;

/// Starts two servers with the same keys, ML-KEM-768, ML-DSA-65 and a composite among them.
async fn lattice_twins() -> (TestServer, TestServer) {
    let first = TestServer::with(|config, _| {
        let keys = config.keys.directory.as_deref().unwrap();
        let write = |name: &str, key: &Key| {
            let pem = export::private_pkcs8_pem(key).unwrap();
            test_server::write_secret(&keys.join(format!("{name}.pem")), &*pem);
        };
        write("kem", &generate::ml_kem(MlKemSet::MlKem768).unwrap());
        write("dsa", &generate::ml_dsa(MlDsaSet::MlDsa65).unwrap());
        write("both", &generate::composite(CompositeAlg::MlDsa44Ed25519).unwrap());
    })
    .await;
    let keys: PathBuf = first.directory.path().join("keys");
    let second = TestServer::with(|config, _| config.keys.directory = Some(keys)).await;
    (first, second)
}

fn one(accelerator: &Accelerator, job: Job<'_>) -> Result<Vec<u8>, JobError> {
    accelerator.run_all(&[job]).get(0).map(<[u8]>::to_vec)
}

#[tokio::test(flavor = "multi_thread")]
async fn decapsulates_at_the_servers_that_live_and_encapsulates_here() {
    let (mut first, mut second) = lattice_twins().await;
    let directory = tempfile::tempdir().unwrap();
    // It opens the key, and is gone before it answers.
    let dying = bad_server(directory.path(), "dying.sock", BadBehaviour::Leaves);
    let (accelerator, remote) = client(config(vec![dying, first.unix(), second.tls()]));
    let key = remote.key("kem").unwrap();
    let made = one(&accelerator, Job::encapsulate(&key)).unwrap();
    let (ciphertext, secret) = made.split_at(MlKemSet::MlKem768.ciphertext_len());
    let decapsulate = || one(&accelerator, Job::decapsulate(&key, ciphertext));
    for _ in 0..4 {
        assert_eq!(decapsulate().unwrap(), secret);
    }
    // An invalid length is the answer no, and a ciphertext for another key has a secret of its own.
    assert_eq!(one(&accelerator, Job::decapsulate(&key, &ciphertext[1..])), Err(JobError::Rejected));
    let other = one(&accelerator, Job::decapsulate(&key, &[3; 1_088])).unwrap();
    assert!(other.len() == 32 && other != secret);
    first.stop().await;
    for _ in 0..4 {
        assert_eq!(decapsulate().unwrap(), secret);
    }
    second.stop().await;
    assert!(matches!(decapsulate(), Err(JobError::HolderFailed { .. })));
    // The public half is enough.
    assert_eq!(one(&accelerator, Job::encapsulate(&key)).unwrap().len(), made.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn signs_under_contexts_and_refuses_wrong_signatures() {
    let (first, second) = lattice_twins().await;
    let directory = tempfile::tempdir().unwrap();
    let liar = bad_server(directory.path(), "liar.sock", BadBehaviour::Wrong);
    let check = AnswerCheck::Signatures;
    let (accelerator, remote) =
        client(RemoteConfig { check, ..config(vec![liar, first.unix(), second.unix()]) });
    let key = remote.key("dsa").unwrap();
    let set = MlDsaSet::MlDsa65;
    for variant in [MlDsaVariant::Pure, MlDsaVariant::PreHash(DigestAlg::Sha512)] {
        let signing = SigningScheme::ml_dsa(set, variant, NonceRule::Hedged);
        for context in [&b"mail"[..], b""] {
            let sign = Job::sign(signing, &key, Input::Message(b"hello")).context(context);
            let signature = one(&accelerator, sign).unwrap();
            let verify = Job::verify(
                VerifyingScheme::ml_dsa(set, variant),
                &key,
                Input::Message(b"hello"),
                &signature,
            );
            assert!(one(&checker(), verify.context(context)).is_ok());
            assert_eq!(one(&checker(), verify.context(b"other")), Err(JobError::Rejected));
        }
    }
    let long = Job::sign(SigningScheme::ML_DSA_65, &key, Input::Message(b"m")).context(&[1; 256]);
    assert!(matches!(one(&accelerator, long), Err(JobError::Length { what: "context", .. })));
    let mu = SigningScheme::ml_dsa(set, MlDsaVariant::ExternalMu, NonceRule::Hedged);
    let mu = Job::sign(mu, &key, Input::Digest(&[7; 64]));
    assert_eq!(one(&accelerator, mu).unwrap().len(), set.signature_len());
    // The halves of a composite are verified here, like every signature.
    let key = remote.key("both").unwrap();
    let composite = SigningScheme::composite(CompositeAlg::MlDsa44Ed25519);
    let sign = Job::sign(composite, &key, Input::Message(b"hello")).context(b"mail");
    let signature = one(&accelerator, sign).unwrap();
    let verify = Job::verify(composite.verifying(), &key, Input::Message(b"hello"), &signature);
    assert!(one(&checker(), verify.context(b"mail")).is_ok());
    // Signatures that nothing random enters are the same at every server, and the others are verified.
    let (compared, remote) =
        client(RemoteConfig { agreement: 2, ..config(vec![first.unix(), second.unix()]) });
    let key = remote.key("dsa").unwrap();
    for rule in [NonceRule::Deterministic, NonceRule::Hedged] {
        let scheme = SigningScheme::ml_dsa(set, MlDsaVariant::Pure, rule);
        let sign = Job::sign(scheme, &key, Input::Message(b"hello")).context(b"mail");
        assert!(one(&compared, sign).is_ok(), "{rule:?}");
    }
    let key = remote.key("both").unwrap();
    assert!(one(&compared, Job::sign(composite, &key, Input::Message(b"hello"))).is_ok());
}
