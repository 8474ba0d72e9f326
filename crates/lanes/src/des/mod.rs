//! DES over lanes of bits.

mod sboxes;
#[cfg(test)]
mod standard;
#[cfg(test)]
mod tests;
