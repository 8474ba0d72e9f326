//! The suite itself can fail: an engine with one corrupted lane does not pass.

use oarlock::engine_api::selftest::CorruptEngine;
use oarlock_core::{
    AeadAlg, BatchSize, BlockCipher, CipherMode, Curve, Direction, Engine, EngineFault, Jobs, MacAlg,
    Outcomes, RsaExponent, Shape, WrapAlg,
};
use oarlock_scalar::ScalarEngine;
use oarlock_vectors::{EngineRunner, SuiteReport, official, stamp};

/// Offers some shapes only, which makes a test short.
#[derive(Debug)]
struct SomeShapes<E>(E, Vec<Shape>);

impl<E: Engine> Engine for SomeShapes<E> {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        if self.1.contains(&shape) { self.0.offers(shape) } else { None }
    }
    fn confirms(&self, shape: Shape) -> bool {
        self.0.confirms(shape)
    }
    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.0.run(jobs, out)
    }
}

fn findings(report: &SuiteReport, start: &str) -> (usize, usize) {
    let files = report.files.iter().filter(|file| file.name.starts_with(start));
    files.fold((0, 0), |(passed, failed), file| (passed + file.passed, failed + file.failures.len()))
}

#[test]
fn one_corrupted_lane_fails_seams_random_and_official_cases() {
    let shapes = [
        (Shape::RsaPublic { bits: 2048, exponent: RsaExponent::F4 }, "Pkcs1Verify"),
        (Shape::RsaPrivate { bits: 2048 }, "Oaep"),
        (Shape::EcdsaVerify { curve: Curve::P256 }, "Ecdsa"),
        (Shape::Ed25519Verify, "Ed25519"),
        (Shape::X25519, "X25519"),
        (Shape::Ecdh { curve: Curve::P384 }, "EcdhSecp384r1"),
        (Shape::Aead { alg: AeadAlg::Aes256Gcm, direction: Direction::Decrypt }, "AesGcm"),
        (
            Shape::Cipher { alg: BlockCipher::Aes128, mode: CipherMode::Cbc, direction: Direction::Encrypt },
            "AesCbc",
        ),
        (Shape::Aead { alg: AeadAlg::ChaCha20Poly1305, direction: Direction::Decrypt }, "ChaCha20Poly1305"),
        (Shape::Mac { alg: MacAlg::HmacSha512 }, "HmacSha512"),
        (Shape::Mac { alg: MacAlg::HmacSha1 }, "HmacSha1"),
        (Shape::Mac { alg: MacAlg::HmacSha224 }, "HmacSha224"),
        (Shape::Wrap { alg: WrapAlg::Aes128Kwp, direction: Direction::Decrypt }, "AesKeyWrapWithPadding"),
    ];
    let scalar = ScalarEngine::detect().unwrap();
    for (shape, file) in shapes {
        let healthy = SomeShapes(scalar.clone(), vec![shape]);
        let report = stamp(&healthy, &scalar);
        assert_eq!(report.failed(), 0, "{report}");
        assert!(findings(&report, file).0 > 0 && findings(&report, "seams").0 > 0, "{report}");
        let corrupted = stamp(&CorruptEngine::new(healthy, shape, 0), &scalar);
        for name in [file, "seams", "random"] {
            assert!(findings(&corrupted, name).1 > 0, "{shape}: {name} noticed nothing\n{corrupted}");
        }
    }
}

#[test]
fn reports_shapes_that_are_not_offered_as_skipped() {
    let idle = SomeShapes(ScalarEngine::detect().unwrap(), Vec::new());
    let report = official::run(&EngineRunner(&idle));
    // Some cases of ML-KEM and ML-DSA are of the import of keys, which is no engine's work.
    let of_imports = findings(&report, "Ml").0;
    assert_eq!((report.passed(), report.failed()), (of_imports, 0), "{report}");
    assert!(report.to_string().contains("ed25519-verify not offered"));
}

#[test]
#[should_panic(expected = "no case was run")]
fn a_run_that_tests_nothing_fails() {
    SuiteReport::default().assert_clean();
}
