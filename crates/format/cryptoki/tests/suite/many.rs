//! Many inputs in one call: one batch for each mechanism, and inputs that fail alone.

use oarlock::Accelerator;
use oarlock_cryptoki::{
    AttributeType as A, KeyTypeNumber, ManyAnswers, ManyInputs, ManyIvs, ManySpans, Mechanism,
    MechanismParameters as P, MechanismType as M, ObjectHandle, ReturnCode,
};

use crate::common::*;

const COUNT: usize = 40;

/// A user whose batches are counted.
struct CountedUser {
    user: User,
    accelerator: Accelerator,
}

impl CountedUser {
    fn new() -> Self {
        let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
        Self { user: User::on(accelerator.clone()), accelerator }
    }

    /// Runs `call`, which must be one batch of `COUNT` operations or fewer.
    fn in_one_batch(&self, call: impl Fn() -> Result<ManyAnswers, ReturnCode>) -> ManyAnswers {
        // The first call of a shape also runs its self test.
        call().unwrap();
        let before = self.batches();
        let answers = call().unwrap();
        assert_eq!(self.batches() - before, 1);
        answers
    }

    fn batches(&self) -> u64 {
        self.accelerator.histograms().runs.iter().map(|runs| runs.operations.count()).sum()
    }

    fn encrypt(
        &self,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        inputs: ManyInputs<'_>,
        ivs: ManyIvs<'_>,
    ) -> ManyAnswers {
        let (library, session) = (&self.user.cryptoki, self.user.session);
        self.in_one_batch(|| library.encrypt_many(session, mechanism, key, inputs, ivs))
    }

    fn decrypt(
        &self,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        inputs: ManyInputs<'_>,
        ivs: ManyIvs<'_>,
    ) -> ManyAnswers {
        let (library, session) = (&self.user.cryptoki, self.user.session);
        self.in_one_batch(|| library.decrypt_many(session, mechanism, key, inputs, ivs))
    }
}

fn pieces(data: &[u8], len: usize) -> ManyInputs<'_> {
    ManyInputs { data, spans: ManySpans::Stride { count: data.len() / len, len, stride: len } }
}

fn joined(answers: &ManyAnswers) -> Vec<u8> {
    answers.iter().flat_map(|answer| answer.unwrap().to_vec()).collect()
}

#[test]
fn ciphers_with_ivs_are_one_batch_and_a_bad_input_fails_alone() {
    let counted = CountedUser::new();
    let aes = counted.user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    let chacha = counted.user.create(&Template::secret(KeyTypeNumber::CHACHA20, &[1; 32])).unwrap();
    let data: Vec<u8> = (0..=255).cycle().take(21 * COUNT).collect();
    let ivs: Vec<u8> = (0..=255).cycle().skip(7).take(16 * COUNT).collect();
    let gcm = P::Gcm { iv: &[0; 12], aad: b"aad", tag_bits: 96 };
    for (mechanism, key, iv_len) in [
        (Mechanism::new(M::AES_CBC_PAD, P::Iv(&[0; 16])), aes, 16),
        (Mechanism::new(M::AES_CTR, P::Counter { bits: 128, block: [0; 16] }), aes, 16),
        (Mechanism::new(M::AES_GCM, gcm), aes, 12),
        (
            Mechanism::new(M::CHACHA20_POLY1305, P::ChaCha20Poly1305 { nonce: &[0; 12], aad: b"aad" }),
            chacha,
            12,
        ),
    ] {
        let ivs = ManyIvs::Each(&ivs[..iv_len * COUNT]);
        let mut sealed = joined(&counted.encrypt(&mechanism, key, pieces(&data, 21), ivs));
        let len = sealed.len() / COUNT;
        let opened = counted.decrypt(&mechanism, key, pieces(&sealed, len), ivs);
        assert_eq!(joined(&opened), data, "{mechanism:?}");
        // The last byte of the third input: a tag, a padding, or a byte of the stream.
        sealed[3 * len - 1] ^= 0x80;
        let opened = counted.decrypt(&mechanism, key, pieces(&sealed, len), ivs);
        for (index, (answer, expected)) in opened.iter().zip(data.chunks(21)).enumerate() {
            if index == 2 {
                assert_ne!(answer, Ok(expected), "{mechanism:?}");
            } else {
                assert_eq!(answer, Ok(expected), "{mechanism:?}");
            }
        }
    }
}

