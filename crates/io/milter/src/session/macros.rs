//! The macros that an MTA sends with its commands: names and values by stage.

use std::fmt;

use crate::protocol::{MacroPairs, MacroStage};

/// The current macros of a connection. The macros of a stage last until that stage is reached again.
#[derive(Default)]
pub struct MacroTable {
    /// The bytes of each stage, by its index in [`ORDER`].
    stages: [Vec<u8>; ORDER.len()],
}

/// The stages in the order in which they are reached. Their numbers have another order.
const ORDER: [MacroStage; 7] = [
    MacroStage::Connect,
    MacroStage::Helo,
    MacroStage::Mail,
    MacroStage::Recipient,
    MacroStage::Data,
    MacroStage::EndOfHeaders,
    MacroStage::EndOfMessage,
];

impl MacroTable {
    /// Returns the value that was sent last under this name, with or without braces: `i`, `{auth_type}`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let name = without_braces(name.as_bytes());
        let found = |stage: &'_ Vec<u8>| -> Option<usize> {
            MacroPairs::kept(stage).position(|(candidate, _)| without_braces(candidate) == name)
        };
        // Later stages override earlier ones.
        self.stages.iter().rev().find_map(|stage| {
            let index = found(stage)?;
            MacroPairs::kept(stage).nth(index).map(|(_, value)| value)
        })
    }

    pub(super) fn set(&mut self, stage: MacroStage, pairs: MacroPairs<'_>) {
        let kept = &mut self.stages[stage_index(stage)];
        kept.clear();
        kept.extend_from_slice(pairs.as_bytes());
    }

    /// Forgets the macros of later stages.
    pub(super) fn clear_after(&mut self, stage: MacroStage) {
        self.stages[stage_index(stage) + 1..].iter_mut().for_each(Vec::clear);
    }

    pub(super) fn clear(&mut self) {
        self.stages.iter_mut().for_each(Vec::clear);
    }
}

impl fmt::Debug for MacroTable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.stages.iter().flat_map(|stage| MacroPairs::kept(stage));
        out.debug_map()
            .entries(all.map(|(name, value)| (String::from_utf8_lossy(name), String::from_utf8_lossy(value))))
            .finish()
    }
}

fn stage_index(stage: MacroStage) -> usize {
    // unreachable because the order holds every stage
    ORDER.iter().position(|candidate| *candidate == stage).unwrap_or_default()
}

fn without_braces(name: &[u8]) -> &[u8] {
    match name {
        [b'{', bare @ .., b'}'] => bare,
        bare => bare,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(bytes: &[u8]) -> MacroPairs<'_> {
        MacroPairs::new(bytes).unwrap()
    }

    #[test]
    fn finds_a_macro_of_the_latest_stage_with_or_without_braces() {
        let mut macros = MacroTable::default();
        macros.set(MacroStage::Connect, pairs(b"j\0mx\0{daemon_name}\0smtpd\0"));
        macros.set(MacroStage::EndOfMessage, pairs(b"i\0QUEUED\0"));
        macros.set(MacroStage::EndOfHeaders, pairs(b"i\0EARLIER\0{i}\0NEVER\0"));
        assert_eq!(macros.get("i"), Some(&b"QUEUED"[..]));
        assert_eq!(macros.get("{j}"), Some(&b"mx"[..]));
        assert_eq!(macros.get("daemon_name"), macros.get("{daemon_name}"));
        assert_eq!((macros.get("daemon_name"), macros.get("")), (Some(&b"smtpd"[..]), None));
        macros.set(MacroStage::EndOfMessage, pairs(b""));
        assert_eq!(macros.get("i"), Some(&b"EARLIER"[..]));
        macros.clear_after(MacroStage::Helo);
        assert_eq!((macros.get("i"), macros.get("j")), (None, Some(&b"mx"[..])));
    }
}
