//! Frames sealed piece by piece, with IV and MAC carried from piece to piece.

use aws_lc_rs::hmac;
use oarlock::{ChainOrder, CipherSpec, Direction, MacAlg, Shape};
use zeroize::Zeroizing;

use crate::content::Content;
use crate::engine::{EngineRecord, EngineScratch, RecordTag};
use crate::error::SealingError;
use crate::frame::{RecordChoices, SealFrame, ShortBytes};
use crate::sealer::Sealer;
use crate::suite::RecordTransform;

/// A frame that is sealed piece by piece, so that what is written first can be on its way while the rest is not there.
///
/// The header states the length, so it is announced at the beginning. A frame that is dropped before
/// [`finish`](Self::finish) ends the connection: the sealer refuses every later record.
///
/// The opposite is a whole frame: collect the pieces and seal them at once. It takes one call instead of several, and
/// permits every suite. [`Suite::is_piecemeal`](crate::Suite::is_piecemeal) tells whether a suite permits pieces.
pub struct FrameSealer<'a> {
    sealer: &'a mut Sealer,
    frame: SealFrame,
    cipher: CipherSpec,
    order: ChainOrder,
    mac: hmac::Context,
    /// The last block of the ciphertext, or the next counter block.
    iv: ShortBytes,
    /// Plaintext that does not fill a block.
    partial: Zeroizing<Vec<u8>>,
    announced: usize,
    found: usize,
    /// True after an error of an engine: MAC and ciphertext no longer belong together.
    has_failed: bool,
    /// The number of bytes of ciphertext so far.
    sealed_len: usize,
    scratch: EngineScratch,
}

impl Sealer {
    /// Begins a frame of `payload_len` bytes and appends its header to `out`.
    ///
    /// # Errors
    /// [`SealingError::WholeFramesOnly`] for an AEAD; otherwise those of [`seal`](Self::seal).
    pub fn begin_frame(
        &mut self,
        content: Content,
        payload_len: usize,
        out: &mut Vec<u8>,
    ) -> Result<FrameSealer<'_>, SealingError> {
        self.begin_frame_with(content, payload_len, &RecordChoices::default(), out)
    }

    /// Begins a frame as [`begin_frame`](Self::begin_frame) does, with parts of it chosen by the caller.
    ///
    /// # Errors
    /// Those of [`begin_frame`](Self::begin_frame), and [`SealingError::BadChoice`].
    pub fn begin_frame_with(
        &mut self,
        content: Content,
        payload_len: usize,
        choices: &RecordChoices<'_>,
        out: &mut Vec<u8>,
    ) -> Result<FrameSealer<'_>, SealingError> {
        let suite = self.suite();
        let RecordTransform::Chain { cipher, mac, order } = suite.transform() else {
            return Err(SealingError::WholeFramesOnly { suite });
        };
        let frame = self.plan(content, payload_len, choices)?;
        self.is_unfinished = true;
        out.extend_from_slice(&frame.prefix);
        let mut begun = FrameSealer {
            mac: self.start_mac(mac, &frame, payload_len, order),
            sealer: self,
            cipher,
            order,
            iv: frame.iv.clone(),
            // Two blocks, so that it never moves and leaves a copy.
            partial: Zeroizing::new(Vec::with_capacity(32)),
            announced: payload_len,
            found: 0,
            has_failed: false,
            sealed_len: 0,
            scratch: EngineScratch::default(),
            frame,
        };
        let head = begun.frame.head.clone();
        begun.push_plaintext(&head, true, out)?;
        Ok(begun)
    }

    fn start_mac(
        &self,
        mac: MacAlg,
        frame: &SealFrame,
        payload_len: usize,
        order: ChainOrder,
    ) -> hmac::Context {
        let algorithm = match mac {
            MacAlg::HmacSha256 => hmac::HMAC_SHA256,
            MacAlg::HmacSha512 => hmac::HMAC_SHA512,
            _ => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        };
        let key = self.record_keys.0[1].secret().map_or(&[][..], oarlock::SecretBytes::expose);
        let mut context = hmac::Context::with_key(&hmac::Key::new(algorithm, key));
        context.update(&frame.aad);
        if order == ChainOrder::MacThenEncrypt {
            // In the other orders the length is part of the associated data. At most 2^14.
            context.update(&(payload_len as u16).to_be_bytes());
        }
        context
    }
}

