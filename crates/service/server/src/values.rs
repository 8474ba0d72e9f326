//! Calls with one value or a few under a symmetric resident key.
//!
//! Each call opens its keys by name, and runs one batch of records.
//!
//! | module | content |
//! |---|---|
//! | `values` | the calls |
//! | `values/batch` | the records of a call, and the result of each value |

mod batch;

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use oarlock::{FpeAlg, MAX_FF1_TWEAK, MacAlg};
use oarlock_keytable::{
    Alphabet, BatchEntry, BatchTask, EntryInput, EntryIv, EntryOutput, KeyPolicy, KeyType, MIN_MAC_LEN,
    TokenFormat,
};
use oarlock_records::{RowCipher, TOKEN_ALGS, split_version, usual_mac, version_name};
use oarlock_wire::proto::{
    self, Blame, Code, DecryptRequest, DecryptResponse, EncryptRequest, EncryptResponse, Fault, MacRequest,
    MacResponse, RecordResults, RewrapRequest, TokeniseRequest, TokeniseResponse, VerifyMacRequest,
    VerifyMacResponse,
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use self::batch::{ValueBatch, ValueResults};
use crate::json::MAX_ELEMENTS;
use crate::session::{OpenedValueKey, ValueSession, no_answer, refusal};

/// The maximum number of values of a call.
const MAX_VALUES: usize = MAX_ELEMENTS;

/// One call with values.
pub(crate) struct ValueCall<'c>(pub(crate) ValueSession<'c>);

/// A key that a call has opened.
struct ValueKey {
    handle: u32,
    key_type: KeyType,
    policy: Arc<KeyPolicy>,
    /// The version that the call uses.
    version: u32,
}

