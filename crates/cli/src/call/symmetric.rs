//! Values under a symmetric key of the server: seal, open and mac.
//!
//! A sealed value is the IV, the ciphertext and, under GCM, the tag, one after the other. Together with the key they
//! suffice to open it.

use oarlock::batch::{Batch, BatchBuilder, BatchEntry, BatchTask, EntryIv, EntryOutput, IvSource};
use oarlock::table::KeyType;
use oarlock::{BlockCipher, Direction, MacAlg, OutputSink, Shape, Span};
use oarlock_records::{Encoding, RowCipher, SecretBuffer, key_type_of_mac};
use oarlock_wire::proto::{self, Code, Fault, open_key, request, response};
use oarlock_wire::{fault, records, task};
use zeroize::Zeroizing;

use super::args::{CallMacArgs, OpenArgs, SealArgs};
use super::{CallError, CallSession, read};

/// The length of GCM's tag in bytes.
const TAG_LEN: usize = 16;

impl CallSession<'_> {
    pub(super) async fn seal(&self, args: &SealArgs) -> Result<(), CallError> {
        let cipher = cipher(args.cipher, self.open_symmetric("seal", &args.key).await?)?;
        let aad = associated(cipher, args.aad.as_deref())?;
        let value = read(&args.input)?;
        let given = args.iv.as_deref().map(|iv| given_iv(cipher, iv)).transpose()?;
        // AES-SIV needs no IV.
        let usual = if cipher.is_siv() { EntryIv::Zero } else { EntryIv::Generated };
        let iv = given.as_ref().map_or(usual, |iv| EntryIv::Bytes(iv));
        let task = match cipher {
            RowCipher::Cbc(alg) => BatchTask::encrypt(alg),
            RowCipher::Aead(alg) => BatchTask::seal(alg),
        };
        let answer = self.record(BatchEntry::new(task).iv(iv).aad(aad).input(&value)).await?;
        let iv = given.as_ref().map_or(&answer.iv[..], |iv| iv);
        let sealed = [iv, &answer.result, &answer.tag].concat();
        self.write_result(&args.output, &sealed, &cipher.to_string())
    }

    pub(super) async fn open_sealed(&self, args: &OpenArgs) -> Result<(), CallError> {
        let cipher = cipher(args.cipher, self.open_symmetric("open", &args.key).await?)?;
        let aad = associated(cipher, args.aad.as_deref())?;
        let sealed = read(&args.input)?;
        let [iv, ciphertext, tag] = parts(cipher, &sealed)?;
        let task = match cipher {
            RowCipher::Cbc(alg) => BatchTask::decrypt(alg),
            RowCipher::Aead(alg) => BatchTask::open(alg),
        };
        let entry = BatchEntry::new(task).iv(EntryIv::Bytes(iv)).aad(aad).tag(tag).input(ciphertext);
        let answer = self.record(entry).await?;
        self.write_secret(&args.output, &answer.result, &cipher.to_string())
    }

    pub(super) async fn mac(&self, args: &CallMacArgs) -> Result<(), CallError> {
        let key = self.open_symmetric("mac", &args.key).await?;
        let alg = args.alg.unwrap_or_else(|| suitable_mac(key));
        if key_type_of_mac(alg) != key {
            return Err(CallError::AlgorithmOfKey {
                option: "--mac",
                found: alg.to_string(),
                key,
                expected: macs(key),
            });
        }
        let place = args.length.map_or(EntryOutput::Output, EntryOutput::Leading);
        let message = read(&args.input)?;
        let answer = self.record(BatchEntry::new(BatchTask::mac(alg)).input(&message).output(place)).await?;
        self.write_result(&args.output, &answer.result, &alg.to_string())
    }

    /// Opens a symmetric key of the server as the first of the stream, and returns its type.
    async fn open_symmetric(&self, command: &'static str, name: &str) -> Result<KeyType, CallError> {
        let source = Some(open_key::Source::Resident(name.to_owned()));
        let body = request::Body::OpenKey(proto::OpenKey { handle: 0, source, ..Default::default() });
        let response::Body::Key(info) = self.peers.one()?.call(body).await? else {
            return Err(CallError::Unexpected);
        };
        task::key_type(&info.kind).map_err(|_| CallError::KindOfKey {
            command,
            key: info.kind,
            expected: "a symmetric key",
        })
    }

    /// Runs one record under the first key of the stream.
    async fn record(&self, entry: BatchEntry<'_>) -> Result<CallAnswer, CallError> {
        let mut builder = BatchBuilder::new();
        builder.add(entry).map_err(CallError::Job)?;
        let batch = builder.batch();
        let message = records::write(&batch, |handle| handle).map_err(CallError::Wire)?;
        let response::Body::RecordResults(results) =
            self.peers.one()?.call(request::Body::Records(message)).await?
        else {
            return Err(CallError::Unexpected);
        };
        let code = records::codes(&results, 1).map_err(CallError::Wire)?.next();
        match code.ok_or(CallError::Unexpected)? {
            Code::Done => CallAnswer::read(&batch, &results),
            code => {
                let bare =
                    Fault { code: code.into(), message: code.as_str_name().into(), ..Fault::default() };
                let fault = results.faults.into_iter().next().unwrap_or(bare);
                Err(CallError::Job(fault::error_of(&fault, "the server")))
            }
        }
    }
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
    fn read(batch: &Batch<'_>, results: &proto::RecordResults) -> Result<Self, CallError> {
        let part = |span: Span| span.of(&results.output).ok_or(CallError::Unexpected);
        let Some(OutputSink::Output(result)) = batch.records.output.get(0) else {
            return Err(CallError::Unexpected);
        };
        let iv = match batch.iv_from.get(0) {
            Some(IvSource::Generated(OutputSink::Output(span))) => part(span)?.to_vec(),
            _ => Vec::new(),
        };
        let tag = match (batch.task.get(0), batch.records.tag.get(0)) {
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
fn cipher(asked: Option<RowCipher>, key: KeyType) -> Result<RowCipher, CallError> {
    let mut fitting: Vec<RowCipher> =
        RowCipher::ALL.into_iter().filter(|own| own.key_type() == key).collect();
    fitting.sort_by_key(|cipher| matches!(cipher, RowCipher::Cbc(_)));
    match asked.or_else(|| fitting.first().copied()) {
        Some(cipher) if fitting.contains(&cipher) => Ok(cipher),
        asked => Err(CallError::AlgorithmOfKey {
            option: "--cipher",
            found: asked.map_or_else(|| "none".to_owned(), |cipher| cipher.to_string()),
            key,
            expected: match fitting.is_empty() {
                true => "a key of AES or DES".to_owned(),
                false => fitting.iter().map(RowCipher::to_string).collect::<Vec<_>>().join(" or "),
            },
        }),
    }
}

/// Returns the default MAC for a key.
fn suitable_mac(key: KeyType) -> MacAlg {
    let suits = |alg: &MacAlg| key_type_of_mac(*alg) == key;
    let preferred = [MacAlg::HmacSha256, MacAlg::Tdes2Cmac];
    preferred.into_iter().chain(MacAlg::ALL).find(suits).unwrap_or(MacAlg::HmacSha256)
}

fn macs(key: KeyType) -> String {
    let fitting = MacAlg::ALL.into_iter().filter(|alg| key_type_of_mac(*alg) == key);
    fitting.map(|alg| alg.to_string()).collect::<Vec<_>>().join(" or ")
}

fn iv_len(cipher: RowCipher) -> usize {
    match cipher {
        RowCipher::Cbc(BlockCipher::Aes128 | BlockCipher::Aes256) => 16,
        RowCipher::Cbc(_) => 8,
        RowCipher::Aead(alg) => alg.usual_iv_len(),
    }
}

fn tag_len(cipher: RowCipher) -> usize {
    if matches!(cipher, RowCipher::Aead(_)) { TAG_LEN } else { 0 }
}

fn given_iv(cipher: RowCipher, hex: &str) -> Result<Vec<u8>, CallError> {
    let mut iv = SecretBuffer::default();
    let decoded = Encoding::Hex.decode(hex.as_bytes(), &mut iv);
    match decoded.is_some() && iv.len() == iv_len(cipher) {
        true => Ok(iv[..].to_vec()),
        false => Err(CallError::Iv { cipher: cipher.to_string(), digits: 2 * iv_len(cipher) }),
    }
}

fn associated(cipher: RowCipher, aad: Option<&str>) -> Result<&[u8], CallError> {
    match (cipher, aad) {
        (RowCipher::Cbc(_), Some(_)) => {
            Err(CallError::Usage("--aad: CBC has no associated data: expected a cipher of GCM"))
        }
        (_, aad) => Ok(aad.unwrap_or_default().as_bytes()),
    }
}

/// Splits a sealed value into IV, ciphertext and tag.
fn parts(cipher: RowCipher, sealed: &[u8]) -> Result<[&[u8]; 3], CallError> {
    let split = || {
        let (iv, rest) = sealed.split_at_checked(iv_len(cipher))?;
        let (ciphertext, tag) = rest.split_at_checked(rest.len().checked_sub(tag_len(cipher))?)?;
        Some([iv, ciphertext, tag])
    };
    split().ok_or_else(|| CallError::Short {
        cipher: cipher.to_string(),
        min: iv_len(cipher) + tag_len(cipher),
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
            cipher(asked, key).map(|cipher| cipher.to_string()).map_err(|error| error.to_string())
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
            assert_eq!(key_type_of_mac(suitable_mac(key)), key);
        }
        assert_eq!(
            [KeyType::Hmac, KeyType::Tdes2].map(suitable_mac),
            [MacAlg::HmacSha256, MacAlg::Tdes2Cmac]
        );
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
