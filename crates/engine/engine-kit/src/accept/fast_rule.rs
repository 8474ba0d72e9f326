//! A fast check of records with a few comparisons.
//!
//! The check may refuse a record that the contract allows, never the reverse. The contract's own check decides about
//! refused records.

use oarlock_core::{AeadAlg, CipherSpec, Column, Direction, Ff1Radix, MAX_FF1_TWEAK, Records, Shape, Span};

/// The conditions of the fast check for a shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastRule {
    key_len: KeyLenRule,
    min_iv_len: u32,
    max_iv_len: u32,
    /// The odd factor of the block length: 1 for most shapes, and 9 to 21 for SHA-3 and SHAKE.
    odd_blocks: u32,
    /// The bits of an input length that must be clear: those below the other factor, a power of two.
    partial: u32,
    output: OutputRule,
    tag: TagRule,
    min_tag_len: u32,
    max_tag_len: u32,
    data_len: u64,
    output_len: u64,
}

#[derive(Clone, Copy, Debug)]
enum KeyLenRule {
    NoKey,
    Any,
    Exactly(usize),
}

#[derive(Clone, Copy, Debug)]
enum OutputRule {
    AsLongAsInput,
    /// As long as an input of this many bytes.
    AsLongAsInputOf(u32, u32),
    Between(u32, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TagRule {
    NoTag,
    /// Associated data and no tag.
    Tweak,
    InOutput,
    InData,
}

impl FastRule {
    /// Returns the rule of a shape, or None if the shape has no fast check.
    pub(super) fn for_shape(shape: Shape, records: &Records<'_>) -> Option<Self> {
        let (mut tag, mut tag_lens) = (TagRule::NoTag, 0..=0);
        // Wraps, translations and chains are missing: their rules look at more than one length, and their records are
        // few or long.
        let (key_len, iv_lens, block_len, output) = match shape {
            _ if !shape.is_possible() => return None,
            Shape::Cipher { alg, mode, .. } => (
                KeyLenRule::Exactly(alg.key_len()),
                alg.block_len()..=alg.block_len(),
                CipherSpec { alg, mode }.granularity(),
                OutputRule::AsLongAsInput,
            ),
            Shape::Mac { alg } => {
                let key_len = alg.key_len().map_or(KeyLenRule::Any, KeyLenRule::Exactly);
                (key_len, 0..=0, 1, OutputRule::Between(4, alg.tag_len() as u32))
            }
            Shape::Digest { alg } => (KeyLenRule::NoKey, 0..=0, 1, OutputRule::exactly(alg.output_len())),
            Shape::DigestPart { alg } => {
                let len = alg.state_len();
                (KeyLenRule::NoKey, len..=len, alg.block_len(), OutputRule::exactly(len))
            }
            Shape::Aead { alg, direction }
                if matches!(alg, AeadAlg::Aes128Gcm | AeadAlg::Aes256Gcm) || alg.may_repeat_ivs() =>
            {
                let is_sealing = direction == Direction::Encrypt;
                tag = if is_sealing { TagRule::InOutput } else { TagRule::InData };
                tag_lens = alg.tag_lens();
                (KeyLenRule::Exactly(alg.key_len()), alg.iv_lens(), 1, OutputRule::AsLongAsInput)
            }
            // Records with different radixes take the full check.
            Shape::Fpe { alg, .. } => {
                let radix = common_radix(records)?;
                let lens = radix.input_lens();
                tag = TagRule::Tweak;
                let output = OutputRule::AsLongAsInputOf(*lens.start() as u32, *lens.end() as u32);
                (KeyLenRule::Exactly(alg.key_len()), 4..=4, radix.numeral_bytes(), output)
            }
            _ => return None,
        };
        Some(Self {
            key_len,
            min_iv_len: *iv_lens.start() as u32,
            // A span has at most 2^32 - 1 bytes.
            max_iv_len: u32::try_from(*iv_lens.end()).unwrap_or(u32::MAX),
            tag,
            min_tag_len: *tag_lens.start() as u32,
            max_tag_len: *tag_lens.end() as u32,
            odd_blocks: block_len as u32 >> block_len.trailing_zeros(),
            partial: (1 << block_len.trailing_zeros()) - 1,
            output,
            data_len: records.data.len() as u64,
            output_len: records.output_len as u64,
        })
    }

    /// Returns true if a record has neither associated data nor a tag.
    pub(super) fn is_tagless(&self) -> bool {
        self.tag == TagRule::NoTag
    }

    /// Returns true if a record has a tag in the output.
    pub(super) fn has_tags_in_output(&self) -> bool {
        self.tag == TagRule::InOutput
    }

    /// Returns true if a record has no key.
    pub(super) fn is_keyless(&self) -> bool {
        matches!(self.key_len, KeyLenRule::NoKey)
    }

    /// Returns true if a key of this length is valid.
    #[inline(always)]
    pub(super) fn accepts_key(&self, len: Option<usize>) -> bool {
        match self.key_len {
            KeyLenRule::NoKey => true,
            KeyLenRule::Any => len.is_some(),
            KeyLenRule::Exactly(wanted) => len == Some(wanted),
        }
    }

    /// Returns true if a record with a valid key passes the check.
    #[inline(always)]
    pub(super) fn fits(&self, iv: Span, input: Span, output: Span) -> bool {
        let mut alone = self.together();
        alone.add(input, output);
        self.fits_iv(iv) & alone.fit()
    }

    /// Returns true if an IV passes the check.
    #[inline(always)]
    pub(super) fn fits_iv(&self, iv: Span) -> bool {
        (self.min_iv_len..=self.max_iv_len).contains(&iv.len) & (end(iv) <= self.data_len)
    }

    /// Starts a check of several records.
    #[inline(always)]
    pub(super) fn together(&self) -> CombinedCheck {
        CombinedCheck { rule: *self, partial: 0, is_valid_len: true, data_end: 0, output_end: 0 }
    }
}

/// A check of several records at once: a few operations for each record, and the comparisons once.
pub(super) struct CombinedCheck {
    rule: FastRule,
    /// The OR of all lengths.
    partial: u32,
    is_valid_len: bool,
    data_end: u64,
    output_end: u64,
}

impl CombinedCheck {
    #[inline(always)]
    pub(super) fn add(&mut self, input: Span, output: Span) {
        // `&=` instead of a return keeps the loop over records free of branches.
        self.is_valid_len &= match self.rule.output {
            OutputRule::AsLongAsInput => output.len == input.len,
            OutputRule::AsLongAsInputOf(min, max) => {
                (output.len == input.len) & (min..=max).contains(&input.len)
            }
            OutputRule::Between(min, max) => (min..=max).contains(&output.len),
        };
        if self.rule.odd_blocks != 1 {
            // A division, which only SHA-3 and SHAKE need.
            self.is_valid_len &= input.len.is_multiple_of(self.rule.odd_blocks);
        }
        self.partial |= input.len;
        self.data_end = self.data_end.max(end(input));
        self.output_end = self.output_end.max(end(output));
    }

    /// Returns true if all records pass the check.
    #[inline(always)]
    pub(super) fn fit(&self) -> bool {
        self.is_valid_len
            & (self.partial & self.rule.partial == 0)
            & (self.data_end <= self.rule.data_len)
            & (self.output_end <= self.rule.output_len)
    }
}

impl FastRule {
    /// Returns true if the shape has no associated data and no tag, or if both pass the check.
    #[inline(always)]
    pub(super) fn fits_tag(&self, spans: impl FnOnce() -> [Span; 2]) -> bool {
        // A closure, so that shapes without tags never read these columns.
        let [aad, tag] = match self.tag {
            TagRule::NoTag => return true,
            TagRule::Tweak | TagRule::InOutput | TagRule::InData => spans(),
        };
        let limit = match self.tag {
            TagRule::InOutput => self.output_len,
            TagRule::NoTag | TagRule::InData => self.data_len,
            TagRule::Tweak => return (end(aad) <= self.data_len) & (aad.len as usize <= MAX_FF1_TWEAK),
        };
        let has_valid_len = (self.min_tag_len..=self.max_tag_len).contains(&tag.len);
        ((end(aad) <= self.data_len) | aad.is_absent()) & (end(tag) <= limit) & has_valid_len
    }
}

impl OutputRule {
    fn exactly(len: usize) -> Self {
        Self::Between(len as u32, len as u32)
    }
}

/// Returns the radix of FF1 if all records have the same.
fn common_radix(records: &Records<'_>) -> Option<Ff1Radix> {
    let radix_of = |iv: Span| iv.slice(&records.data).and_then(Ff1Radix::from_iv);
    if let Column::One(iv) = records.iv {
        return radix_of(iv);
    }
    let mut radixes = records.iv.cursor().take(records.len).map(radix_of);
    let first = radixes.next()?;
    radixes.all(|radix| radix == first).then_some(first)?
}

#[inline(always)]
fn end(span: Span) -> u64 {
    // Both are below 2^32, so the sum cannot overflow in 64 bits.
    u64::from(span.start) + u64::from(span.len)
}
