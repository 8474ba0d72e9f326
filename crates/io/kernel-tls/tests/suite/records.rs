//! Records of TLS by AWS-LC.

use aws_lc_rs::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
};
use oarlock_kernel_tls::{KernelCipher, KernelKeys, KernelTlsVersion, TlsRecordKind};

const HEADER_LEN: usize = 5;
const TAG_LEN: usize = 16;

/// One direction of a connection.
pub(crate) struct TestDirection {
    version: KernelTlsVersion,
    cipher: KernelCipher,
    key: Vec<u8>,
    iv: [u8; 12],
}

impl TestDirection {
    pub(crate) fn new(version: KernelTlsVersion, cipher: KernelCipher, seed: u8) -> Self {
        Self { version, cipher, key: vec![seed; cipher.key_len()], iv: [seed ^ 0x5a; 12] }
    }

    pub(crate) fn keys(&self, sequence: u64) -> KernelKeys {
        KernelKeys::new(self.version, self.cipher, &self.key, &self.iv, sequence).unwrap()
    }

    fn aead(&self) -> LessSafeKey {
        let algorithm: &'static Algorithm = match self.cipher {
            KernelCipher::Aes128Gcm => &AES_128_GCM,
            KernelCipher::Aes256Gcm => &AES_256_GCM,
            KernelCipher::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        };
        LessSafeKey::new(UnboundKey::new(algorithm, &self.key).unwrap())
    }

    /// True if each record carries 8 bytes of its nonce (RFC 5288 3).
    fn sends_nonce(&self) -> bool {
        self.version == KernelTlsVersion::Tls12 && self.cipher != KernelCipher::ChaCha20Poly1305
    }

    fn nonce(&self, sequence: u64) -> [u8; 12] {
        let mut nonce = self.iv;
        for (byte, other) in nonce[4..].iter_mut().zip(sequence.to_be_bytes()) {
            *byte ^= other;
        }
        nonce
    }

    fn associated_data(&self, sequence: u64, kind: u8, content: usize, sealed: usize) -> Vec<u8> {
        match self.version {
            KernelTlsVersion::Tls13 => [&[23, 3, 3][..], &(sealed as u16).to_be_bytes()].concat(),
            KernelTlsVersion::Tls12 => {
                [&sequence.to_be_bytes()[..], &[kind, 3, 3], &(content as u16).to_be_bytes()].concat()
            }
        }
    }

    pub(crate) fn seal(&self, sequence: u64, kind: TlsRecordKind, content: &[u8]) -> Vec<u8> {
        let nonce = self.nonce(sequence);
        let mut text = content.to_vec();
        let mut shown = kind.number();
        if self.version == KernelTlsVersion::Tls13 {
            text.push(kind.number());
            shown = 23;
        }
        let sealed = text.len() + TAG_LEN;
        let data = self.associated_data(sequence, kind.number(), content.len(), sealed);
        let nonce_of_key = Nonce::assume_unique_for_key(nonce);
        self.aead().seal_in_place_append_tag(nonce_of_key, Aad::from(data), &mut text).unwrap();
        let sent_nonce = if self.sends_nonce() { &nonce[4..] } else { &[] };
        let len = (text.len() + sent_nonce.len()) as u16;
        [&[shown, 3, 3][..], &len.to_be_bytes(), sent_nonce, &text].concat()
    }

    fn open(&self, sequence: u64, record: &[u8]) -> (TlsRecordKind, Vec<u8>) {
        let (header, mut text) = (&record[..HEADER_LEN], record[HEADER_LEN..].to_vec());
        let mut nonce = self.nonce(sequence);
        if self.sends_nonce() {
            let rest = text.split_off(8);
            nonce[4..].copy_from_slice(&text);
            text = rest;
        }
        let content = text.len() - TAG_LEN;
        let data = self.associated_data(sequence, header[0], content, text.len());
        let nonce = Nonce::assume_unique_for_key(nonce);
        let opened = self.aead().open_in_place(nonce, Aad::from(data), &mut text).unwrap();
        let mut opened = opened.to_vec();
        let kind = if self.version == KernelTlsVersion::Tls13 { opened.pop().unwrap() } else { header[0] };
        let kinds = [TlsRecordKind::Alert, TlsRecordKind::Handshake, TlsRecordKind::ApplicationData];
        (*kinds.iter().find(|known| known.number() == kind).unwrap(), opened)
    }

    /// Opens all records of a stream, of which the first one has the number `first`.
    pub(crate) fn open_all(&self, first: u64, stream: &[u8]) -> Vec<(TlsRecordKind, Vec<u8>)> {
        let records = all_records(stream);
        records.iter().zip(first..).map(|(record, number)| self.open(number, record)).collect()
    }
}

/// Cuts a stream into its records.
pub(crate) fn all_records(mut stream: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    while !stream.is_empty() {
        let len = HEADER_LEN + usize::from(u16::from_be_bytes([stream[3], stream[4]]));
        records.push(stream[..len].to_vec());
        stream = &stream[len..];
    }
    records
}
