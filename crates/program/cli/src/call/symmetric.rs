//! Values under a symmetric key of the server: encrypt, decrypt, rewrap and mac.
//!
//! A sealed value is the IV, the ciphertext and, under GCM, the tag, one after the other. Together with the key they
//! suffice to open it.

use std::io::{self, Write};

use oarlock::{Direction, MacAlg, OutputSink, Shape, Span};
use oarlock_keytable::{
    Batch, BatchBuilder, BatchEntry, BatchTask, EntryInput, EntryIv, EntryOutput, IvSource, KeyType,
};
use oarlock_records::{Encoding, RowCipher, SecretBuffer, split_version, usual_mac};
use oarlock_wire::proto::{self, Code, Fault, open_key, request, response};
use oarlock_wire::{fault, records, task};
use zeroize::Zeroizing;

use super::args::{CallDecryptArgs, CallEncryptArgs, CallMacArgs, CallRewrapArgs, OutputArgs};
use super::peers::CallPeers;
use super::{CallError, CallSession, hex, read};

/// A symmetric key of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct SymmetricKey {
    key_type: KeyType,
    /// The newest version of the key.
    version: u32,
}

impl CallSession<'_> {
    pub(super) async fn encrypt(&self, args: &CallEncryptArgs) -> Result<(), CallError> {
        let key = self.open_symmetric("encrypt", 0, &args.key).await?;
        let cipher = cipher("--cipher", args.cipher, key.key_type)?;
        let aad = associated(cipher, args.aad.as_deref())?;
        let value = read(&args.input)?;
        let given = args.iv.as_deref().map(|iv| given_iv(cipher, iv)).transpose()?;
        let iv = given.as_ref().map_or(usual_iv(cipher), |iv| EntryIv::Bytes(iv));
        let mut builder = BatchBuilder::new();
        let record = BatchEntry::new(cipher.encryption()).iv(iv).aad_if_any(aad).input(&value);
        let answer = self.last_record(&mut builder, record).await?;
        // The answer has an IV only if the server has made it.
        let iv = given.as_ref().map_or(&answer.iv[..], |iv| iv);
        self.write_sealed(&args.output, &[iv, &answer.result, &answer.tag].concat(), cipher, key)
    }

    /// Decrypts the output of `encrypt`.
    pub(super) async fn decrypt_value(
        &self,
        args: &CallDecryptArgs,
        key: SymmetricKey,
    ) -> Result<(), CallError> {
        let cipher = cipher("--cipher", args.cipher, key.key_type)?;
        let aad = associated(cipher, args.aad.as_deref())?;
        let sealed = read(&args.input)?;
        let [iv, ciphertext, tag] = parts(cipher, &sealed)?;
        let entry = BatchEntry::new(cipher.decryption());
        let entry = entry.iv(EntryIv::Bytes(iv)).aad_if_any(aad).tag(tag).input(ciphertext);
        let answer = self.last_record(&mut BatchBuilder::new(), entry).await?;
        self.write_secret(&args.output, &answer.result, &cipher.to_string())
    }

    pub(super) async fn rewrap(&self, args: &CallRewrapArgs) -> Result<(), CallError> {
        let from = self.open_symmetric("rewrap", 0, &args.key).await?;
        // Without --to-key the value moves to the newest version, whose name has no number.
        let newest = split_version(&args.key).map_or(&*args.key, |(base, _)| base);
        let to = self.open_symmetric("rewrap", 1, args.to_key.as_deref().unwrap_or(newest)).await?;
        let old = cipher("--cipher", args.cipher, from.key_type)?;
        let new = cipher("--to-cipher", args.to_cipher, to.key_type)?;
        let (old_aad, new_aad) =
            (associated(old, args.aad.as_deref())?, associated(new, args.aad.as_deref())?);
        let sealed = read(&args.input)?;
        let [iv, ciphertext, tag] = parts(old, &sealed)?;
        let mut builder = BatchBuilder::new();
        // The value goes from one record to the other in a slot, and no answer has it.
        let slot = builder.slot(u32::try_from(ciphertext.len()).unwrap_or(u32::MAX));
        let opening = BatchEntry::new(old.decryption()).iv(EntryIv::Bytes(iv)).aad_if_any(old_aad).tag(tag);
        let opening = opening.input(ciphertext).output(EntryOutput::Slot(slot));
        builder.add(opening).map_err(CallError::Job)?;
        let sealing = BatchEntry::new(new.encryption()).key(1).iv(usual_iv(new)).aad_if_any(new_aad);
        let answer = self.last_record(&mut builder, sealing.input_from(EntryInput::Slot(slot))).await?;
        let renewed = [&answer.iv[..], &answer.result, &answer.tag].concat();
        self.write_sealed(&args.output, &renewed, new, to)
    }

    pub(super) async fn mac(&self, args: &CallMacArgs) -> Result<(), CallError> {
        let SymmetricKey { key_type: key, .. } = self.open_symmetric("mac", 0, &args.key).await?;
        let alg = args.alg.unwrap_or_else(|| usual_mac(key));
        if KeyType::for_mac(alg) != key {
            return Err(CallError::AlgorithmOfKey {
                option: "--mac",
                found: alg.to_string(),
                key,
                expected: macs(key),
            });
        }
        let output = args.length.map_or(EntryOutput::Output, EntryOutput::Leading);
        let message = read(&args.input)?;
        let entry = BatchEntry::new(BatchTask::mac(alg)).input(&message).output(output);
        let answer = self.last_record(&mut BatchBuilder::new(), entry).await?;
        self.write_result(&args.output, &answer.result, &alg.to_string())
    }

    /// Opens a symmetric key of the server under a handle.
    async fn open_symmetric(
        &self,
        command: &'static str,
        handle: u32,
        name: &str,
    ) -> Result<SymmetricKey, CallError> {
        let info = self.open_resident(handle, name).await?;
        symmetric(&info).ok_or(CallError::KindOfKey { command, key: info.kind, expected: "a symmetric key" })
    }

    /// Opens a key of the server under the first handle, and returns it if it is symmetric.
    pub(super) async fn find_symmetric(&self, name: &str) -> Result<Option<SymmetricKey>, CallError> {
        match &self.peers {
            CallPeers::One(_) => Ok(symmetric(&self.open_resident(0, name).await?)),
            // Symmetric keys are used at one server.
            CallPeers::Several { .. } => Ok(None),
        }
    }

    async fn open_resident(&self, handle: u32, name: &str) -> Result<proto::KeyInfo, CallError> {
        let source = Some(open_key::Source::Resident(name.to_owned()));
        let body = request::Body::OpenKey(proto::OpenKey { handle, source, ..Default::default() });
        match self.peers.one()?.call(body).await? {
            response::Body::Key(info) => Ok(info),
            _ => Err(CallError::Unexpected),
        }
    }

    /// Writes a sealed value, and in JSON the version of its key.
    fn write_sealed(
        &self,
        output: &OutputArgs,
        sealed: &[u8],
        cipher: RowCipher,
        key: SymmetricKey,
    ) -> Result<(), CallError> {
        self.global.note(|| format!("encrypted under version {} of the key", key.version));
        if self.global.json && output.is_plain() {
            let value = serde_json::json!({
                "scheme": cipher.to_string(), "hex": hex(sealed), "key_version": key.version,
            });
            return Ok(writeln!(io::stdout(), "{value}")?);
        }
        self.write_result(output, sealed, &cipher.to_string())
    }

    /// Runs the records of a batch and one more, and returns the outcome of the last.
    async fn last_record(
        &self,
        builder: &mut BatchBuilder,
        entry: BatchEntry<'_>,
    ) -> Result<CallAnswer, CallError> {
        let last = builder.add(entry).map_err(CallError::Job)?;
        let batch = builder.batch();
        let message = records::write(&batch, |handle| handle).map_err(CallError::Wire)?;
        let response::Body::RecordResults(results) =
            self.peers.one()?.call(request::Body::Records(message)).await?
        else {
            return Err(CallError::Unexpected);
        };
        // The first record that failed is the reason for those after it.
        let mut codes = records::codes(&results, batch.records.len).map_err(CallError::Wire)?;
        let failed = codes.find(|code| *code != Code::Done);
        // The iterator borrows the results, and their faults are moved below.
        drop(codes);
        match failed {
            None => CallAnswer::read(&batch, last, &results),
            Some(code) => {
                let bare =
                    Fault { code: code.into(), message: code.as_str_name().into(), ..Fault::default() };
                let fault = results.faults.into_iter().next().unwrap_or(bare);
                Err(CallError::Job(fault::error_of(&fault, "the server")))
            }
        }
    }
}

