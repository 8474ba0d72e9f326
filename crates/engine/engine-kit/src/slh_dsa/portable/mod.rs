//! Hash steps by one stream of compression functions, on every processor.

pub(crate) mod keccak;
mod sha2;
mod shake;

use oarlock_core::SlhDsaSet;

use super::{Address, Chain, HashSteps};
pub(crate) use sha2::SHA256_START;
pub(crate) use shake::absorb;

/// The steps of one parameter set under one or more public seeds, one at a time.
#[derive(Debug)]
pub struct PortableSteps(Hashes);

#[derive(Debug)]
enum Hashes {
    Sha2(sha2::Sha2Steps),
    Shake(shake::ShakeSteps),
}

impl PortableSteps {
    /// Prepares the public seeds, of n bytes each. A longer one is cut, so that public keys are seeds too.
    pub fn new<'s>(set: SlhDsaSet, public_seeds: impl IntoIterator<Item = &'s [u8]>) -> Self {
        let cut = public_seeds.into_iter().map(|seed| seed.get(..set.n()).unwrap_or(seed));
        Self(if set.is_shake() {
            Hashes::Shake(shake::ShakeSteps::new(set.n(), cut))
        } else {
            Hashes::Sha2(sha2::Sha2Steps::new(set.n(), cut))
        })
    }
}

impl HashSteps for PortableSteps {
    fn chains(&self, chains: &[Chain], values: &mut [u8]) {
        match &self.0 {
            Hashes::Sha2(steps) => steps.chains(chains, values),
            Hashes::Shake(steps) => steps.chains(chains, values),
        }
    }

    fn nodes(&self, addresses: &[Address], children: &[u8], nodes: &mut [u8]) {
        match &self.0 {
            Hashes::Sha2(steps) => steps.nodes(addresses, children, nodes),
            Hashes::Shake(steps) => steps.nodes(addresses, children, nodes),
        }
    }
}
