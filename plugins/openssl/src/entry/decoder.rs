//! Files that name a key in a cryptoserver, for programs that only read PEM files. provider-decoder(7).

use std::ffi::{c_int, c_void};

use super::abi::{Dispatch, Table, decoder};
use super::core::{Bio, Core};
use super::keymgmt::{Ec, Ed25519, OfFamily, Rsa};
use super::params::Callback;
use super::{answer, dispatch, entry, object};
use crate::key::Family;
use crate::reference;
use crate::work::Provider;

/// From PEM to the DER in it, for the decoders behind.
pub(super) static DER: Table<Dispatch> = dispatch! {
    decoder::NEWCTX => new_pem_ctx,
    decoder::FREECTX => free_pem_ctx,
    decoder::DECODE => decode_pem,
};

pub(super) static RSA: Table<Dispatch> = dispatch! {
    decoder::NEWCTX => newctx::<Rsa>,
    decoder::FREECTX => freectx,
    decoder::DOES_SELECTION => does_selection,
    decoder::DECODE => decode,
};

pub(super) static EC: Table<Dispatch> = dispatch! {
    decoder::NEWCTX => newctx::<Ec>,
    decoder::FREECTX => freectx,
    decoder::DOES_SELECTION => does_selection,
    decoder::DECODE => decode,
};

pub(super) static ED25519: Table<Dispatch> = dispatch! {
    decoder::NEWCTX => newctx::<Ed25519>,
    decoder::FREECTX => freectx,
    decoder::DOES_SELECTION => does_selection,
    decoder::DECODE => decode,
};

/// The most lines of a block, of whatever kind.
const MAX_LINES: usize = 1024;

struct Decoder {
    provider: Provider,
    family: Family,
}

entry! {
    fn newctx<F: OfFamily>(provider: Option<&Provider>) -> Option<Box<Decoder>>, or None; {
        provider.map(|provider| Box::new(Decoder { provider: provider.clone(), family: F::FAMILY }))
    }
}

entry! {
    fn freectx(decoder: Option<Box<Decoder>>) -> (), or (); { drop(decoder); }
}

entry! {
    /// Private keys, with their public half. 0 asks for anything.
    fn does_selection(_provider: *const c_void, selection: c_int) -> c_int, or 0; {
        (selection == 0 || crate::key::Selection(selection).keypair()).into()
    }
}

entry! {
    fn new_pem_ctx(provider: Option<&Provider>) -> Option<Box<Provider>>, or None; {
        provider.map(|provider| Box::new(provider.clone()))
    }
}

entry! {
    fn free_pem_ctx(provider: Option<Box<Provider>>) -> (), or (); { drop(provider); }
}

entry! {
    /// Reads one PEM block. 1 where nothing was there for this decoder: others are asked then.
    fn decode_pem(
        provider: Option<&Provider>,
        stream: Bio,
        _selection: c_int,
        callback: Option<Callback>,
        argument: *mut c_void,
        _passphrase: *const c_void,
        _passphrase_argument: *mut c_void,
    ) -> c_int, or 0;
    {
        let Some(provider) = provider else { return 0 };
        let Some(block) = pem_block(provider.core(), stream) else { return 1 };
        match reference::der_in(&block) {
            Ok(der) => object::give_der(&der, callback, argument).into(),
            Err(failure) => answer(provider, Err(failure)),
        }
    }
}

entry! {
    /// The key that a reference in DER names. 1 where it is none, or one of another kind of key.
    fn decode(
        decoder: Option<&Decoder>,
        stream: Bio,
        _selection: c_int,
        callback: Option<Callback>,
        argument: *mut c_void,
        _passphrase: *const c_void,
        _passphrase_argument: *mut c_void,
    ) -> c_int, or 0;
    {
        let Some(decoder) = decoder else { return 0 };
        let Some(der) = decoder.provider.core().rest(stream, reference::MAX_LEN) else { return 1 };
        match reference::key_in(&decoder.provider, &der, decoder.family) {
            Ok(Some(key)) => object::give(&key, callback, argument).into(),
            Ok(None) => 1,
            Err(failure) => answer(&decoder.provider, Err(failure)),
        }
    }
}

/// The next block, from its BEGIN line to its END line, where it is a reference to a key. The stream stands behind it, so that
/// whoever looks for another kind of block goes on from there.
fn pem_block(core: &Core, stream: Bio) -> Option<Vec<u8>> {
    let is_begin = |line: &[u8]| line.starts_with(b"-----BEGIN ");
    let begin = std::iter::from_fn(|| core.line(stream)).find(|line| is_begin(line))?;
    let is_reference = begin.starts_with(reference::BEGIN);
    let mut block = begin;
    for _ in 0..MAX_LINES {
        let line = core.line(stream)?;
        let is_end = line.starts_with(b"-----END ");
        block.extend(line);
        if is_end {
            return is_reference.then_some(block);
        }
    }
    None
}