fn symmetric(info: &proto::KeyInfo) -> Option<SymmetricKey> {
    let version = info.version;
    task::key_type(&info.kind).ok().map(|key_type| SymmetricKey { key_type, version })
}

/// Returns the source of an IV that the caller does not give. AES-SIV needs none.
fn usual_iv(cipher: RowCipher) -> EntryIv<'static> {
    if cipher.is_siv() { EntryIv::Zero } else { EntryIv::Generated }
}

/// The outcome of a record.
struct CallAnswer {
    result: Zeroizing<Vec<u8>>,
    /// The IV, if the server made it.
    iv: Vec<u8>,
    /// The tag, if the record was sealed.
    tag: Vec<u8>,
}

impl CallAnswer {
    /// Reads the parts of the record from the output.
    fn read(batch: &Batch<'_>, record: usize, results: &proto::RecordResults) -> Result<Self, CallError> {
        let part = |span: Span| span.slice(&results.output).ok_or(CallError::Unexpected);
        let Some(OutputSink::Output(result)) = batch.records.output.get(record) else {
            return Err(CallError::Unexpected);
        };
        let iv = match batch.iv_from.get(record) {
            Some(IvSource::Generated(OutputSink::Output(span))) => part(span)?.to_vec(),
            _ => Vec::new(),
        };
        let tag = match (batch.task.get(record), batch.records.tag.get(record)) {
            // In other tasks the tag is a part of the input.
            (Some(BatchTask::Do(Shape::Aead { direction: Direction::Encrypt, .. })), Some(span)) => {
                part(span)?.to_vec()
            }
            _ => Vec::new(),
        };
        Ok(Self { result: Zeroizing::new(part(result)?.to_vec()), iv, tag })
    }
}

