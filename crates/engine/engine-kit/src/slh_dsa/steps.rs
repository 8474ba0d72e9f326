//! The functions that an engine implements.

use super::Address;

/// The hash steps of SLH-DSA under one or more public seeds PK.seed, for one parameter set.
///
/// An engine of lanes implements the first two functions and calls [`root`](super::root), [`sign`](super::sign) and
/// [`verify`](super::verify). Everything else is the same for all engines.
///
/// All values have n bytes and lie one behind the other. The items of one call are independent of each other, and may
/// be computed in any order, any number at once. Their number is a few hundred, and often no multiple of a lane count.
/// The address of each item names its public seed by [`Address::key`]; [`root`](super::root) and [`sign`](super::sign)
/// use seed 0 alone, so that addresses of one call differ in few words.
///
/// F and PRF of FIPS 205 are the same function, and so are H and T: for the SHA-2 sets SHA-256 over PK.seed, zeros up
/// to a block, the compressed address and the value, where H and T take SHA-512 if n is above 16 (section 11.2); for
/// the SHAKE sets SHAKE256 over PK.seed, the address and the value (section 11.1). The state after PK.seed and its
/// zeros is the same for all items of a key, and best kept. F and H then are one compression each.
///
/// Values are secret unless they are in a signature: an implementation uses them in no branch and no index, and wipes
/// its copies of them. Addresses and the numbers of steps are public.
pub trait HashSteps {
    /// Moves each value along its chain: as many times as the chain has steps, the value becomes F of itself, and the
    /// index of the address grows by one. FIPS 205 algorithm 5.
    ///
    /// The chains of a call may have different lengths, 0 to 15. A PRF value is a chain of one step from SK.seed, and a
    /// leaf of FORS one of one step from its secret value.
    fn chains(&self, chains: &[Chain], values: &mut [u8]);

    /// Computes one node of several children for each address: H of two values, or T of more. `children` has the same
    /// number of values for each node.
    fn nodes(&self, addresses: &[Address], children: &[u8], nodes: &mut [u8]);

    /// Is told of values that are public from here on, although they were computed from secrets: R, a FORS public key,
    /// roots. A check for leaks must know them; other implementations ignore them.
    fn publish(&self, _values: &[u8]) {}
}

/// A chain, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The address of its first step.
    pub first: Address,
    /// The number of its steps.
    pub steps: u8,
}
