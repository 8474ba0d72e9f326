//! The digest of one long message, piece by piece, in memory that does not grow.

use oarlock_core::{Column, DigestAlg, InputSource, JobError, OutputSink, Records, Shape, Span};

use crate::Accelerator;

/// A digest in pieces. Pieces of some ten KiB are worth more than short ones: each costs a batch of one record.
///
/// ```
/// use oarlock::{Accelerator, DigestAlg, DigestChain};
///
/// let accelerator = Accelerator::builder().engines(["scalar"]).build()?;
/// let mut chain = DigestChain::new(DigestAlg::Sha256);
/// chain.update(&accelerator, b"a")?;
/// chain.update(&accelerator, b"bc")?;
/// assert_eq!(chain.finish(&accelerator)?[..4], [0xba, 0x78, 0x16, 0xbf]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DigestChain {
    alg: DigestAlg,
    /// The chaining value, and behind it the bytes of a block that is not complete yet.
    data: Vec<u8>,
    len_bytes: u64,
}

impl DigestChain {
    /// Starts the digest of an empty message.
    #[must_use]
    pub fn new(alg: DigestAlg) -> Self {
        Self { alg, data: initial(alg).to_vec(), len_bytes: 0 }
    }

    /// Takes the next bytes of the message, less than 4 GiB at a time.
    ///
    /// # Errors
    /// No engine computes the digest, or the bytes are too many.
    pub fn update(&mut self, accelerator: &Accelerator, bytes: &[u8]) -> Result<(), JobError> {
        self.len_bytes += bytes.len() as u64;
        self.data.extend_from_slice(bytes);
        self.absorb(accelerator)
    }

    /// Returns the digest.
    ///
    /// # Errors
    /// No engine computes the digest.
    pub fn finish(mut self, accelerator: &Accelerator) -> Result<Vec<u8>, JobError> {
        self.pad();
        self.absorb(accelerator)?;
        // A digest is the first bytes of a state that is as long or longer. FIPS 180-4 6, FIPS 202 4.
        self.data.truncate(self.alg.output_len());
        Ok(self.data)
    }

    /// Appends the padding of the message, up to a whole block.
    fn pad(&mut self) {
        let (block, state) = (self.alg.block_len(), self.alg.state_len());
        let used = self.data.len() - state;
        if let Some(suffix) = sponge_suffix(self.alg) {
            self.data.push(suffix);
            self.data.resize(state + (used + 1).next_multiple_of(block), 0);
            self.data.last_mut().into_iter().for_each(|last| *last |= 0x80);
            return;
        }
        // FIPS 180-4 5.1: a one bit, zeros, and the length in bits: 64 bits of it, or 128. SHA-384 and SHA-512 have 128
        // bits for the length. A message of 2^61 bytes cannot come, so the upper half is zero.
        let end = (used + 1 + block / 8).next_multiple_of(block);
        self.data.push(0x80);
        self.data.resize(state + end - 8, 0);
        self.data.extend_from_slice(&(8 * self.len_bytes).to_be_bytes());
    }

    /// Hashes whole blocks.
    fn absorb(&mut self, accelerator: &Accelerator) -> Result<(), JobError> {
        let state = self.alg.state_len();
        let waiting = self.data.len() - state;
        let whole = waiting - waiting % self.alg.block_len();
        if whole == 0 {
            return Ok(());
        }
        let too_much = || JobError::Malformed { what: "more than 4 GiB to hash at a time" };
        // The chaining value is at the start of the data, and again at the start of the output.
        let value = Span { start: 0, len: state as u32 };
        let records = Records {
            len: 1,
            output_len: state,
            iv: Column::One(value),
            input: Column::One(InputSource::Data(Span::new(state, whole).ok_or_else(too_much)?)),
            output: Column::One(OutputSink::Output(value)),
            data: self.data[..].into(),
            ..Records::default()
        };
        let shape = Shape::DigestPart { alg: self.alg };
        let outcomes = accelerator.records().run(shape, &records)?;
        if let Some(error) = outcomes.statuses().iter().find_map(|status| status.error(shape)) {
            return Err(error);
        }
        // State and rest lie in one buffer, so that a record reads both from the same data.
        self.data.drain(..whole);
        // As many bytes as the state has are left in front of the rest, and they are old.
        self.data[..state].copy_from_slice(outcomes.bytes());
        Ok(())
    }
}

/// Returns the bits behind a message of SHA-3 or SHAKE, with the first bit of the padding, which ends with a one bit in
/// the last byte of the block. FIPS 202 5.1, 6.1 and 6.2.
fn sponge_suffix(alg: DigestAlg) -> Option<u8> {
    match alg {
        DigestAlg::Sha3_224 | DigestAlg::Sha3_256 | DigestAlg::Sha3_384 | DigestAlg::Sha3_512 => Some(0x06),
        DigestAlg::Shake128 | DigestAlg::Shake256 => Some(0x1F),
        _ => None,
    }
}