impl ValueCall<'_> {
    pub(crate) async fn encrypt(mut self, request: &EncryptRequest) -> Result<EncryptResponse, Fault> {
        check_count("plaintexts", request.plaintexts.len())?;
        let key = self.open(&request.key, 0)?;
        let cipher = cipher(&request.algorithm, key.key_type)?;
        let sealing = seal(cipher, &key).aad_if_any(associated(cipher, &request.aad)?);
        let mut batch = ValueBatch::default();
        for plaintext in &request.plaintexts {
            batch.add(sealing.input(plaintext));
        }
        let results = self.run(&mut batch).await?;
        Ok(EncryptResponse {
            ciphertexts: results.values(ValueResults::sealed),
            key_version: key.version,
            faults: results.into_faults()?,
        })
    }

    pub(crate) async fn decrypt(mut self, request: &DecryptRequest) -> Result<DecryptResponse, Fault> {
        check_count("ciphertexts", request.ciphertexts.len())?;
        let key = self.open(&request.key, request.key_version)?;
        let cipher = cipher(&request.algorithm, key.key_type)?;
        let aad = associated(cipher, &request.aad)?;
        let mut batch = ValueBatch::default();
        for sealed in &request.ciphertexts {
            match cipher.split_sealed(sealed) {
                Some(parts) => batch.add(open(cipher, &key, parts).aad_if_any(aad)),
                None => batch.refuse(short(cipher, sealed.len())),
            }
        }
        let results = self.run(&mut batch).await?;
        Ok(DecryptResponse {
            plaintexts: results.values(ValueResults::result),
            faults: results.into_faults()?,
            ..DecryptResponse::default()
        })
    }

    pub(crate) async fn mac(mut self, request: &MacRequest) -> Result<MacResponse, Fault> {
        check_count("messages", request.messages.len())?;
        let key = self.open(&request.key, 0)?;
        let alg = mac_alg(&request.algorithm, key.key_type)?;
        let output = match request.length {
            0 => EntryOutput::Output,
            len => EntryOutput::Leading(mac_len(alg, len as usize)?),
        };
        let mut batch = ValueBatch::default();
        for message in &request.messages {
            batch.add(BatchEntry::new(BatchTask::mac(alg)).key(key.handle).input(message).output(output));
        }
        let results = self.run(&mut batch).await?;
        Ok(MacResponse {
            macs: results.values(ValueResults::result),
            key_version: key.version,
            faults: results.into_faults()?,
        })
    }

    pub(crate) async fn verify_mac(mut self, request: &VerifyMacRequest) -> Result<VerifyMacResponse, Fault> {
        check_count("messages", request.messages.len())?;
        if request.macs.len() != request.messages.len() {
            let (macs, messages) = (request.macs.len(), request.messages.len());
            return Err(invalid(&format!("{macs} macs: expected {messages}, one for each message")));
        }
        // Codes are made here, and only the verdict leaves.
        self.0.verify_by_older_keys();
        let key = self.open(&request.key, request.key_version)?;
        let alg = mac_alg(&request.algorithm, key.key_type)?;
        let len = verified_len(&key, alg, request.length)?;
        let making = BatchEntry::new(BatchTask::mac(alg)).key(key.handle).output(EntryOutput::Leading(len));
        let mut batch = ValueBatch::default();
        for (message, mac) in request.messages.iter().zip(&request.macs) {
            if mac.len() == len as usize {
                batch.add(making.input(message));
            } else {
                batch.refuse(wrong_mac_len(alg, mac.len(), len));
            }
        }
        let results = self.run(&mut batch).await?;
        let found = results.values(ValueResults::result);
        // A value that failed has no code.
        let is_valid = |(found, given): (&Bytes, &Bytes)| !found.is_empty() && found.ct_eq(given).into();
        let are_valid = found.iter().zip(&request.macs).map(is_valid).collect();
        Ok(VerifyMacResponse { are_valid, faults: results.into_faults()? })
    }

    pub(crate) async fn rewrap(mut self, request: &RewrapRequest) -> Result<EncryptResponse, Fault> {
        check_count("ciphertexts", request.ciphertexts.len())?;
        let from = self.open(&request.key, request.key_version)?;
        let to_name = match &*request.to_key {
            "" => split_version(&request.key).map_or(&*request.key, |(base, _)| base),
            name => name,
        };
        let to = self.open(to_name, 0)?;
        let (old, new) =
            (cipher(&request.algorithm, from.key_type)?, cipher(&request.to_algorithm, to.key_type)?);
        let (old_aad, new_aad) = (associated(old, &request.aad)?, associated(new, &request.aad)?);
        let sealing = seal(new, &to).aad_if_any(new_aad);
        let mut batch = ValueBatch::default();
        for sealed in &request.ciphertexts {
            match old.split_sealed(sealed) {
                Some(parts) => {
                    // The plaintext goes from slot to slot, and no output holds it.
                    let slot = batch.slot(parts[1].len());
                    let opening = open(old, &from, parts).aad_if_any(old_aad);
                    batch.add_step(opening.output(EntryOutput::Slot(slot)));
                    batch.add(sealing.input_from(EntryInput::Slot(slot)));
                }
                None => batch.refuse(short(old, sealed.len())),
            }
        }
        let results = self.run(&mut batch).await?;
        Ok(EncryptResponse {
            ciphertexts: results.values(ValueResults::sealed),
            key_version: to.version,
            faults: results.into_faults()?,
        })
    }

    /// Makes tokens of texts, or texts of tokens.
    pub(crate) async fn tokens(
        mut self,
        request: &TokeniseRequest,
        direction: TokenDirection,
    ) -> Result<TokeniseResponse, Fault> {
        check_count("texts", request.texts.len())?;
        if request.tweak.len() > MAX_FF1_TWEAK {
            let found = request.tweak.len();
            return Err(invalid(&format!("tweak: {found} bytes: expected {MAX_FF1_TWEAK} at most")));
        }
        let version = if direction == TokenDirection::ToText { request.key_version } else { 0 };
        let key = self.open(&request.key, version)?;
        let alg = token_alg(key.key_type)?;
        let asked = request.format.clone().unwrap_or_default();
        // An alphabet may have 65,536 characters.
        let len = asked.alphabet.len();
        let format = self.0.in_turn(len, move || token_format(&asked)).await??;
        let task = match direction {
            TokenDirection::ToToken => BatchTask::encrypt_format(alg),
            TokenDirection::ToText => BatchTask::decrypt_format(alg),
        };
        let radix = format.radix_bytes();
        let entry = BatchEntry::new(task).key(key.handle).iv(EntryIv::Bytes(&radix)).aad(&request.tweak);
        let mut batch = ValueBatch::default();
        let mut numerals = Zeroizing::new(Vec::new());
        for text in &request.texts {
            numerals.clear();
            // A vector that grew would leave a text in freed memory.
            numerals.reserve(2 * text.len());
            match format.read(text, &mut numerals) {
                Ok(()) => batch.add(entry.input(&numerals)),
                Err(error) => batch.refuse(invalid(&error.to_string())),
            }
        }
        let results = self.run(&mut batch).await?;
        let numerals = results.values(ValueResults::result);
        let mut texts = Vec::with_capacity(request.texts.len());
        for (text, numerals) in request.texts.iter().zip(&numerals) {
            let mut written = Vec::with_capacity(format.max_len(text.len()));
            if !numerals.is_empty() && format.write(text, numerals, &mut written).is_err() {
                return Err(no_answer());
            }
            texts.push(String::from_utf8(written).map_err(|_| no_answer())?);
        }
        Ok(TokeniseResponse { texts, key_version: key.version, faults: results.into_faults()? })
    }

    /// Opens a symmetric key. A version other than zero names it in addition to the name.
    fn open(&mut self, name: &str, version: u32) -> Result<ValueKey, Fault> {
        if name.is_empty() {
            return Err(invalid("key is missing: expected the name of a resident key"));
        }
        let named = match (split_version(name), version) {
            (_, 0) => Cow::Borrowed(name),
            (None, version) => Cow::Owned(version_name(name, version)),
            (Some((_, named)), version) if named == version => Cow::Borrowed(name),
            (Some((_, named)), version) => {
                return Err(invalid(&format!("key_version {version}: the name says version {named}")));
            }
        };
        let OpenedValueKey { handle, key_type, policy, newest } = self.0.open_key(&named)?;
        let version = match version {
            0 => split_version(name).map_or(newest, |(_, version)| version),
            version => version,
        };
        Ok(ValueKey { handle, key_type, policy, version })
    }

    async fn run(&mut self, values: &mut ValueBatch) -> Result<ValueResults, Fault> {
        // If every value was refused before, there is nothing to compute.
        let results = match values.is_empty() {
            true => RecordResults::default(),
            false => self.0.run(values.records()).await?,
        };
        Ok(values.finish(results))
    }
}

