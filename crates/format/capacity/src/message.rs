//! DNS messages, read for their signatures. RFC 1035 section 4.

use std::hash::{DefaultHasher, Hasher};

/// An error of a malformed message. The sender, or the program that cut the message, is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DnsMessageError {
    /// The message has fewer than 12 bytes.
    #[error("a message of fewer than 12 bytes")]
    Header,
    /// A name is too long, or its pointers lead outside the message, forwards or in a circle.
    #[error("a name that is malformed")]
    Name,
    /// The message ends before its questions and records.
    #[error("the message ends within its questions and records")]
    Short,
    /// The data of a signature is too short.
    #[error("a signature that is malformed")]
    Signature,
}

/// The contents of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSummary {
    /// The bit QR: true for a response.
    pub is_response: bool,
    /// The opcode: [`QUERY`], or that of an UPDATE, a NOTIFY or another message whose sections have other contents.
    pub opcode: u8,
    /// The number of questions according to the header.
    pub questions: u16,
    /// The number of signatures in the answer, authority and additional sections.
    pub signatures: u32,
    /// The error after the header. The items before it are counted.
    pub fault: Option<DnsMessageError>,
}

/// The identity and lifetime of an RRSIG record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureRecord {
    /// A hash of owner, covered type, algorithm, key tag and signer. It is equal for two signatures of the same set
    /// by the same key.
    pub id: u64,
    /// The number of seconds for which a cache may keep the signature with its set: the TTL of the record, at most
    /// the original TTL.
    pub ttl_s: u32,
}

/// The opcode of queries and their responses. RFC 1035 4.1.1.
pub const QUERY: u8 = 0;

/// The maximum length of a name in bytes, the root label included. RFC 1035 3.1.
const MAX_NAME: usize = 255;

/// The type of signature records. RFC 4034 section 3.
const RRSIG: u16 = 46;

/// The length of a signature's fields before the signer's name, in bytes. RFC 4034 3.1.
const SIGNATURE_FIXED: usize = 18;

/// Reads a message and passes its signatures to `on_signature`, in order. It reads no more than the header of a
/// message with another opcode than [`QUERY`].
///
/// # Errors
/// [`DnsMessageError::Header`]. [`MessageSummary::fault`] holds errors after the header.
pub fn walk_message(
    message: &[u8],
    on_signature: &mut dyn FnMut(SignatureRecord),
) -> Result<MessageSummary, DnsMessageError> {
    let header: &[u8; 12] = message.first_chunk().ok_or(DnsMessageError::Header)?;
    let count = |at: usize| u32::from(u16::from_be_bytes([header[at], header[at + 1]]));
    let mut walked = MessageSummary {
        is_response: header[2] & 0x80 != 0,
        opcode: header[2] >> 3 & 15,
        questions: u16::from_be_bytes([header[4], header[5]]),
        signatures: 0,
        fault: None,
    };
    if walked.opcode != QUERY {
        return Ok(walked);
    }
    let mut walker = MessageWalker { message, at: header.len() };
    let mut all = || {
        for _ in 0..count(4) {
            walker.question()?;
        }
        for _ in 0..count(6) + count(8) + count(10) {
            if let Some(signature) = walker.record()? {
                walked.signatures += 1;
                on_signature(signature);
            }
        }
        Ok(())
    };
    walked.fault = all().err();
    Ok(walked)
}

struct MessageWalker<'a> {
    message: &'a [u8],
    at: usize,
}

impl<'a> MessageWalker<'a> {
    fn question(&mut self) -> Result<(), DnsMessageError> {
        self.skip_name()?;
        self.take(4).map(drop)
    }