/// Returns the cipher that was asked for, else one that fits the key, preferably GCM.
fn cipher(option: &'static str, asked: Option<RowCipher>, key: KeyType) -> Result<RowCipher, CallError> {
    let fitting: Vec<RowCipher> = RowCipher::fitting(key).collect();
    match asked.or_else(|| fitting.first().copied()) {
        Some(cipher) if fitting.contains(&cipher) => Ok(cipher),
        asked => Err(CallError::AlgorithmOfKey {
            option,
            found: asked.map_or_else(|| "none".to_owned(), |cipher| cipher.to_string()),
            key,
            expected: match fitting.is_empty() {
                true => "a key of AES or DES".to_owned(),
                false => fitting.iter().map(RowCipher::to_string).collect::<Vec<_>>().join(" or "),
            },
        }),
    }
}

fn macs(key: KeyType) -> String {
    let fitting = MacAlg::ALL.into_iter().filter(|alg| KeyType::for_mac(*alg) == key);
    fitting.map(|alg| alg.to_string()).collect::<Vec<_>>().join(" or ")
}

fn given_iv(cipher: RowCipher, hex: &str) -> Result<Vec<u8>, CallError> {
    let mut iv = SecretBuffer::default();
    let decoded = Encoding::Hex.decode(hex.as_bytes(), &mut iv);
    match decoded.is_some() && iv.len() == cipher.iv_len() {
        true => Ok(iv[..].to_vec()),
        false => Err(CallError::Iv { cipher: cipher.to_string(), digits: 2 * cipher.iv_len() }),
    }
}

