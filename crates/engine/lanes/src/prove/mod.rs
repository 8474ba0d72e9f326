//! Kernels as the instructions that they execute on one lane, for the proofs of `lab/prove`.
//!
//! | module | content |
//! |---|---|
//! | this one | [`Instruction`] and [`RecordedKernel`] |
//! | `symbols` | the leaf whose words are the numbers of instructions |
//! | `kernels` | the kernels that are recorded |
//!
//! A kernel is recorded once, and the record holds for every input: the words of this leaf have no value that a kernel
//! could branch on, or use as an index.

mod kernels;
mod symbols;

pub use self::kernels::{kernel, names};

/// The number of an instruction, which names its result: a word of 64 bits, or the bit of a mask.
pub type Id = usize;

/// An instruction on one lane. The operations are those of the traits of vectors: they wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instruction {
    /// An input of the kernel.
    Input,
    /// A word that is known.
    Constant(u64),
    /// A sum.
    Add(Id, Id),
    /// A difference.
    Sub(Id, Id),
    /// The common bits.
    And(Id, Id),
    /// The bits of either.
    Or(Id, Id),
    /// The bits of one of both.
    Xor(Id, Id),
    /// The inverted bits.
    Not(Id),
    /// The bits of the second that the first has not.
    AndNot(Id, Id),
    /// A shift to the left.
    ShiftLeft(Id, u32),
    /// A logical shift to the right.
    ShiftRight(Id, u32),
    /// An arithmetic shift to the right.
    ShiftRightSigned(Id, u32),
    /// A shift to the left by a word.
    ShiftLeftBy(Id, Id),
    /// A logical shift to the right by a word.
    ShiftRightBy(Id, Id),
    /// `sum + low52(low52(a) low52(b))`.
    MultiplyLow {
        /// The word to which the half of the product is added.
        sum: Id,
        /// Words of which the low 52 bits count.
        factors: [Id; 2],
    },
    /// `sum + (low52(a) low52(b) >> 52)`.
    MultiplyHigh {
        /// The word to which the half of the product is added.
        sum: Id,
        /// Words of which the low 52 bits count.
        factors: [Id; 2],
    },
    /// The second word if the bit of the mask is set, and otherwise the first.
    Select {
        /// The bit that decides.
        mask: Id,
        /// The word for a clear bit, and the one for a set bit.
        words: [Id; 2],
    },
    /// The mask of equal words.
    IsEqual(Id, Id),
    /// The mask of a word that is below another, unsigned.
    IsBelow(Id, Id),
    /// The mask of words with a common bit.
    HasAny(Id, Id),
    /// An inverted mask.
    MaskNot(Id),
    /// The common bits of masks.
    MaskAnd(Id, Id),
    /// The bits of either mask.
    MaskOr(Id, Id),
    /// The bits of one of both masks.
    MaskXor(Id, Id),
    /// The kernel relies on a mask being set.
    Claim(Id, &'static str),
}

/// A kernel as the instructions of one lane.
#[derive(Clone, Debug)]
pub struct RecordedKernel {
    /// The instructions, in their order.
    pub instructions: Vec<Instruction>,
    /// The numbers, each as its limbs from the lowest on.
    pub inputs: Vec<Vec<Id>>,
    /// The limbs of the result.
    pub output: Vec<Id>,
}
