//! The faults of sealed files, identities and recipients. None of them quotes a file, because any file may hold a
//! secret.

use std::io;

use oarlock::keys::text_file::TextFault;

use crate::ExposedSecret;

/// The reason why a file cannot be opened or sealed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealFault {
    /// No identity is given.
    #[error(
        "this file is sealed with age: expected an identity that opens it, by the setting `identity` or with --identity"
    )]
    NoIdentity,
    /// The file has the name of a sealed file, and another content.
    #[error(
        "the name ends in .age, but the content is not sealed with age: `oarlock keys seal` seals it, or the file gets \
         its name without .age"
    )]
    NotSealed,
    /// The file has another version of the format.
    #[error("this file is sealed with another version of age's format: expected age-encryption.org/v1")]
    Version,
    /// A line of the header is malformed.
    #[error("line {line} of the header of age: expected {expected}")]
    Header {
        /// The line, from 1.
        line: usize,
        /// The expected content.
        expected: &'static str,
    },
    /// A line of the armor is malformed.
    #[error("line {line} of the armor of age: expected {expected}")]
    Armor {
        /// The line, from 1.
        line: usize,
        /// The expected content.
        expected: &'static str,
    },
    /// The file ends too early.
    #[error("this file is sealed with age, and it ends within its {part}: it was cut")]
    Cut {
        /// The part that is incomplete.
        part: &'static str,
    },
    /// The file is sealed with a passphrase.
    #[error(
        "this file is sealed with a passphrase: expected one that is sealed to the recipient of an identity \
         (`oarlock keys seal FILE --to age1...`)"
    )]
    Passphrase,
    /// None of the identities is that of a recipient.
    #[error("this file is sealed to others: {}", describe_others(*x25519, others))]
    OtherRecipient {
        /// The number of X25519 recipients.
        x25519: usize,
        /// The types of other recipients, each once.
        others: Vec<String>,
    },
    /// The header is not authentic.
    #[error(
        "this file is sealed with age, and its header was changed: the code of the header does not verify"
    )]
    HeaderChanged,
    /// A chunk of the content is not authentic.
    #[error("this file is sealed with age, and chunk {number} of {count} was changed or cut")]
    Chunk {
        /// The chunk, from 1.
        number: usize,
        /// The number of chunks.
        count: usize,
    },
    /// The content has ended before the file does.
    #[error("this file is sealed with age, and data follow the end of its content: expected none")]
    Trailing,
    /// The content is too long.
    #[error("the content of this file, sealed with age, is too long: expected at most {max} bytes")]
    TooLong {
        /// The maximum length in bytes.
        max: usize,
    },
    /// There is no recipient to seal for.
    #[error("expected at least one recipient (age1...) to seal the file for")]
    NoRecipient,
    /// There are too many recipients.
    #[error("expected at most {max} recipients to seal the file for, found {found}")]
    TooManyRecipients {
        /// The maximum number.
        max: usize,
        /// The number that was given.
        found: usize,
    },
    /// A recipient's point has a small order, so everybody could open the file.
    #[error("recipient {number} is no key: its point has a small order")]
    WeakRecipient {
        /// The recipient, from 1.
        number: usize,
    },
    /// The machine gave no random bytes, or no memory.
    #[error("the cryptographic library failed")]
    Machine,
}

/// Names the recipients that a file has.
fn describe_others(x25519: usize, others: &[String]) -> String {
    let keys = match x25519 {
        0 => "no X25519 recipient".to_owned(),
        1 => "1 X25519 recipient, and not that of this identity".to_owned(),
        many => format!("{many} X25519 recipients, and none of them is that of this identity"),
    };
    match others {
        [] => keys,
        others => format!("{keys}; recipients of type {} are not supported", others.join(", ")),
    }
}

/// The fault of an identity file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum IdentityFault {
    /// The file holds no identity.
    #[error(
        "expected an identity (AGE-SECRET-KEY-1...), found none: `age-keygen -o FILE` makes a file with one"
    )]
    Empty,
    /// The file is too long.
    #[error("expected at most {max} bytes")]
    TooLong {
        /// The maximum length in bytes.
        max: usize,
    },
    /// The file has too many identities.
    #[error("expected at most {max} identities")]
    TooMany {
        /// The maximum number.
        max: usize,
    },
    /// The file is in UTF-16, or has other line ends than LF and CRLF.
    #[error(transparent)]
    Text(#[from] TextFault),
    /// The file is sealed itself.
    #[error("the identity file is sealed itself: expected one that is not, readable by its owner only")]
    Sealed,
    /// A line is not an identity.
    #[error("line {line}: {fault}")]
    Line {
        /// The line, from 1.
        line: usize,
        fault: IdentityLineFault,
    },
}

/// The fault of a line of an identity file. The line is never shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityLineFault {
    /// The line is something else.
    #[error("expected an identity (AGE-SECRET-KEY-1...), or a comment that begins with #")]
    NotIdentity,
    /// The line is damaged.
    #[error("the identity is damaged: a letter was changed, added or lost")]
    Damaged,
    /// The line is a recipient.
    #[error("found a recipient (age1...), which opens nothing: expected the identity (AGE-SECRET-KEY-1...)")]
    Recipient,
    /// The line is the identity of a plugin.
    #[error("found an identity of a plugin, which is not supported: expected AGE-SECRET-KEY-1...")]
    Plugin,
    /// The line is a post-quantum identity.
    #[error(
        "found a post-quantum identity (AGE-SECRET-KEY-PQ-1...), which is not supported: expected AGE-SECRET-KEY-1..."
    )]
    PostQuantum,
    /// The line begins a key in PEM, such as one of SSH.
    #[error("found a key in PEM, such as one of SSH, which is not supported: expected AGE-SECRET-KEY-1...")]
    Pem,
}

/// The fault of a recipient. The text is not shown, because it may be an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecipientFault {
    /// The text is something else.
    #[error("expected a recipient: age1 and 58 letters and digits, as `age-keygen -y` prints it")]
    NotRecipient,
    /// The file is in UTF-16, or the line has another end than LF and CRLF.
    #[error("{}", .0.reason())]
    Text(TextFault),
    /// The text is damaged.
    #[error("the recipient is damaged: a letter was changed, added or lost")]
    Damaged,
    /// The text is an identity, which is a secret.
    #[error(
        "found an identity, which is secret (it is not shown): expected its recipient, as `age-keygen -y` prints it"
    )]
    Identity,
    /// The text is a recipient of another kind.
    #[error(
        "found a recipient of SSH, a plugin or post-quantum cryptography, which is not supported: expected age1 and 58 \
         letters and digits"
    )]
    Unsupported,
}

/// The reason why an identity file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityReadFault {
    /// The system refuses it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Other users may read it.
    #[error(transparent)]
    Exposed(#[from] ExposedSecret),
    /// The file is not an identity file.
    #[error(transparent)]
    Content(#[from] IdentityFault),
}