/// The direction of a call with tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenDirection {
    ToToken,
    ToText,
}

fn seal(cipher: RowCipher, key: &ValueKey) -> BatchEntry<'static> {
    // AES-SIV needs no IV.
    let iv = if cipher.is_siv() { EntryIv::Zero } else { EntryIv::Generated };
    BatchEntry::new(cipher.encryption()).key(key.handle).iv(iv)
}

fn open<'v>(cipher: RowCipher, key: &ValueKey, [iv, ciphertext, tag]: [&'v [u8]; 3]) -> BatchEntry<'v> {
    let entry = BatchEntry::new(cipher.decryption()).key(key.handle);
    entry.iv(EntryIv::Bytes(iv)).tag(tag).input(ciphertext)
}

fn check_count(field: &str, found: usize) -> Result<(), Fault> {
    match found {
        1..=MAX_VALUES => Ok(()),
        0 => Err(invalid(&format!("{field} is missing: expected 1 to {MAX_VALUES} values"))),
        _ => Err(invalid(&format!(
            "{field}: {found} values: expected {MAX_VALUES} at most. Process and Stream take more"
        ))),
    }
}

/// Returns the cipher that was asked for, else the usual one of the key.
fn cipher(asked: &str, key_type: KeyType) -> Result<RowCipher, Fault> {
    let found = match asked {
        "" => RowCipher::usual_for(key_type),
        name => Some(name.parse().map_err(|_| {
            let names = RowCipher::ALL.map(|cipher| cipher.to_string()).join(", ");
            invalid(&format!("algorithm: expected one of {names}"))
        })?),
    };
    found.filter(|cipher: &RowCipher| cipher.key_type() == key_type).ok_or_else(|| {
        let fitting: Vec<String> = RowCipher::fitting(key_type).map(|cipher| cipher.to_string()).collect();
        let expected = match fitting.is_empty() {
            true => "a key of AES or DES".to_owned(),
            false => fitting.join(" or "),
        };
        let message = format!("the key is {key_type}: expected {expected}");
        refusal(Code::WrongKey, &message, Blame::Caller)
    })
}

