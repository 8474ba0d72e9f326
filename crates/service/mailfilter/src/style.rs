//! The settings that all signatures of this filter have in common.

use oarlock_dkim::{Canonicalization, SignedFields};

use crate::config::{AddressSource, RequiredFrom};

/// The settings that all signatures of this filter have in common.
#[derive(Clone, Debug)]
pub(crate) struct SigningStyle {
    pub(crate) canonicalization: Canonicalization,
    pub(crate) fields: SignedFields,
    pub(crate) lifetime_s: Option<u64>,
    pub(crate) required_from: RequiredFrom,
    pub(crate) address_sources: Vec<AddressSource>,
}
