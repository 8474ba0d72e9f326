//! Rules for the content of records of TLS: alerts, KeyUpdate, and records that transport nothing.

use crate::content::Content;
use crate::error::OpeningError;
use crate::suite::Protocol;

/// The number of empty records or KeyUpdates in a row that is refused. OpenSSL has the same number.
pub(crate) const MAX_IDLE_RECORDS: u32 = 32;
/// The number of warning alerts in a row that is refused.
pub(crate) const MAX_WARNING_ALERTS: u32 = 5;
const CLOSE_NOTIFY: u8 = 0;
const USER_CANCELED: u8 = 90;
const KEY_UPDATE: u8 = 24;

/// A KeyUpdate of TLS 1.3. RFC 8446 4.6.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUpdate {
    /// The peer changed its keys.
    NotRequested,
    /// The peer changed its keys and asks for an update of ours: [`Sealer::update_keys`](crate::Sealer::update_keys).
    Requested,
}

/// The state of the rules of one direction.
#[derive(Debug, Default)]
pub(crate) struct MessageRules {
    empty_records: u32,
    key_updates: u32,
    warnings: u32,
    is_closed: bool,
    messages: MessageWalk,
}

impl MessageRules {
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Checks one record, and returns the KeyUpdate that it ends with.
    pub(crate) fn check(
        &mut self,
        protocol: Protocol,
        content: Content,
        data: &[u8],
    ) -> Result<Option<KeyUpdate>, OpeningError> {
        match content {
            Content::Packet => return Ok(None),
            // RFC 8446 5.1: other records must not come between the parts of a handshake message.
            _ if content != Content::Handshake
                && protocol == Protocol::Tls13
                && self.messages.is_within() =>
            {
                return Err(OpeningError::Malformed {
                    what: "handshake message: interrupted by another record",
                });
            }
            Content::ApplicationData if data.is_empty() => {
                count(&mut self.empty_records, MAX_IDLE_RECORDS, "empty records")?;
            }
            Content::ApplicationData => (self.empty_records, self.key_updates, self.warnings) = (0, 0, 0),
            Content::Alert => self.check_alert(protocol, data)?,
            Content::Handshake if protocol == Protocol::Tls13 => return self.check_handshake(data),
            Content::Handshake => {}
        }
        Ok(None)
    }

    /// RFC 5246 7.2 and RFC 8446 section 6.
    fn check_alert(&mut self, protocol: Protocol, data: &[u8]) -> Result<(), OpeningError> {
        let [level, description] = data else { return Err(OpeningError::Malformed { what: "alert" }) };
        match (level, *description) {
            (_, CLOSE_NOTIFY) => self.is_closed = true,
            // TLS 1.3 ignores the level: everything but these two ends the connection.
            (_, USER_CANCELED) => count(&mut self.warnings, MAX_WARNING_ALERTS, "warning alerts")?,
            (1, _) if protocol == Protocol::Tls12 => {
                count(&mut self.warnings, MAX_WARNING_ALERTS, "warning alerts")?;
            }
            (1 | 2, _) => self.is_closed = true,
            _ => return Err(OpeningError::Malformed { what: "alert" }),
        }
        Ok(())
    }

    fn check_handshake(&mut self, data: &[u8]) -> Result<Option<KeyUpdate>, OpeningError> {
        let update = self.messages.walk(data)?;
        if update.is_some() {
            count(&mut self.key_updates, MAX_IDLE_RECORDS, "KeyUpdates")?;
        }
        Ok(update)
    }
}

fn count(found: &mut u32, max: u32, what: &'static str) -> Result<(), OpeningError> {
    *found += 1;
    if *found >= max { Err(OpeningError::TooManyInARow { what, found: *found }) } else { Ok(()) }
}

/// A walk over handshake messages, which may be cut anywhere into records. RFC 8446 5.1.
#[derive(Debug, Default)]
struct MessageWalk {
    header: [u8; 4],
    header_len: usize,
    /// The number of bytes of the message that are still missing.
    missing: usize,
    /// The last byte of the message so far.
    last: u8,
}

impl MessageWalk {
    fn is_within(&self) -> bool {
        self.header_len != 0
    }

    /// Walks on, and returns the KeyUpdate at the end of the record.
    fn walk(&mut self, mut data: &[u8]) -> Result<Option<KeyUpdate>, OpeningError> {
        while let Some((first, rest)) = data.split_first() {
            if self.header_len < self.header.len() {
                self.header[self.header_len] = *first;
                self.header_len += 1;
                data = rest;
                if self.header_len == self.header.len() {
                    let [_, high, middle, low] = self.header;
                    self.missing = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
                }
            } else {
                let taken = self.missing.min(data.len());
                self.last = data[taken - 1];
                self.missing -= taken;
                data = &data[taken..];
            }
            if self.header_len == self.header.len() && self.missing == 0 {
                self.header_len = 0;
                if let Some(update) = self.end_message(data)? {
                    return Ok(Some(update));
                }
            }
        }
        Ok(None)
    }

