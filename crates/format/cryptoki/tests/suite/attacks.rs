//! An attacker who may call everything that a logged-in user may call, and who knows the keys that he made: random
//! sequences of calls, none of which shows bytes of a key that must not leave. Bortolozzo, Centenaro, Focardi and
//! Steel, "Attacking and Fixing PKCS#11 Security Tokens", CCS 2010, search the same calls.

use std::collections::HashSet;

use oarlock_cryptoki::{
    AttributeType as A, KeyTypeNumber, Mechanism, MechanismParameters as P, MechanismType as M, ObjectHandle,
    ReturnCode, UserType,
};

use crate::common::*;

const SEQUENCES: u64 = if cfg!(debug_assertions) { 30 } else { 300 };
const CALLS: usize = 300;
/// The number of bytes of a secret that count as shown if they stand in an output.
const SHOWN: usize = 8;
/// The number of unknown bytes whose values an attacker can try.
const GUESSED: usize = 8;
/// The earlier outputs, and the known keys, with which an output is compared.
const COMPARED: usize = 16;

const USES: [A; 7] = [A::ENCRYPT, A::DECRYPT, A::SIGN, A::VERIFY, A::WRAP, A::UNWRAP, A::DERIVE];
const IV: [u8; 16] = [7; 16];

/// A generator of numbers with a seed, by which a sequence can be repeated (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.next(from.len())]
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next(256) as u8).collect()
    }
}

struct Attacker {
    user: User,
    numbers: Numbers,
    /// All pieces of the keys that must not leave.
    secrets: HashSet<[u8; SHOWN]>,
    /// Every key, and the bytes of a secret that are in it; 0 if there are none.
    keys: Vec<(ObjectHandle, usize)>,
    /// The outputs of the token: wrapped keys, ciphertexts and plaintexts.
    outputs: Vec<Vec<u8>>,
    /// The values of the attacker's own keys.
    known: Vec<Vec<u8>>,
}

