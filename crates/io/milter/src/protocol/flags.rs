//! The options that MTA and filter negotiate: changes that the filter may ask for, and steps that are left out or
//! added.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr, Not};

/// A set of bits of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlagSet<K> {
    bits: u32,
    kind: PhantomData<K>,
}

/// The changes that a filter may ask for at the end of a message: `SMFIF_*`.
pub type Actions = FlagSet<ActionBits>;

/// The steps that the MTA leaves out or adds: `SMFIP_*`.
pub type Steps = FlagSet<StepBits>;

/// A kind of bits.
pub trait FlagKind {
    /// The bits and their names.
    const NAMES: &'static [(u32, &'static str)];
}

/// The bits of [`Actions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionBits {}

/// The bits of [`Steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepBits {}

impl<K> FlagSet<K> {
    /// The empty set.
    pub const NONE: Self = Self::from_bits(0);

    /// Makes a set from the transmitted bits. Bits without a name are kept.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self { bits, kind: PhantomData }
    }

    /// Returns the bits as they are transmitted.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// Returns true if this set contains all of `others`.
    #[must_use]
    pub const fn contains(self, others: Self) -> bool {
        self.bits & others.bits == others.bits
    }

    /// Returns the union of both sets.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self::from_bits(self.bits | others.bits)
    }
}

impl Actions {
    /// The filter adds and inserts headers.
    pub const ADD_HEADERS: Self = Self::from_bits(0x001);
    /// The filter replaces the body.
    pub const CHANGE_BODY: Self = Self::from_bits(0x002);
    /// The filter adds recipients.
    pub const ADD_RECIPIENTS: Self = Self::from_bits(0x004);
    /// The filter removes recipients.
    pub const DELETE_RECIPIENTS: Self = Self::from_bits(0x008);
    /// The filter changes and removes headers.
    pub const CHANGE_HEADERS: Self = Self::from_bits(0x010);
    /// The filter quarantines messages.
    pub const QUARANTINE: Self = Self::from_bits(0x020);
    /// The filter changes the envelope sender.
    pub const CHANGE_FROM: Self = Self::from_bits(0x040);
    /// The filter adds recipients with ESMTP arguments.
    pub const ADD_RECIPIENTS_WITH_ARGUMENTS: Self = Self::from_bits(0x080);
    /// The filter requests macros.
    pub const SET_MACROS: Self = Self::from_bits(0x100);
    /// The meaning of an empty offer: `SMFI_V1_ACTS`.
    pub const VERSION_1: Self = Self::from_bits(0x00f);
    /// All named actions: `SMFI_CURR_ACTS`.
    pub const ALL: Self = Self::from_bits(0x1ff);
}

impl Steps {
    /// The MTA does not report connections.
    pub const NO_CONNECT: Self = Self::from_bits(0x00_0001);
    /// The MTA does not report HELO.
    pub const NO_HELO: Self = Self::from_bits(0x00_0002);
    /// The MTA does not report MAIL.
    pub const NO_MAIL: Self = Self::from_bits(0x00_0004);
    /// The MTA does not report RCPT.
    pub const NO_RECIPIENT: Self = Self::from_bits(0x00_0008);
    /// The MTA does not send the body.
    pub const NO_BODY: Self = Self::from_bits(0x00_0010);
    /// The MTA does not send headers.
    pub const NO_HEADERS: Self = Self::from_bits(0x00_0020);
    /// The MTA does not report the end of headers.
    pub const NO_END_OF_HEADERS: Self = Self::from_bits(0x00_0040);
    /// The filter does not reply to headers.
    pub const NO_REPLY_HEADER: Self = Self::from_bits(0x00_0080);
    /// The MTA does not report unknown commands.
    pub const NO_UNKNOWN: Self = Self::from_bits(0x00_0100);
    /// The MTA does not report DATA.
    pub const NO_DATA: Self = Self::from_bits(0x00_0200);
    /// The MTA supports the reply "skip".
    pub const SKIP: Self = Self::from_bits(0x00_0400);
    /// The MTA also reports recipients that it has rejected.
    pub const REJECTED_RECIPIENTS: Self = Self::from_bits(0x00_0800);
    /// The filter does not reply to connections.
    pub const NO_REPLY_CONNECT: Self = Self::from_bits(0x00_1000);
    /// The filter does not reply to HELO.
    pub const NO_REPLY_HELO: Self = Self::from_bits(0x00_2000);
    /// The filter does not reply to MAIL.
    pub const NO_REPLY_MAIL: Self = Self::from_bits(0x00_4000);
    /// The filter does not reply to RCPT.
    pub const NO_REPLY_RECIPIENT: Self = Self::from_bits(0x00_8000);
    /// The filter does not reply to DATA.
    pub const NO_REPLY_DATA: Self = Self::from_bits(0x01_0000);
    /// The filter does not reply to unknown commands.
    pub const NO_REPLY_UNKNOWN: Self = Self::from_bits(0x02_0000);
    /// The filter does not reply to the end of headers.
    pub const NO_REPLY_END_OF_HEADERS: Self = Self::from_bits(0x04_0000);
    /// The filter does not reply to body chunks.
    pub const NO_REPLY_BODY: Self = Self::from_bits(0x08_0000);
    /// Header values start right after the colon in both directions. Without this step an MTA removes and adds one
    /// space.
    pub const LEADING_SPACE: Self = Self::from_bits(0x10_0000);
    /// The meaning of an empty offer: `SMFI_V1_PROT`.
    pub const VERSION_1: Self = Self::from_bits(0x00_003f);
    /// All named steps: `SMFI_CURR_PROT`.
    pub const ALL: Self = Self::from_bits(0x1f_ffff);
}

