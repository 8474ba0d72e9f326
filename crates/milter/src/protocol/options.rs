//! The negotiation's message: the same from an MTA, which offers, and from a filter, which chooses.

use super::code;
use super::error::{EncodeError, ProtocolError};
use super::flags::{Actions, Steps};
use super::frame::{put, put_string};
use super::text::FrameReader;

/// When macros are sent: `SMFIM_*`, in the numbers of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MacroStage {
    /// With the connection.
    Connect = 0,
    /// With HELO.
    Helo = 1,
    /// With MAIL.
    Mail = 2,
    /// With each RCPT.
    Recipient = 3,
    /// With DATA.
    Data = 4,
    /// With the body and its end.
    EndOfMessage = 5,
    /// With headers and their end.
    EndOfHeaders = 6,
}

impl MacroStage {
    /// All of them, by their numbers.
    pub const ALL: [Self; 7] = [
        Self::Connect,
        Self::Helo,
        Self::Mail,
        Self::Recipient,
        Self::Data,
        Self::EndOfMessage,
        Self::EndOfHeaders,
    ];

    /// Of macros that come before the command with this code. Postfix sends them before headers and body chunks too.
    #[must_use]
    pub fn of_command(command: u8) -> Option<Self> {
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

/// Version, actions and steps; from a filter also which macros it wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NegotiationOptions {
    /// Of the protocol.
    pub version: u32,
    /// On offer, or chosen.
    pub actions: Actions,
    /// On offer, or chosen.
    pub steps: Steps,
    /// Names between spaces, for stages whose macros are to be others than the MTA's configuration says. Postfix sends none for the
    /// stages that are not named here, as soon as one is.
    pub macros: Vec<(MacroStage, Vec<u8>)>,
}

impl NegotiationOptions {
    /// Reads them.
    ///
    /// # Errors
    /// They are cut short.
    pub fn read(data: &[u8]) -> Result<Self, ProtocolError> {
        let mut reader = FrameReader::new(code::OPTNEG, data);
        let version = reader.u32("the version")?;
        let actions = Actions::from_bits(reader.u32("the actions")?);
        let steps = Steps::from_bits(reader.u32("the steps")?);
        let mut macros = Vec::new();
        while !reader.is_empty() {
            let number = reader.u32("a stage of macros")? as usize;
            let names = reader.string("names of macros")?;
            // Postfix too leaves out stages that it does not know.
            if let Some(stage) = MacroStage::ALL.get(number) {
                macros.push((*stage, names.to_vec()));
            }
        }
        Ok(Self { version, actions, steps, macros })
    }

    /// Appends them as a frame.
    ///
    /// # Errors
    /// A macro's name holds a NUL.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put(out, code::OPTNEG, |out| {
            for number in [self.version, self.actions.bits(), self.steps.bits()] {
                out.extend_from_slice(&number.to_be_bytes());
            }
            for (stage, names) in &self.macros {
                out.extend_from_slice(&(*stage as u32).to_be_bytes());
                put_string(out, names, "names of macros")?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_stand_at_their_numbers() {
        assert!(MacroStage::ALL.iter().enumerate().all(|(number, stage)| *stage as usize == number));
    }
}