impl Attacker {
    /// A token with keys that must not leave: by the default template, for every use, and only under trusted keys.
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        let user = User::new();
        let (cryptoki, session) = (&user.cryptoki, user.session);
        cryptoki.logout(session).unwrap();
        cryptoki.login(session, UserType::SecurityOfficer, Some(SO_PIN)).unwrap();
        let trusted = Template::secret(KeyTypeNumber::AES, &numbers.bytes(32))
            .flag(A::PRIVATE, false)
            .flag(A::TOKEN, true)
            .flag(A::WRAP, true)
            .flag(A::TRUSTED, true);
        let trusted = user.create(&trusted).unwrap();
        cryptoki.logout(session).unwrap();
        cryptoki.login(session, UserType::User, Some(USER_PIN)).unwrap();
        let (keys, secrets) = (vec![(trusted, 0)], HashSet::new());
        let mut made = Self { user, numbers, secrets, keys, outputs: Vec::new(), known: Vec::new() };
        let only_trusted = Template::new().flag(A::EXTRACTABLE, true).flag(A::WRAP_WITH_TRUSTED, true);
        for key_type in [KeyTypeNumber::AES, KeyTypeNumber::GENERIC_SECRET] {
            for more in [Template::new(), Template::new().flag(A::DERIVE, true), only_trusted.clone()] {
                let value = made.numbers.bytes(32);
                let template =
                    more.number(A::CLASS, 4).number(A::KEY_TYPE, key_type.0).bytes(A::VALUE, &value);
                let key = made.user.create(&template).unwrap();
                made.keys.push((key, value.len()));
                made.secrets.extend(pieces(&value));
            }
        }
        made
    }

    fn key(&mut self) -> (ObjectHandle, usize) {
        self.numbers.pick(&self.keys)
    }

    /// A template with random uses and random protection.
    fn template(&mut self) -> Template {
        let mut template = Template::new();
        for kind in USES {
            match self.numbers.next(4) {
                0 => template = template.flag(kind, true),
                1 => template = template.flag(kind, false),
                _ => {}
            }
        }
        match self.numbers.next(3) {
            0 => template.readable(),
            1 => template.flag(A::EXTRACTABLE, true),
            _ => template,
        }
    }

    fn mechanism(&mut self) -> Mechanism<'static> {
        let gcm = P::Gcm { iv: &IV[..12], aad: &[], tag_bits: 128 };
        self.numbers.pick(&[
            Mechanism::plain(M::AES_KEY_WRAP),
            Mechanism::plain(M::AES_KEY_WRAP_KWP),
            Mechanism::plain(M::AES_ECB),
            Mechanism::new(M::AES_CBC, P::Iv(&IV)),
            Mechanism::new(M::AES_CBC_PAD, P::Iv(&IV)),
            Mechanism::new(M::AES_CTR, P::Counter { bits: 128, block: IV }),
            Mechanism::new(M::AES_GCM, gcm),
            Mechanism::plain(M::SHA256_HMAC),
        ])
    }

    fn data(&mut self) -> Vec<u8> {
        match self.numbers.next(3) {
            0 if !self.outputs.is_empty() => {
                let at = self.numbers.next(self.outputs.len());
                self.outputs[at].clone()
            }
            1 if !self.known.is_empty() => {
                let at = self.numbers.next(self.known.len());
                self.known[at].clone()
            }
            _ => {
                let len = self.numbers.pick(&[1, 16, 32, 48]);
                self.numbers.bytes(len)
            }
        }
    }

    /// Makes one call. Most are refused.
    fn call(&mut self) -> Result<(), ReturnCode> {
        let (key, secret_len) = self.key();
        let template = self.template();
        let mechanism = self.mechanism();
        let (session, data) = (self.user.session, self.data());
        match self.numbers.next(9) {
            0 => {
                let value = self.numbers.bytes(32);
                let key_type = self.numbers.pick(&[KeyTypeNumber::AES, KeyTypeNumber::GENERIC_SECRET]);
                let template =
                    template.number(A::CLASS, 4).number(A::KEY_TYPE, key_type.0).bytes(A::VALUE, &value);
                let made = self.user.create(&template)?;
                self.keys.push((made, 0));
                self.known.push(value);
            }
            1 => {
                let entries = template.entries();
                let copy = self.user.cryptoki.copy_object(session, key, &entries)?;
                self.keys.push((copy, secret_len));
            }
            2 => self.user.set(key, &template)?,
            3 => self.derive(key, secret_len, &template)?,
            4 => {
                let (other, _) = self.key();
                let wrapped =
                    take(|output| self.user.cryptoki.wrap_key(session, &mechanism, key, other, output))?;
                self.outputs.push(wrapped);
            }
            5 => {
                let key_type = self.numbers.pick(&[KeyTypeNumber::AES, KeyTypeNumber::GENERIC_SECRET]);
                let template = template.number(A::CLASS, 4).number(A::KEY_TYPE, key_type.0);
                let cryptoki = &self.user.cryptoki;
                let made = cryptoki.unwrap_key(session, &mechanism, key, &data, &template.entries())?;
                self.keys.push((made, 0));
            }
            6 => self.outputs.push(self.user.encrypt(&mechanism, key, &data)?),
            7 => self.outputs.push(self.user.decrypt(&mechanism, key, &data)?),
            _ => self.outputs.push(self.user.get(key, A::VALUE)?),
        }
        Ok(())
    }

    /// Derives a key. Who uses one in which few bytes of a secret are unknown finds them by trying.
    fn derive(
        &mut self,
        base: ObjectHandle,
        secret_len: usize,
        template: &Template,
    ) -> Result<(), ReturnCode> {
        let (other, other_len) = self.key();
        let data = self.numbers.bytes(32);
        let (kind, parameters, natural) = match self.numbers.next(4) {
            0 => (M::CONCATENATE_BASE_AND_DATA, P::DerivationData(&data), secret_len),
            1 => (M::CONCATENATE_DATA_AND_BASE, P::DerivationData(&data), secret_len),
            2 => (M::XOR_BASE_AND_DATA, P::DerivationData(&data), secret_len),
            _ => (M::CONCATENATE_BASE_AND_KEY, P::KeyHandle(other.0), secret_len + other_len),
        };
        let wanted = self.numbers.pick(&[None, Some(1), Some(16), Some(32), Some(33)]);
        let template = match wanted {
            Some(len) => template.clone().number(A::VALUE_LEN, len),
            None => template.clone(),
        };
        let mechanism = Mechanism::new(kind, parameters);
        let derived =
            self.user.cryptoki.derive_key(self.user.session, &mechanism, base, &template.entries())?;
        let before = if kind == M::CONCATENATE_DATA_AND_BASE { data.len() } else { 0 };
        let len = usize::try_from(wanted.unwrap_or(u64::MAX)).unwrap().saturating_sub(before).min(natural);
        assert!(len == 0 || len > GUESSED, "{kind:?} leaves {len} bytes of a secret to guess");
        self.keys.push((derived, len));
        Ok(())
    }

    /// Checks that the last output shows no secret: neither itself, nor beside an earlier output of the same key stream
    /// and a known key.
    fn check(&self) {
        let Some((last, earlier)) = self.outputs.split_last() else { return };
        self.check_bytes(last);
        for other in earlier.iter().rev().take(COMPARED) {
            let streams: Vec<u8> = last.iter().zip(other).map(|(left, right)| left ^ right).collect();
            for value in self.known.iter().rev().take(COMPARED) {
                let open: Vec<u8> = streams.iter().zip(value).map(|(left, right)| left ^ right).collect();
                self.check_bytes(&open);
            }
        }
    }

    fn check_bytes(&self, bytes: &[u8]) {
        let is_shown = pieces(bytes).any(|piece| self.secrets.contains(&piece));
        assert!(!is_shown, "a secret is shown in {bytes:02x?}");
    }
}

fn pieces(bytes: &[u8]) -> impl Iterator<Item = [u8; SHOWN]> {
    bytes.windows(SHOWN).map(|piece| piece.try_into().unwrap())
}

#[test]
fn no_sequence_of_permitted_calls_shows_a_key_that_must_not_leave() {
    let mut permitted = 0;
    for seed in 0..SEQUENCES {
        let mut attacker = Attacker::new(seed);
        for _ in 0..CALLS {
            let before = attacker.outputs.len();
            permitted += usize::from(attacker.call().is_ok());
            if attacker.outputs.len() > before {
                attacker.check();
            }
        }
    }
    // An attacker of whom everything is refused proves nothing.
    assert!(permitted > CALLS * SEQUENCES as usize / 10, "{permitted} calls");
}