fn mac_alg(asked: &str, key_type: KeyType) -> Result<MacAlg, Fault> {
    let alg = match asked {
        "" => usual_mac(key_type),
        name => MacAlg::ALL.into_iter().find(|alg| alg.to_string() == name).ok_or_else(|| {
            let names: Vec<String> = MacAlg::ALL.iter().map(ToString::to_string).collect();
            invalid(&format!("algorithm: expected one of {}", names.join(", ")))
        })?,
    };
    match KeyType::for_mac(alg) == key_type {
        true => Ok(alg),
        false => {
            let message = format!("{alg}: the key is {key_type}: expected {}", KeyType::for_mac(alg));
            Err(refusal(Code::WrongKey, &message, Blame::Caller))
        }
    }
}

fn mac_len(alg: MacAlg, found: usize) -> Result<u32, Fault> {
    let max = alg.tag_len();
    match (MIN_MAC_LEN..=max).contains(&found) {
        true => Ok(found as u32),
        false => {
            Err(invalid(&format!("a code of {found} bytes: expected {MIN_MAC_LEN} to {max} with {alg}")))
        }
    }
}

/// Returns the length of the codes that a request verifies: the whole, or the one that the key's policy allows.
fn verified_len(key: &ValueKey, alg: MacAlg, asked: u32) -> Result<u32, Fault> {
    let whole = alg.tag_len();
    let len = if asked == 0 { whole } else { mac_len(alg, asked as usize)? as usize };
    if len == whole || key.policy.verifies_mac_len(whole, len) {
        return Ok(len as u32);
    }
    let message = format!(
        "length {len}: the policy of the key allows whole codes of {whole} bytes, and no cut ones of this length \
         (\"mac_length\")"
    );
    Err(refusal(Code::PermissionDenied, &message, Blame::Caller))
}

/// Returns the refusal of a code that is not as long as those that the request verifies.
fn wrong_mac_len(alg: MacAlg, found: usize, expected: u32) -> Fault {
    let whole = if expected as usize == alg.tag_len() { ", the whole code" } else { "" };
    invalid(&format!(
        "a code of {found} bytes: expected {expected} bytes of {alg}{whole}. Cut codes need \"length\" in the request and \
         \"mac_length\" in the policy of the key"
    ))
}

fn token_alg(key_type: KeyType) -> Result<FpeAlg, Fault> {
    let fits = |alg: &FpeAlg| KeyType::for_fpe(*alg) == Some(key_type);
    TOKEN_ALGS.into_iter().find(fits).ok_or_else(|| {
        let message = format!("the key is {key_type}: expected aes128 or aes256");
        refusal(Code::WrongKey, &message, Blame::Caller)
    })
}

fn token_format(asked: &proto::TokenFormat) -> Result<TokenFormat, Fault> {
    let alphabet = match &*asked.alphabet {
        "" => Alphabet::digits(),
        name => name.parse().map_err(|error| invalid(&format!("format.alphabet: {error}")))?,
    };
    let format =
        TokenFormat::new(alphabet).keep_first(asked.keep_first as usize).keep_last(asked.keep_last as usize);
    match asked.has_luhn_digit {
        true => format.with_luhn().map_err(|error| invalid(&format!("format.has_luhn_digit: {error}"))),
        false => Ok(format),
    }
}

/// Returns associated data that the cipher can authenticate. An empty field is none.
fn associated(cipher: RowCipher, aad: &[u8]) -> Result<Option<&[u8]>, Fault> {
    match cipher {
        RowCipher::Cbc(_) if !aad.is_empty() => {
            Err(invalid("aad: CBC authenticates nothing: expected a cipher of GCM or SIV"))
        }
        _ => Ok((!aad.is_empty()).then_some(aad)),
    }
}

fn short(cipher: RowCipher, found: usize) -> Fault {
    let min = cipher.iv_len() + cipher.tag_len();
    invalid(&format!(
        "a ciphertext of {found} bytes: expected at least {min} bytes under {cipher}, the IV and the tag"
    ))
}

fn invalid(message: &str) -> Fault {
    refusal(Code::Invalid, message, Blame::Caller)
}