/// Returns the associated data. AES-SIV tells an empty text from none.
fn associated(cipher: RowCipher, aad: Option<&str>) -> Result<Option<&[u8]>, CallError> {
    match (cipher, aad) {
        (RowCipher::Cbc(_), Some(_)) => {
            Err(CallError::Usage("--aad: CBC has no associated data: expected a cipher of GCM"))
        }
        (_, aad) => Ok(aad.map(str::as_bytes)),
    }
}

/// Splits a sealed value into IV, ciphertext and tag.
fn parts(cipher: RowCipher, sealed: &[u8]) -> Result<[&[u8]; 3], CallError> {
    cipher.split_sealed(sealed).ok_or_else(|| CallError::Short {
        cipher: cipher.to_string(),
        min: cipher.iv_len() + cipher.tag_len(),
        found: sealed.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_cipher_and_mac_fit_the_key() {
        let of = |asked: Option<&str>, key| {
            let asked = asked.map(|name| name.parse().unwrap());
            cipher("--cipher", asked, key).map(|cipher| cipher.to_string()).map_err(|error| error.to_string())
        };
        assert_eq!(of(None, KeyType::Aes256), Ok("aes256-gcm".into()));
        assert_eq!(of(None, KeyType::Tdes2), Ok("tdes2-cbc".into()));
        assert_eq!(of(Some("aes128-cbc"), KeyType::Aes128), Ok("aes128-cbc".into()));
        let wrong = of(Some("tdes2-cbc"), KeyType::Aes128).unwrap_err();
        assert_eq!(
            wrong,
            "--cipher tdes2-cbc: the key is aes128: expected aes128-gcm or aes128-gcm-siv or aes128-cbc"
        );
        assert!(of(None, KeyType::Hmac).unwrap_err().ends_with("expected a key of AES or DES"));
        assert_eq!(of(None, KeyType::Aes128Siv), Ok("aes128-siv".into()));
        let is_siv = |key: &KeyType| matches!(key, KeyType::Aes128Siv | KeyType::Aes256Siv);
        for key in KeyType::ALL.into_iter().filter(|key| !is_siv(key)) {
            assert_eq!(KeyType::for_mac(usual_mac(key)), key);
        }
        assert_eq!([KeyType::Hmac, KeyType::Tdes2].map(usual_mac), [MacAlg::HmacSha256, MacAlg::Tdes2Cmac]);
    }

    #[test]
    fn a_sealed_value_is_cut_into_its_parts() {
        let gcm: RowCipher = "aes128-gcm".parse().unwrap();
        let sealed: Vec<u8> = (0..30).collect();
        assert_eq!(parts(gcm, &sealed).unwrap(), [&sealed[..12], &sealed[12..14], &sealed[14..]]);
        assert_eq!(parts(gcm, &sealed[..28]).unwrap()[1], b"");
        let short = parts(gcm, &sealed[..27]).unwrap_err().to_string();
        assert!(short.contains("at least 28 bytes") && short.contains("found 27"), "{short}");
        let cbc: RowCipher = "tdes3-cbc".parse().unwrap();
        assert_eq!(parts(cbc, &sealed[..8]).unwrap(), [&sealed[..8], b"", b""]);
        assert!(given_iv(cbc, "0011223344556677").is_ok());
        for wrong in ["", "00112233445566", "001122334455667x", "001122334455667788"] {
            assert!(
                given_iv(cbc, wrong).unwrap_err().to_string().contains("16 hexadecimal digits"),
                "{wrong}"
            );
        }
    }
}
