//! Names without repetition, and numbers from a seed. Both are the same in every version.

/// The number of bits of a name's index.
const BITS: u32 = 36;
const HALF: u32 = BITS / 2;
const HALF_MASK: u64 = (1 << HALF) - 1;
const ROUNDS: u64 = 4;
/// A syllable is a consonant and a vowel, so that neither hyphen nor digit is part of one.
const CONSONANTS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
const VOWELS: &[u8; 5] = b"aeiou";
const SYLLABLES: u64 = 100;
const MIN_SYLLABLES: usize = 3;
/// Prefixes of names; half of them are empty.
const PREFIXES: [&str; 8] = ["", "", "my-", "the-", "", "go-", "", "1a-"];
/// Suffixes of names.
const SUFFIXES: [&str; 16] = [
    "",
    "",
    "-shop",
    "",
    "24",
    "",
    "-online",
    "",
    "",
    "-group",
    "",
    "-it",
    "",
    "365",
    "-consulting-services",
    "-1",
];

/// Pseudo-random numbers from a seed. SplitMix64: Steele, Lea, Flood, OOPSLA 2014.
#[derive(Clone, Debug)]
pub(super) struct SeededNumbers(u64);

impl SeededNumbers {
    /// Starts the numbers of one of many items.
    pub(super) fn new(seed: u64, index: u64) -> Self {
        Self(mix(seed ^ mix(index.wrapping_add(0x9e37_79b9_7f4a_7c15))))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a number below a bound that is much smaller than 2^32.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((self.next() >> 32) * bound) >> 32
    }
}

fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Appends the label of an index below 2^36. Labels of different indices differ and are in no order.
pub(super) fn write_label(seed: u64, index: u64, out: &mut Vec<u8>) {
    let number = scrambled(seed, index);
    // The syllables hold the whole number, so prefixes and suffixes may repeat.
    let (prefix, suffix) = (PREFIXES[(number % 8) as usize], SUFFIXES[(number / 8 % 16) as usize]);
    out.extend_from_slice(prefix.as_bytes());
    write_syllables(number, out);
    out.extend_from_slice(suffix.as_bytes());
}

/// A number in base 100.
fn write_syllables(mut number: u64, out: &mut Vec<u8>) {
    let start = out.len();
    while number > 0 || out.len() < start + 2 * MIN_SYLLABLES {
        let syllable = (number % SYLLABLES) as usize;
        out.extend_from_slice(&[CONSONANTS[syllable / VOWELS.len()], VOWELS[syllable % VOWELS.len()]]);
        number /= SYLLABLES;
    }
}

/// Permutes the numbers below 2^36 with a Feistel network.
fn scrambled(seed: u64, index: u64) -> u64 {
    let (mut left, mut right) = (index >> HALF & HALF_MASK, index & HALF_MASK);
    for round in 0..ROUNDS {
        let next = left ^ (mix(seed ^ (right << 8 | round)) & HALF_MASK);
        (left, right) = (right, next);
    }
    left << HALF | right
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_label_comes_twice_and_all_are_host_names() {
        let mut seen = HashSet::new();
        for index in (0..200_000).chain((1 << BITS) - 1000..1 << BITS) {
            let mut label = Vec::new();
            write_label(7, index, &mut label);
            assert!(label.len() <= 63 && label.first().is_some_and(u8::is_ascii_alphanumeric));
            assert!(
                label.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
            );
            assert!(seen.insert(label), "{index}");
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_labels_for_ever() {
        let label = |seed, index| {
            let mut label = Vec::new();
            write_label(seed, index, &mut label);
            String::from_utf8(label).unwrap()
        };
        assert_eq!(
            [label(1, 0), label(1, 1), label(2, 0)],
            ["culaxepuzebi", "my-libudabeco", "1a-cixatoficabe-group"]
        );
    }
}
