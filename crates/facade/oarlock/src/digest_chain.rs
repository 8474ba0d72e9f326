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
        // FIPS 180-4 5.1: a one bit, zeros, and the length in bits: 64 bits of it, or 128.
        let (block, state) = (self.alg.block_len(), self.alg.state_len());
        // SHA-384 and SHA-512 have 128 bits for the length. A message of 2^61 bytes cannot come, so the upper
        // half is zero.
        let end = (self.data.len() - state + 1 + block / 8).next_multiple_of(block);
        self.data.push(0x80);
        self.data.resize(state + end - 8, 0);
        self.data.extend_from_slice(&(8 * self.len_bytes).to_be_bytes());
        self.absorb(accelerator)?;
        // SHA-224 and SHA-384 are the first bytes of a longer state. FIPS 180-4 6.3 and 6.5.
        self.data.truncate(self.alg.output_len());
        Ok(self.data)
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

/// Returns the initial chaining value. FIPS 180-4 5.3.
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
    match alg {
        DigestAlg::Sha1 => &SHA1,
        DigestAlg::Sha224 => &SHA224,
        DigestAlg::Sha256 => &SHA256,
        DigestAlg::Sha384 => &SHA384,
        _ => &SHA512,
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
    use super::*;
    use crate::schemes::hash::Digester;

    #[test]
    fn pieces_have_the_digest_of_the_whole_on_every_engine() {
        let message: Vec<u8> = (0..700_u32).map(|at| (at % 251) as u8).collect();
        for engine in ["scalar", "lanes"] {
            let accelerator = Accelerator::builder().engines([engine]).lazy().build().unwrap();
            for alg in DigestAlg::ALL {
                // Lengths around where the padding needs another block.
                for len in [0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 700] {
                    for piece in [1, 64, 100, 700] {
                        let mut chain = DigestChain::new(alg);
                        for bytes in message[..len].chunks(piece) {
                            chain.update(&accelerator, bytes).unwrap();
                        }
                        let expected = Digester::from_alg(alg).unwrap().hash(&message[..len]);
                        let found = chain.finish(&accelerator).unwrap();
                        assert_eq!(found, expected.as_ref(), "{engine} {alg} {len} in pieces of {piece}");
                    }
                }
            }
        }
    }
}