    fn end_message(&self, behind: &[u8]) -> Result<Option<KeyUpdate>, OpeningError> {
        if self.header[0] != KEY_UPDATE {
            return Ok(None);
        }
        if self.header[1..] != [0, 0, 1] {
            return Err(OpeningError::Malformed { what: "KeyUpdate: expected 1 byte" });
        }
        // RFC 8446 5.1: a message before a change of keys ends its record.
        if !behind.is_empty() {
            return Err(OpeningError::Malformed { what: "KeyUpdate: bytes of the old keys behind it" });
        }
        match self.last {
            0 => Ok(Some(KeyUpdate::NotRequested)),
            1 => Ok(Some(KeyUpdate::Requested)),
            _ => Err(OpeningError::Malformed { what: "KeyUpdate: expected 0 or 1" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UPDATE: [u8; 5] = [24, 0, 0, 1, 0];
    const TICKET: [u8; 7] = [4, 0, 0, 3, 24, 0, 0];

    fn handshake(rules: &mut MessageRules, data: &[u8]) -> Result<Option<KeyUpdate>, OpeningError> {
        rules.check(Protocol::Tls13, Content::Handshake, data)
    }

    #[test]
    fn finds_a_key_update_behind_other_messages_and_cut_anywhere() {
        let messages = [&TICKET[..], &UPDATE].concat();
        for cut in 0..=messages.len() {
            let mut rules = MessageRules::default();
            let (front, back) = messages.split_at(cut);
            let found = [handshake(&mut rules, front).unwrap(), handshake(&mut rules, back).unwrap()];
            assert_eq!(found.iter().flatten().count(), 1, "cut at {cut}");
            assert!(!rules.messages.is_within());
        }
    }

    #[test]
    fn a_message_without_a_body_ends_with_its_header() {
        let mut rules = MessageRules::default();
        assert_eq!(handshake(&mut rules, &[0, 0, 0, 0, 24, 0, 0, 1, 1]), Ok(Some(KeyUpdate::Requested)));
    }

    #[test]
    fn malformed_key_updates_are_refused() {
        for message in [&[24, 0, 0, 1, 2][..], &[24, 0, 0, 2, 0, 0], &[24, 0, 0, 0], &[24, 0, 0, 1, 0, 4]] {
            assert!(handshake(&mut MessageRules::default(), message).is_err(), "{message:?}");
        }
    }

    #[test]
    fn data_must_not_interrupt_a_message() {
        let mut rules = MessageRules::default();
        assert_eq!(handshake(&mut rules, &[4, 0]), Ok(None));
        assert!(rules.check(Protocol::Tls13, Content::ApplicationData, b"x").is_err());
    }

    #[test]
    fn storms_end_and_data_calms_them() {
        let mut rules = MessageRules::default();
        for _ in 0..3 {
            for _ in 1..MAX_IDLE_RECORDS {
                assert!(handshake(&mut rules, &UPDATE).unwrap().is_some());
                rules.check(Protocol::Tls13, Content::ApplicationData, b"").unwrap();
            }
            rules.check(Protocol::Tls13, Content::ApplicationData, b"x").unwrap();
        }
        for _ in 1..MAX_IDLE_RECORDS {
            handshake(&mut rules, &UPDATE).unwrap();
        }
        let storm = Err(OpeningError::TooManyInARow { what: "KeyUpdates", found: MAX_IDLE_RECORDS });
        assert_eq!(handshake(&mut rules, &UPDATE), storm);
    }

    #[test]
    fn warnings_are_counted_and_other_alerts_close() {
        let mut rules = MessageRules::default();
        for _ in 1..MAX_WARNING_ALERTS {
            rules.check(Protocol::Tls12, Content::Alert, &[1, 100]).unwrap();
        }
        assert!(rules.check(Protocol::Tls12, Content::Alert, &[1, 100]).is_err());
        assert!(!rules.is_closed());
        for (protocol, alert) in
            [(Protocol::Tls12, [2, 40]), (Protocol::Tls13, [1, 40]), (Protocol::Tls12, [1, 0])]
        {
            let mut rules = MessageRules::default();
            rules.check(protocol, Content::Alert, &alert).unwrap();
            assert!(rules.is_closed());
        }
        assert!(MessageRules::default().check(Protocol::Tls13, Content::Alert, &[1]).is_err());
        assert!(MessageRules::default().check(Protocol::Tls13, Content::Alert, &[7, 7]).is_err());
    }
}