impl FlagKind for ActionBits {
    const NAMES: &'static [(u32, &'static str)] = &[
        (0x001, "ADDHDRS"),
        (0x002, "CHGBODY"),
        (0x004, "ADDRCPT"),
        (0x008, "DELRCPT"),
        (0x010, "CHGHDRS"),
        (0x020, "QUARANTINE"),
        (0x040, "CHGFROM"),
        (0x080, "ADDRCPT_PAR"),
        (0x100, "SETSYMLIST"),
    ];
}

impl FlagKind for StepBits {
    const NAMES: &'static [(u32, &'static str)] = &[
        (0x00_0001, "NOCONNECT"),
        (0x00_0002, "NOHELO"),
        (0x00_0004, "NOMAIL"),
        (0x00_0008, "NORCPT"),
        (0x00_0010, "NOBODY"),
        (0x00_0020, "NOHDRS"),
        (0x00_0040, "NOEOH"),
        (0x00_0080, "NR_HDR"),
        (0x00_0100, "NOUNKNOWN"),
        (0x00_0200, "NODATA"),
        (0x00_0400, "SKIP"),
        (0x00_0800, "RCPT_REJ"),
        (0x00_1000, "NR_CONN"),
        (0x00_2000, "NR_HELO"),
        (0x00_4000, "NR_MAIL"),
        (0x00_8000, "NR_RCPT"),
        (0x01_0000, "NR_DATA"),
        (0x02_0000, "NR_UNKN"),
        (0x04_0000, "NR_EOH"),
        (0x08_0000, "NR_BODY"),
        (0x10_0000, "HDR_LEADSPC"),
    ];
}

impl<K> BitOr for FlagSet<K> {
    type Output = Self;

    fn bitor(self, others: Self) -> Self {
        self.with(others)
    }
}

impl<K> BitAnd for FlagSet<K> {
    type Output = Self;

    fn bitand(self, others: Self) -> Self {
        Self::from_bits(self.bits & others.bits)
    }
}

impl<K> Not for FlagSet<K> {
    type Output = Self;

    fn not(self) -> Self {
        Self::from_bits(!self.bits)
    }
}

impl<K> Default for FlagSet<K> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<K: FlagKind> fmt::Debug for FlagSet<K> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = out.debug_set();
        let mut unnamed = self.bits;
        for &(bit, name) in K::NAMES.iter().filter(|(bit, _)| self.bits & bit != 0) {
            set.entry(&format_args!("{name}"));
            unnamed &= !bit;
        }
        if unnamed != 0 {
            set.entry(&format_args!("{unnamed:#x}"));
        }
        set.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[(u32, &str)]) -> u32 {
        names.iter().fold(0, |bits, (bit, _)| bits | bit)
    }

    #[test]
    fn every_bit_has_a_name() {
        assert_eq!(named(ActionBits::NAMES), Actions::ALL.bits());
        assert_eq!(named(StepBits::NAMES), Steps::ALL.bits());
        assert_eq!(format!("{:?}", Actions::ADD_HEADERS | Actions::from_bits(0x8000)), "{ADDHDRS, 0x8000}");
        assert_eq!(format!("{:?}", Steps::LEADING_SPACE | Steps::SKIP), "{SKIP, HDR_LEADSPC}");
    }
}
