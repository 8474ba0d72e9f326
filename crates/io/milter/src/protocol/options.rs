//! The message of the negotiation. An MTA offers and a filter chooses with the same message.

use super::code;
use super::error::{EncodeError, ProtocolError};
use super::flags::{Actions, Steps};
use super::frame::{write_frame, write_string};
use super::text::FrameReader;

/// The stage at which macros are sent: `SMFIM_*`, with the transmitted numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MacroStage {
    /// The connection.
    Connect = 0,
    /// HELO.
    Helo = 1,
    /// MAIL.
    Mail = 2,
    /// Each RCPT.
    Recipient = 3,
    /// DATA.
    Data = 4,
    /// The body and its end.
    EndOfMessage = 5,
    /// The headers and their end.
    EndOfHeaders = 6,
}

impl MacroStage {
    /// All stages, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Connect,
        Self::Helo,
        Self::Mail,
        Self::Recipient,
        Self::Data,
        Self::EndOfMessage,
        Self::EndOfHeaders,
    ];

    /// Returns the stage of macros before the command with this code. Postfix also sends them before headers and body
    /// chunks.
    #[must_use]
    pub(crate) fn of_command(command: u8) -> Option<Self> {
        Some(match command {
            code::CONNECT => Self::Connect,
            code::HELO => Self::Helo,
            code::MAIL => Self::Mail,
            code::RCPT => Self::Recipient,
            code::DATA => Self::Data,
            code::HEADER | code::EOH => Self::EndOfHeaders,
            code::BODY | code::BODY_EOB => Self::EndOfMessage,
            _ => return None,
        })
    }
}

/// A version, actions and steps. A filter also names the macros that it wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NegotiationOptions {
    /// The protocol version.
    pub version: u32,
    /// The offered or chosen actions.
    pub actions: Actions,
    /// The offered or chosen steps.
    pub steps: Steps,
    /// The names of macros, separated by spaces, by stage. They replace the MTA's configuration. If any stage is
    /// named, Postfix sends no macros for the other stages.
    pub macros: Vec<(MacroStage, Vec<u8>)>,
}

impl NegotiationOptions {
    /// Reads the data of a negotiation.
    ///
    /// # Errors
    /// The data is truncated.
    pub fn read(data: &[u8]) -> Result<Self, ProtocolError> {
        let mut reader = FrameReader::new(code::OPTNEG, data);
        let version = reader.u32("the version")?;
        let actions = Actions::from_bits(reader.u32("the actions")?);
        let steps = Steps::from_bits(reader.u32("the steps")?);
        let mut macros = Vec::new();
        while !reader.is_empty() {
            let number = reader.u32("a stage of macros")? as usize;
            let names = reader.string("names of macros")?;
            // Postfix ignores unknown stages as well.
            if let Some(stage) = MacroStage::ALL.get(number) {
                macros.push((*stage, names.to_vec()));
            }
        }
        Ok(Self { version, actions, steps, macros })
    }

    /// Appends the options as a frame.
    ///
    /// # Errors
    /// The name of a macro holds a NUL.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        write_frame(out, code::OPTNEG, |out| {
            for number in [self.version, self.actions.bits(), self.steps.bits()] {
                out.extend_from_slice(&number.to_be_bytes());
            }
            for (stage, names) in &self.macros {
                out.extend_from_slice(&(*stage as u32).to_be_bytes());
                write_string(out, names, "names of macros")?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_macro_stage_has_its_number_as_index() {
        assert!(MacroStage::ALL.iter().enumerate().all(|(number, stage)| *stage as usize == number));
    }
}
