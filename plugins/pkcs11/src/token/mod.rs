//! Tokens that are never written. Token files, which programs read and write, are in `oarlock-key-files`.
//!
//! | module | content |
//! |---|---|
//! | `keys` | a directory of key files |
//! | `server`, `server_holder`, `server_listing` | a cryptoserver: its objects, its operations, the list of its keys |
//! | `server_secret` | the objects of a cryptoserver's symmetric keys |
//! | `key_objects` | the objects that show a key and its certificates |
//! | `read_only` | what tokens have in common that are never written |

mod key_objects;
mod keys;
mod read_only;
mod server;
mod server_holder;
mod server_listing;
mod server_secret;

pub(crate) use self::keys::KeysToken;
pub(crate) use self::server::ServerToken;
pub(crate) use self::server_holder::ServerHolder;

/// A token that may come and go.
pub(crate) trait TokenPresence: Send + Sync {
    /// Looks whether the token is there, unless it was looked a moment ago. Returns the number of times that it came
    /// or went since the first look.
    fn changes(&self) -> u64;
}
