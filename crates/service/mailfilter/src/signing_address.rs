//! The address that selects the lines of the signing table: that of `From`, `Sender` or MAIL FROM.

use oarlock_dkim::HeaderField;

use crate::author::AuthorAddress;
use crate::config::{AddressSource, RequiredFrom};
use crate::incoming::author;
use crate::outcome::MessageFault;
use crate::style::SigningStyle;
use crate::table::{SigningLine, SigningTable};

/// The address of a message to sign, and the lines that sign for it.
#[derive(Debug)]
pub(crate) struct SigningChoice {
    pub(crate) address: AuthorAddress,
    pub(crate) lines: Vec<SigningLine>,
}

/// The reason why a message of this site is not signed, although it should be.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressFault {
    #[error("{0} From fields: expected exactly one")]
    Authors(usize),
    #[error("{0} Sender fields: expected at most one")]
    Senders(usize),
    #[error("the Sender field does not have one mailbox, as RFC 5322 3.6.2 requires")]
    Sender,
    #[error(
        "not signed: {} is {address}, MAIL FROM is {envelope}, and [signing] require_from requires them to agree",
        field_name(*field)
    )]
    NotPermitted { field: AddressSource, address: String, envelope: String },
}

impl AddressFault {
    pub(crate) fn fault(&self) -> MessageFault {
        match self {
            Self::Authors(_) | Self::Senders(_) | Self::Sender => MessageFault::Malformed,
            Self::NotPermitted { .. } => MessageFault::WrongFrom,
        }
    }
}

/// A message of this site, as far as it decides the address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressRequest<'a> {
    pub(crate) headers: &'a [HeaderField<'a>],
    /// The address of MAIL FROM. None for the null sender.
    pub(crate) envelope: Option<&'a AuthorAddress>,
    /// True if the client may sign only for addresses that agree with MAIL FROM.
    pub(crate) is_authenticated: bool,
    pub(crate) now_s: u64,
}

impl AddressRequest<'_> {
    /// Returns the first address of the settings that has lines and that the client may sign for. Returns None if no
    /// address has lines.
    pub(crate) fn choose(
        &self,
        table: &SigningTable,
        style: &SigningStyle,
    ) -> Result<Option<SigningChoice>, AddressFault> {
        let author = author(self.headers).map_err(AddressFault::Authors)?;
        let mut refused = None;
        for source in style.address_sources.iter().copied() {
            let address = match source {
                AddressSource::From => author.clone(),
                AddressSource::Sender => self.sender()?,
                AddressSource::MailFrom => self.envelope.cloned(),
            };
            let Some(address) = address else { continue };
            let lines = self.lines(table, &address);
            if lines.is_empty() {
                continue;
            }
            let choice = SigningChoice { address, lines };
            match self.refusal(source, &choice, table, style.required_from) {
                None => return Ok(Some(choice)),
                Some(fault) => drop(refused.get_or_insert(fault)),
            }
        }
        refused.map_or(Ok(None), Err)
    }

    fn lines(&self, table: &SigningTable, address: &AuthorAddress) -> Vec<SigningLine> {
        table.find(address).filter(|line| line.signs_at(self.now_s)).cloned().collect()
    }

    /// Returns the address of `Sender`, or None if there is no such field.
    fn sender(&self) -> Result<Option<AuthorAddress>, AddressFault> {
        let mut senders = self.headers.iter().filter(|header| header.is(b"Sender"));
        let Some(only) = senders.next() else { return Ok(None) };
        match senders.count() {
            0 => AuthorAddress::parse_only(only.value()).map(Some).ok_or(AddressFault::Sender),
            others => Err(AddressFault::Senders(others + 1)),
        }
    }

    /// Returns the reason why the client may not sign for an address.
    fn refusal(
        &self,
        source: AddressSource,
        choice: &SigningChoice,
        table: &SigningTable,
        required: RequiredFrom,
    ) -> Option<AddressFault> {
        if !self.is_authenticated || required == RequiredFrom::Any {
            return None;
        }
        if !self.agrees(required, &choice.address) {
            return Some(self.not_permitted(source, &choice.address.address));
        }
        if source == AddressSource::From {
            return None;
        }
        // Readers see the author. A signature for another address must not confirm an author of this site.
        match self.headers.iter().find(|header| header.is(b"From")).map(|from| from.value()) {
            Some(value) => match AuthorAddress::parse_only(value) {
                Some(author) if self.agrees(required, &author) => None,
                Some(author) if !confirms(choice, &author, table) => None,
                Some(author) => Some(self.not_permitted(AddressSource::From, &author.address)),
                None => Some(self.not_permitted(AddressSource::From, "not one mailbox")),
            },
            None => Some(AddressFault::Authors(0)),
        }
    }

    /// Returns true if the address agrees with MAIL FROM, as far as the MTA has checked MAIL FROM.
    fn agrees(&self, required: RequiredFrom, address: &AuthorAddress) -> bool {
        match required {
            RequiredFrom::Any => true,
            RequiredFrom::MailFromDomain => {
                self.envelope.is_some_and(|envelope| envelope.domain() == address.domain())
            }
            RequiredFrom::MailFrom => self.envelope == Some(address),
        }
    }

    fn not_permitted(&self, source: AddressSource, address: &str) -> AddressFault {
        let envelope = self.envelope.map_or("<>", |envelope| &envelope.address).to_owned();
        AddressFault::NotPermitted { field: source, address: address.to_owned(), envelope }
    }
}

/// Returns true if the author is one of this site, or if DMARC would take a signature for one of the author's own.
fn confirms(choice: &SigningChoice, author: &AuthorAddress, table: &SigningTable) -> bool {
    let mut domains =
        choice.lines.iter().map(|line| line.domain.as_deref().unwrap_or(choice.address.domain()));
    table.names(author) || domains.any(|domain| is_aligned(domain, author.domain()))
}

/// Returns true if one domain is the other or is below it. RFC 7489 3.1.1, relaxed alignment.
fn is_aligned(one: &str, other: &str) -> bool {
    let is_below =
        |name: &str, parent: &str| name.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'));
    one == other || is_below(one, other) || is_below(other, one)
}

fn field_name(source: AddressSource) -> &'static str {
    match source {
        AddressSource::From => "From",
        AddressSource::Sender => "Sender",
        AddressSource::MailFrom => "MAIL FROM",
    }
}
