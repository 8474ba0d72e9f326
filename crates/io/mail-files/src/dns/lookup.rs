//! The sources of TXT records.

use std::future::{Future, ready};
use std::pin::Pin;

use super::{KeysFile, TxtAnswer, TxtResolver};

/// A future that yields an answer.
pub type LookupFuture<'a> = Pin<Box<dyn Future<Output = TxtAnswer> + Send + 'a>>;

/// A source of TXT records: name servers, or a file.
pub trait TxtLookup: Send + Sync + 'static {
    /// Asks for the TXT records of a name.
    fn lookup<'a>(&'a self, name: &'a str) -> LookupFuture<'a>;
}

impl TxtLookup for TxtResolver {
    fn lookup<'a>(&'a self, name: &'a str) -> LookupFuture<'a> {
        Box::pin(Self::lookup(self, name))
    }
}

impl TxtLookup for KeysFile {
    fn lookup<'a>(&'a self, name: &'a str) -> LookupFuture<'a> {
        Box::pin(ready(Self::lookup(self, name)))
    }
}
