//! Reads the files of `data/`: lines of words, comments from `#`, bytes in hexadecimal, `-` for none.

use super::SelfTestFailure;

/// The words of every line.
pub(super) fn lines(file: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    file.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(' ').collect())
}

/// The words of every line that starts with `tag`, without it.
pub(super) fn tagged(file: &'static str, tag: &str) -> Vec<Vec<&'static str>> {
    lines(file).filter(|words| words.first() == Some(&tag)).map(|words| words[1..].to_vec()).collect()
}

/// The word at `index` as bytes.
pub(super) fn bytes(words: &[&str], index: usize) -> Result<Vec<u8>, SelfTestFailure> {
    let word = words.get(index).ok_or_else(|| damaged(words, index))?;
    if *word == "-" {
        return Ok(Vec::new());
    }
    let pairs = word.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Err(damaged(words, index));
    }
    pairs
        .map(|pair| {
            let text = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(text, 16).ok()
        })
        .collect::<Option<_>>()
        .ok_or_else(|| damaged(words, index))
}

/// The word at `index` as a small number.
pub(super) fn number(words: &[&str], index: usize) -> Result<usize, SelfTestFailure> {
    words.get(index).and_then(|word| word.parse().ok()).ok_or_else(|| damaged(words, index))
}

fn damaged(words: &[&str], index: usize) -> SelfTestFailure {
    SelfTestFailure::Vectors {
        what: format!("word {index} of the line that starts with {:?}", words.first()),
    }
}

/// A key that cannot be imported.
pub(super) fn bad_key(error: oarlock_keys::KeyError) -> SelfTestFailure {
    SelfTestFailure::Vectors { what: format!("a key: {error}") }
}
