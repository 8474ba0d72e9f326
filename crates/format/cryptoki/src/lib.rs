//! PKCS#11 without I/O: objects and the laws of their attributes, mechanisms, sessions, and operations in steps.
//! Internal to Oarlock: the interface changes without notice.
//!
//! A [`Cryptoki`] is the state between `C_Initialize` and `C_Finalize`. It has a method for each function of the
//! standard, with slices in place of pointers. The token itself is behind the trait [`TokenObjects`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use oarlock::Accelerator;
//! use oarlock_cryptoki::{
//!     AttributeType, Cryptoki, KeyTypeNumber, Mechanism, MechanismType, MemoryToken, ObjectClass, CallOutput,
//!     SlotId, SlotSettings, TemplateEntry, UserType, session_flags,
//! };
//!
//! let token = Arc::new(MemoryToken::initialized("a token", b"so pin", b"user pin"));
//! let slot = SlotSettings::new(SlotId(0), "an example", token);
//! let cryptoki = Cryptoki::new(Accelerator::new()?, vec![slot]);
//!
//! let flags = session_flags::SERIAL_SESSION | session_flags::RW_SESSION;
//! let session = cryptoki.open_session(SlotId(0), flags)?;
//! cryptoki.login(session, UserType::User, Some(b"user pin"))?;
//!
//! let len = 32_usize.to_ne_bytes();
//! let template = [TemplateEntry::new(AttributeType::VALUE_LEN, &len), TemplateEntry::new(AttributeType::SIGN, &[1])];
//! let generate = Mechanism::plain(MechanismType::GENERIC_SECRET_KEY_GEN);
//! let key = cryptoki.generate_key(session, &generate, &template)?;
//!
//! cryptoki.sign_init(session, &Mechanism::plain(MechanismType::SHA256_HMAC), key)?;
//! let mut mac = [0; 32];
//! let mut output = CallOutput::new(&mut mac);
//! cryptoki.sign(session, b"a message", &mut output)?;
//! assert_eq!(output.len(), 32);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Map of the crate
//!
//! | module | content |
//! |---|---|
//! | `constants` | the numbers of the standard, and [`ReturnCode`], the error of every function |
//! | `deep_stack` | threads for computations that take much stack |
//! | `attribute` | values, sets and templates of attributes, and which class has which attribute |
//! | `mechanism` | mechanisms with their parameters, and the table of what each can do |
//! | `token` | [`TokenObjects`], the place of token objects, and an implementation in memory |
//! | `object` | objects, their laws, their keys, and the index that finds them |
//! | `operation` | operations in steps: signatures, ciphers, digests, and key management |
//! | `slot` | the login and the objects of a slot |
//! | `session` | sessions, and the operations that are active in them |
//! | `functions` | [`Cryptoki`] and its methods, one for each function of the standard |
//!
//! # Locks
//!
//! No lock is held while anything is computed. A session has one small lock, and an operation leaves the session while
//! it is computed. Token objects are an immutable index that is replaced on a change.
#![forbid(unsafe_code)]

mod attribute;
mod constants;
mod deep_stack;
mod functions;
mod handle;
mod mechanism;
mod object;
mod operation;
mod output;
mod session;
mod slot;
mod token;

pub use attribute::{AttributeQuery, AttributeSet, AttributeValue, TemplateEntry};
pub use constants::{
    AttributeType, KeyTypeNumber, MechanismType, ObjectClass, ReturnCode, mechanism_flags, parameter_values,
    session_flags, token_flags,
};
pub use deep_stack::on_deep_stack;
pub use functions::{AsyncAnswer, Cryptoki, SlotDescription};
pub use handle::{ObjectHandle, SessionDescription, SessionHandle, TokenSessionState};
pub use mechanism::{
    IvGenerator, Mechanism, MechanismFacts, MechanismParameters, MessageParameters, ParameterForm,
};
pub use object::{private_values, public_values};
pub use operation::{EqualOutputs, ManyAnswers, ManyInputs, ManyIvs, ManySpans};
pub use output::CallOutput;
pub use token::{
    MemoryToken, ObjectContent, SlotId, SlotSettings, TokenDescription, TokenObject, TokenObjectId,
    TokenObjects, UserType,
};