#[test]
fn inputs_outside_of_the_buffer_and_of_bad_lengths_fail_alone() {
    let counted = CountedUser::new();
    let key = counted.user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    let data = [7; 64];
    let offsets = [0, 32, 31, 63, 9_999];
    let inputs = ManyInputs { data: &data, spans: ManySpans::Offsets(&offsets) };
    let ivs = [3; 12 * 4];
    let gcm = Mechanism::new(M::AES_GCM, P::Gcm { iv: &[0; 12], aad: &[], tag_bits: 128 });
    let sealed = counted.encrypt(&gcm, key, inputs, ManyIvs::Each(&ivs));
    let lens: Vec<_> = sealed.iter().map(|answer| answer.map(<[u8]>::len)).collect();
    let outside = Err(ReturnCode::ArgumentsBad);
    assert_eq!(lens, [Ok(48), outside, Ok(48), outside]);
    let ecb = Mechanism::plain(M::AES_ECB);
    let offsets = [0, 32, 47, 63, 64];
    let inputs = ManyInputs { data: &data, spans: ManySpans::Offsets(&offsets) };
    let sealed = counted.encrypt(&ecb, key, inputs, ManyIvs::Mechanism);
    let lens: Vec<_> = sealed.iter().map(|answer| answer.map(<[u8]>::len)).collect();
    let length = Err(ReturnCode::DataLenRange);
    assert_eq!(lens, [Ok(32), length, Ok(16), length]);
    assert_eq!(sealed.get(2).unwrap(), counted.user.encrypt(&ecb, key, &data[47..63]).unwrap());
    // A counter of 4 bits has 16 blocks.
    let ctr = Mechanism::new(M::AES_CTR, P::Counter { bits: 4, block: [0; 16] });
    let long = [5; 17 * 16];
    let offsets = [0, 16, 17 * 16];
    let inputs = ManyInputs { data: &long, spans: ManySpans::Offsets(&offsets) };
    let ivs = [[0; 16], [1; 16]].concat();
    let sealed = counted.encrypt(&ctr, key, inputs, ManyIvs::Each(&ivs));
    assert_eq!(sealed.get(0).map(<[u8]>::len), Ok(16));
    assert_eq!(sealed.get(1), Err(ReturnCode::DataLenRange));
}

#[test]
fn rsa_ciphers_are_one_batch_and_a_bad_input_fails_alone() {
    let counted = CountedUser::new();
    let public = Template::new().number(A::MODULUS_BITS, 2048);
    let (public, private) = counted.user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &public, &Template::new()).unwrap();
    let data: Vec<u8> = (0..=255).cycle().take(21 * COUNT).collect();
    let oaep = P::Oaep { hash: M::SHA256, mgf: 2, source: 1, label: b"label" };
    for mechanism in [Mechanism::plain(M::RSA_PKCS), Mechanism::new(M::RSA_PKCS_OAEP, oaep)] {
        let sealed = counted.encrypt(&mechanism, public, pieces(&data, 21), ManyIvs::Mechanism);
        let mut sealed = joined(&sealed);
        let opened = counted.decrypt(&mechanism, private, pieces(&sealed, 256), ManyIvs::Mechanism);
        assert_eq!(joined(&opened), data, "{mechanism:?}");
        // An integer that is not below the modulus.
        sealed[256..512].fill(0xFF);
        let opened = counted.decrypt(&mechanism, private, pieces(&sealed, 256), ManyIvs::Mechanism);
        for (index, (answer, expected)) in opened.iter().zip(data.chunks(21)).enumerate() {
            assert_eq!(answer == Ok(expected), index != 1, "{mechanism:?} {index}");
        }
    }
    let raw = Mechanism::plain(M::RSA_X_509);
    let mut blocks = vec![1; 256 * COUNT];
    blocks[..256].fill(0xFF);
    let sealed = counted.encrypt(&raw, public, pieces(&blocks, 256), ManyIvs::Mechanism);
    assert_eq!(sealed.get(0), Err(ReturnCode::DataInvalid));
    let opened = counted.decrypt(&raw, private, pieces(&joined_but_first(&sealed), 256), ManyIvs::Mechanism);
    assert_eq!(joined(&opened), blocks[256..]);
}

fn joined_but_first(answers: &ManyAnswers) -> Vec<u8> {
    answers.iter().skip(1).flat_map(|answer| answer.unwrap().to_vec()).collect()
}

#[test]
fn macs_and_bare_signatures_are_verified_in_one_batch() {
    let counted = CountedUser::new();
    let (library, session) = (&counted.user.cryptoki, counted.user.session);
    let public = Template::new().number(A::MODULUS_BITS, 2048);
    let (public, private) = counted.user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &public, &Template::new()).unwrap();
    let aes = counted.user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    let data: Vec<u8> = (0..=255).cycle().take(21 * COUNT).collect();
    for (mechanism, signing, verifying) in [
        (Mechanism::plain(M::RSA_X_509), private, public),
        (Mechanism::plain(M::AES_CMAC), aes, aes),
        (Mechanism::new(M::AES_CMAC_GENERAL, P::Number(7)), aes, aes),
    ] {
        let inputs = pieces(&data, 21);
        let signed = counted.in_one_batch(|| library.sign_many(session, &mechanism, signing, inputs));
        let mut signatures = joined(&signed);
        let len = signatures.len() / COUNT;
        signatures[len + 1] ^= 1;
        let verified = counted.in_one_batch(|| {
            library.verify_many(session, &mechanism, verifying, inputs, pieces(&signatures, len))
        });
        for (index, answer) in verified.iter().enumerate() {
            let expected = if index == 1 { Err(ReturnCode::SignatureInvalid) } else { Ok(&[][..]) };
            assert_eq!(answer, expected, "{mechanism:?} {index}");
        }
    }
}