    /// Reads a record. RFC 1035 4.1.3.
    fn record(&mut self) -> Result<Option<SignatureRecord>, DnsMessageError> {
        let owner = self.at;
        self.skip_name()?;
        let fixed: &[u8; 10] = self.take(10)?.first_chunk().ok_or(DnsMessageError::Short)?;
        let kind = u16::from_be_bytes([fixed[0], fixed[1]]);
        let ttl_s = u32::from_be_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]);
        let data = self.take(usize::from(u16::from_be_bytes([fixed[8], fixed[9]])))?;
        match kind {
            RRSIG => self.signature(owner, ttl_s, data).map(Some),
            _ => Ok(None),
        }
    }

    fn signature(&self, owner: usize, ttl_s: u32, data: &[u8]) -> Result<SignatureRecord, DnsMessageError> {
        let (fixed, rest) = data.split_at_checked(SIGNATURE_FIXED).ok_or(DnsMessageError::Signature)?;
        let (signer, value) = split_name(rest).ok_or(DnsMessageError::Signature)?;
        // A signature of no bytes is malformed for every algorithm.
        if value.is_empty() {
            return Err(DnsMessageError::Signature);
        }
        let mut name = [0; MAX_NAME];
        let len = self.name(owner, &mut name)?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&name[..len]);
        // The covered type and the algorithm, then the key tag.
        hasher.write(&fixed[..3]);
        hasher.write(&fixed[16..]);
        hasher.write(&signer.to_ascii_lowercase());
        let original_s = u32::from_be_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]);
        Ok(SignatureRecord { id: hasher.finish(), ttl_s: ttl_s.min(original_s) })
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], DnsMessageError> {
        let taken = self.message.get(self.at..self.at + len).ok_or(DnsMessageError::Short)?;
        self.at += len;
        Ok(taken)
    }

    /// Moves past a name: past its root label or its pointer.
    fn skip_name(&mut self) -> Result<(), DnsMessageError> {
        let start = self.at;
        while self.at - start < MAX_NAME {
            match *self.message.get(self.at).ok_or(DnsMessageError::Short)? {
                0 => return self.take(1).map(drop),
                0xc0.. => return self.take(2).map(drop),
                len @ 1..=63 => self.take(usize::from(len) + 1).map(drop)?,
                _ => return Err(DnsMessageError::Name),
            }
        }
        Err(DnsMessageError::Name)
    }

    /// Reads a name in lower case, without pointers (RFC 1035 4.1.4), and returns its length. Each pointer must lead to
    /// a position before all parts of the name that were read, so there are no circles.
    fn name(&self, start: usize, out: &mut [u8; MAX_NAME]) -> Result<usize, DnsMessageError> {
        let (mut at, mut earliest, mut len) = (start, start, 0);
        loop {
            let label_len = *self.message.get(at).ok_or(DnsMessageError::Short)?;
            match label_len {
                0xc0.. => {
                    let low = *self.message.get(at + 1).ok_or(DnsMessageError::Short)?;
                    at = usize::from(u16::from_be_bytes([label_len & 0x3f, low]));
                    // Each pointer leads further back than the one before, so a name has at most as many steps as
                    // bytes.
                    if at >= earliest {
                        return Err(DnsMessageError::Name);
                    }
                    earliest = at;
                }
                0..=63 => {
                    let end = at + 1 + usize::from(label_len);
                    let label = self.message.get(at..end).ok_or(DnsMessageError::Short)?;
                    let to = out.get_mut(len..len + label.len()).ok_or(DnsMessageError::Name)?;
                    to.copy_from_slice(label);
                    to.make_ascii_lowercase();
                    len += label.len();
                    if label_len == 0 {
                        return Ok(len);
                    }
                    at = end;
                }
                _ => return Err(DnsMessageError::Name),
            }
        }
    }
}

/// Splits a name without pointers from the bytes after it. RFC 4034 3.1.7: the signer's name is not compressed.
fn split_name(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut len = 0;
    loop {
        let label_len = usize::from(*bytes.get(len)?);
        len += label_len + 1;
        if label_len > 63 || len > MAX_NAME {
            return None;
        }
        if label_len == 0 {
            return bytes.split_at_checked(len);
        }
    }
}