impl FrameSealer<'_> {
    /// Seals the next piece and appends what is complete to `out`: whole blocks.
    ///
    /// # Errors
    /// [`SealingError::FrameLength`] if the pieces exceed the announced length; [`SealingError::Engine`].
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), SealingError> {
        if self.has_failed {
            return Err(SealingError::Unfinished);
        }
        let found = self.found.saturating_add(piece.len());
        if found > self.announced {
            return Err(SealingError::FrameLength { announced: self.announced, found });
        }
        self.found = found;
        self.push_plaintext(piece, true, out)
    }

    /// Seals the end of the frame: padding and MAC.
    ///
    /// # Errors
    /// [`SealingError::FrameLength`] if the pieces are shorter than announced; [`SealingError::Engine`].
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<(), SealingError> {
        if self.has_failed {
            return Err(SealingError::Unfinished);
        }
        if self.found != self.announced {
            return Err(SealingError::FrameLength { announced: self.announced, found: self.found });
        }
        if self.order == ChainOrder::MacThenEncrypt {
            let tag = self.mac.clone().sign();
            self.push_plaintext(tag.as_ref(), false, out)?;
            // RFC 5246 6.2.3.2: every byte of the padding is its length without the last one.
            let padding = self.frame.body_len - self.sealed_len - self.partial.len();
            let bytes = vec![(padding - 1) as u8; padding];
            self.push_plaintext(&bytes, false, out)?;
        } else {
            let tail = self.frame.tail.clone();
            self.push_plaintext(&tail, true, out)?;
            out.extend_from_slice(self.mac.clone().sign().as_ref());
        }
        self.sealer.is_unfinished = false;
        Ok(())
    }

    /// Encrypts the whole blocks of what waits and of `bytes`. `is_covered` is true if the MAC covers them.
    fn push_plaintext(
        &mut self,
        bytes: &[u8],
        is_covered: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), SealingError> {
        if is_covered && self.order != ChainOrder::EncryptThenMac {
            self.mac.update(bytes);
        }
        let total = self.partial.len() + bytes.len();
        let whole = total - total % self.cipher.alg.block_len();
        if whole == 0 {
            self.partial.extend_from_slice(bytes);
            return Ok(());
        }
        let (front, rest) = bytes.split_at(whole - self.partial.len());
        let start = out.len();
        self.encrypt(front, whole, out)?;
        if self.order == ChainOrder::EncryptThenMac {
            self.mac.update(&out[start..]);
        }
        self.partial.clear();
        self.partial.extend_from_slice(rest);
        self.carry_iv(&out[start..]);
        Ok(())
    }

    fn encrypt(&mut self, bytes: &[u8], len: usize, out: &mut Vec<u8>) -> Result<(), SealingError> {
        let shape =
            Shape::Cipher { alg: self.cipher.alg, mode: self.cipher.mode, direction: Direction::Encrypt };
        let record = EngineRecord {
            keys: &self.sealer.record_keys,
            iv: &self.iv,
            aad: &[],
            input: &[&self.partial, bytes],
            output_len: len,
            tag: RecordTag::Made(0),
        };
        let encrypted = self.scratch.run(&self.sealer.accelerator, shape, &record, |result| {
            out.extend_from_slice(result);
        });
        encrypted.map_err(|status| {
            self.has_failed = true;
            SealingError::Engine(status)
        })
    }

    /// Takes the IV of the next piece.
    fn carry_iv(&mut self, ciphertext: &[u8]) {
        let block = self.cipher.alg.block_len();
        self.sealed_len += ciphertext.len();
        if self.cipher.granularity() == 1 {
            let mut counter = [0; 16];
            counter.copy_from_slice(&self.iv);
            let blocks = (ciphertext.len() / block) as u128;
            self.iv =
                ShortBytes::from_slice(&u128::from_be_bytes(counter).wrapping_add(blocks).to_be_bytes());
            return;
        }
        let last = &ciphertext[ciphertext.len() - block..];
        self.iv = ShortBytes::from_slice(last);
        if self.sealed_len == self.frame.body_len {
            // The next packet of SSH starts from the last block of this one.
            self.sealer.numbers.keep_iv(ciphertext);
        }
    }
}

impl std::fmt::Debug for FrameSealer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FrameSealer({}, {} of {} bytes)", self.sealer.suite(), self.found, self.announced)
    }
}