/// Returns the initial chaining value. FIPS 180-4 5.3, FIPS 202 algorithm 8, step 5.
fn initial(alg: DigestAlg) -> &'static [u8] {
    const SHA1: [u8; 20] = words([0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]);
    const SHA224: [u8; 32] = words([
        0xc105_9ed8,
        0x367c_d507,
        0x3070_dd17,
        0xf70e_5939,
        0xffc0_0b31,
        0x6858_1511,
        0x64f9_8fa7,
        0xbefa_4fa4,
    ]);
    const SHA256: [u8; 32] = words([
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ]);
    const SHA384: [u8; 64] = words([
        0xcbbb_9d5d,
        0xc105_9ed8,
        0x629a_292a,
        0x367c_d507,
        0x9159_015a,
        0x3070_dd17,
        0x152f_ecd8,
        0xf70e_5939,
        0x6733_2667,
        0xffc0_0b31,
        0x8eb4_4a87,
        0x6858_1511,
        0xdb0c_2e0d,
        0x64f9_8fa7,
        0x47b5_481d,
        0xbefa_4fa4,
    ]);
    const SHA512: [u8; 64] = words([
        0x6a09_e667,
        0xf3bc_c908,
        0xbb67_ae85,
        0x84ca_a73b,
        0x3c6e_f372,
        0xfe94_f82b,
        0xa54f_f53a,
        0x5f1d_36f1,
        0x510e_527f,
        0xade6_82d1,
        0x9b05_688c,
        0x2b3e_6c1f,
        0x1f83_d9ab,
        0xfb41_bd6b,
        0x5be0_cd19,
        0x137e_2179,
    ]);
    const SHA512_224: [u8; 64] = words([
        0x8c3d_37c8,
        0x1954_4da2,
        0x73e1_9966,
        0x89dc_d4d6,
        0x1dfa_b7ae,
        0x32ff_9c82,
        0x679d_d514,
        0x582f_9fcf,
        0x0f6d_2b69,
        0x7bd4_4da8,
        0x77e3_6f73,
        0x04c4_8942,
        0x3f9d_85a8,
        0x6a1d_36c8,
        0x1112_e6ad,
        0x91d6_92a1,
    ]);
    const SHA512_256: [u8; 64] = words([
        0x2231_2194,
        0xfc2b_f72c,
        0x9f55_5fa3,
        0xc84c_64c2,
        0x2393_b86b,
        0x6f53_b151,
        0x9638_7719,
        0x5940_eabd,
        0x9628_3ee2,
        0xa88e_ffe3,
        0xbe5e_1e25,
        0x5386_3992,
        0x2b01_99fc,
        0x2c85_b8aa,
        0x0eb7_2ddc,
        0x81c5_2ca2,
    ]);
    match alg {
        DigestAlg::Sha1 => &SHA1,
        DigestAlg::Sha224 => &SHA224,
        DigestAlg::Sha256 => &SHA256,
        DigestAlg::Sha384 => &SHA384,
        DigestAlg::Sha512 => &SHA512,
        DigestAlg::Sha512_224 => &SHA512_224,
        DigestAlg::Sha512_256 => &SHA512_256,
        _ => &[0; 200],
    }
}

const fn words<const WORDS: usize, const BYTES: usize>(words: [u32; WORDS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let mut at = 0;
    while at < BYTES {
        bytes[at] = words[at / 4].to_be_bytes()[at % 4];
        at += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use oarlock_engine_kit::hash::Hasher;

    use super::*;

    #[test]
    fn pieces_have_the_digest_of_the_whole_on_every_engine() {
        let message: Vec<u8> = (0..700_u32).map(|at| (at % 251) as u8).collect();
        for engine in ["scalar", "lanes"] {
            let accelerator = Accelerator::builder().engines([engine]).lazy().build().unwrap();
            for alg in DigestAlg::ALL {
                // Lengths around where the padding needs another block.
                let block = alg.block_len();
                for len in
                    [0, 1, block - 17, block - 16, block - 9, block - 8, block - 1, block, block + 1, 700]
                {
                    for piece in [1, 64, 100, 700] {
                        let mut chain = DigestChain::new(alg);
                        for bytes in message[..len].chunks(piece) {
                            chain.update(&accelerator, bytes).unwrap();
                        }
                        let mut expected = Hasher::new(alg).unwrap();
                        expected.update(&message[..len]);
                        let found = chain.finish(&accelerator).unwrap();
                        assert_eq!(found, expected.finish(), "{engine} {alg} {len} in pieces of {piece}");
                    }
                }
            }
        }
    }
}
