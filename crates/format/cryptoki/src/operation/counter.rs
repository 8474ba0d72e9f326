//! Counter mode in pieces of any length.

use oarlock::{BlockCipher, CipherMode, Direction, Key, Shape};

use super::compute::{Computation, Finish};
use super::failure::FailureRule;
use super::padding::BLOCK;
use super::record::{RecordInputs, plan_gathered_record};
use crate::constants::ReturnCode;

/// The state of counter mode between pieces.
#[derive(Clone, Debug)]
pub(crate) struct CounterState {
    /// The number of low bits that count.
    bits: u32,
    /// The counter block of the next byte.
    block: [u8; BLOCK],
    /// The bytes of that block that are used already.
    used: usize,
    /// The blocks that may still come before the counter repeats.
    left: u128,
}

impl CounterState {
    /// Starts at a block of which the low `bits` bits count.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismParamInvalid`] unless 1 to 128 bits count.
    pub(crate) fn new(bits: u64, block: [u8; BLOCK]) -> Result<Self, ReturnCode> {
        match u32::try_from(bits) {
            Ok(bits @ 1..=128) => Ok(Self::start(bits, block)),
            _ => Err(ReturnCode::MechanismParamInvalid),
        }
    }

    /// Returns a state at the start of another message.
    pub(crate) fn restarted(&self, block: [u8; BLOCK]) -> Self {
        Self::start(self.bits, block)
    }

    fn start(bits: u32, block: [u8; BLOCK]) -> Self {
        // With 128 bits the shift has no result, and the number of blocks has no end that anybody reaches.
        let left =
            1_u128.checked_shl(bits).map_or(u128::MAX, |size| size - u128::from_be_bytes(block) % size);
        Self { bits, block, used: 0, left }
    }

    /// Returns the counter block of the next byte, which is the IV of a message.
    pub(crate) fn block(&self) -> &[u8; BLOCK] {
        &self.block
    }

    /// Checks that the counter does not repeat within the next bytes.
    ///
    /// # Errors
    /// [`ReturnCode::DataLenRange`].
    pub(crate) fn check_len(&self, len: usize) -> Result<(), ReturnCode> {
        let blocks = (self.used + len).div_ceil(BLOCK) as u128;
        if blocks > self.left { Err(ReturnCode::DataLenRange) } else { Ok(()) }
    }

    /// Plans the encryption or decryption of the next bytes, and moves to the bytes behind them.
    ///
    /// # Errors
    /// [`ReturnCode::DataLenRange`] if the counter would repeat.
    pub(crate) fn plan<'a>(
        &mut self,
        alg: BlockCipher,
        key: &'a Key,
        data: &[u8],
    ) -> Result<Computation<'a>, ReturnCode> {
        self.check_len(data.len())?;
        let (start, end) = (self.used, self.used + data.len());
        let inputs = RecordInputs {
            iv: &self.block,
            // Zeros stand for the bytes of the first block that are used already. Their output is dropped.
            input: [0; BLOCK].get(..start).unwrap_or_default(),
            suffix: data,
            output_len: end,
            ..RecordInputs::default()
        };
        let computation = plan_gathered_record(ctr_shape(alg), key, &inputs, FailureRule::ENCRYPT)?;
        let whole = (end / BLOCK) as u128;
        // `check_len` has excluded a carry into the fixed bits, except after the last block that may follow.
        self.block = u128::from_be_bytes(self.block).wrapping_add(whole).to_be_bytes();
        (self.used, self.left) = (end % BLOCK, self.left - whole);
        Ok(computation.with_finish(Finish::Cut { start, len: data.len() }))
    }
}

/// Returns the shape of counter mode, in which both directions are the same.
pub(crate) fn ctr_shape(alg: BlockCipher) -> Shape {
    Shape::Cipher { alg, mode: CipherMode::Ctr, direction: Direction::Encrypt }
}
