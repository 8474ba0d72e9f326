//! A leaf whose words are the numbers of instructions.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};

use zeroize::Zeroize;

use super::{Id, Instruction};
use crate::simd::{BlindMulVector, BlindSimd, BlindVector, Cpu, LaneMask, Leaf};

thread_local! {
    /// The instructions of the kernel that this thread records.
    static INSTRUCTIONS: RefCell<Vec<Instruction>> = const { RefCell::new(Vec::new()) };
}

/// A CPU that records what it is told to compute.
#[derive(Clone, Copy, Debug)]
pub(super) struct SymbolSimd;

/// A word without a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct SymbolWord(Id);

/// A bit without a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct SymbolMask(Id);

impl SymbolSimd {
    /// Returns the instructions that `kernel` records, and what it returns.
    pub(super) fn record<R>(kernel: impl FnOnce(Self) -> R) -> (Vec<Instruction>, R) {
        INSTRUCTIONS.take();
        let result = kernel(Self);
        (INSTRUCTIONS.take(), result)
    }

    /// Returns `L` words that are inputs.
    pub(super) fn inputs<const L: usize>(self) -> [SymbolWord; L] {
        [(); L].map(|()| SymbolWord(push(Instruction::Input)))
    }
}

impl SymbolWord {
    /// Returns the instruction whose result this is.
    pub(super) fn id(self) -> Id {
        self.0
    }
}

fn push(instruction: Instruction) -> Id {
    INSTRUCTIONS.with_borrow_mut(|all| {
        all.push(instruction);
        all.len() - 1
    })
}

fn word(instruction: Instruction) -> SymbolWord {
    SymbolWord(push(instruction))
}

fn mask(instruction: Instruction) -> SymbolMask {
    SymbolMask(push(instruction))
}

impl Cpu for SymbolSimd {
    const LEAF: Leaf = Leaf::ALL[0];

    fn detect() -> Option<Self> {
        Some(Self)
    }

    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        body()
    }

    fn clear_registers(self) {}
}

impl BlindSimd for SymbolSimd {
    type V = SymbolWord;

    fn splat(self, constant: u64) -> SymbolWord {
        word(Instruction::Constant(constant))
    }
}

impl BlindVector for SymbolWord {
    type Mask = SymbolMask;

    fn shl<const N: u32>(self) -> Self {
        word(Instruction::ShiftLeft(self.0, N))
    }

    fn shr<const N: u32>(self) -> Self {
        word(Instruction::ShiftRight(self.0, N))
    }

    fn and_not(self, other: Self) -> Self {
        word(Instruction::AndNot(self.0, other.0))
    }

    fn add_if(self, mask: SymbolMask, other: Self) -> Self {
        self.or_if(mask, self + other)
    }
}

impl BlindMulVector for SymbolWord {
    fn madd_lo(self, a: Self, b: Self) -> Self {
        word(Instruction::MultiplyLow { sum: self.0, factors: [a.0, b.0] })
    }

    fn madd_hi(self, a: Self, b: Self) -> Self {
        word(Instruction::MultiplyHigh { sum: self.0, factors: [a.0, b.0] })
    }

    fn sar<const N: u32>(self) -> Self {
        word(Instruction::ShiftRightSigned(self.0, N))
    }

    fn shr_each(self, count: Self) -> Self {
        word(Instruction::ShiftRightBy(self.0, count.0))
    }

    fn shl_each(self, count: Self) -> Self {
        word(Instruction::ShiftLeftBy(self.0, count.0))
    }

    fn is_equal(self, other: Self) -> SymbolMask {
        mask(Instruction::IsEqual(self.0, other.0))
    }

    fn is_below(self, other: Self) -> SymbolMask {
        mask(Instruction::IsBelow(self.0, other.0))
    }

    fn has_any(self, other: Self) -> SymbolMask {
        mask(Instruction::HasAny(self.0, other.0))
    }

    fn or_if(self, mask: SymbolMask, yes: Self) -> Self {
        word(Instruction::Select { mask: mask.0, words: [self.0, yes.0] })
    }

    fn sub_if(self, mask: SymbolMask, other: Self) -> Self {
        self.or_if(mask, self - other)
    }
}

impl LaneMask for SymbolMask {
    fn claim(self, what: &'static str) {
        push(Instruction::Claim(self.0, what));
    }
}

impl Zeroize for SymbolWord {
    fn zeroize(&mut self) {
        *self = SymbolSimd.splat(0);
    }
}

/// Implements an operator of two words or masks by an instruction.
macro_rules! recorded {
    ($of:ty, $operator:ident, $method:ident, $record:ident, $instruction:ident) => {
        impl $operator for $of {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                $record(Instruction::$instruction(self.0, other.0))
            }
        }
    };
}

recorded!(SymbolWord, Add, add, word, Add);
recorded!(SymbolWord, Sub, sub, word, Sub);
recorded!(SymbolWord, BitAnd, bitand, word, And);
recorded!(SymbolWord, BitOr, bitor, word, Or);
recorded!(SymbolWord, BitXor, bitxor, word, Xor);
recorded!(SymbolMask, BitAnd, bitand, mask, MaskAnd);
recorded!(SymbolMask, BitOr, bitor, mask, MaskOr);
recorded!(SymbolMask, BitXor, bitxor, mask, MaskXor);

impl Not for SymbolWord {
    type Output = Self;

    fn not(self) -> Self {
        word(Instruction::Not(self.0))
    }
}

impl Not for SymbolMask {
    type Output = Self;

    fn not(self) -> Self {
        mask(Instruction::MaskNot(self.0))
    }
}
