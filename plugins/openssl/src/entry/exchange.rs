//! X25519. provider-keyexch(7).

use std::ffi::c_int;

use oarlock::{Job, Key};

use super::abi::{Dispatch, Table, keyexch};
use super::params::Params;
use super::{answer, dispatch, entry, put};
use crate::error::Failure;
use crate::key::{Family, ProviderKey};
use crate::work::Provider;

pub(super) static X25519: Table<Dispatch> = dispatch! {
    keyexch::NEWCTX => newctx,
    keyexch::FREECTX => freectx,
    keyexch::DUPCTX => dupctx,
    keyexch::INIT => init,
    keyexch::SET_PEER => set_peer,
    keyexch::DERIVE => derive,
};

/// Bytes of a shared secret. RFC 7748 6.1.
const SECRET_LEN: usize = 32;

#[derive(Clone)]
struct Exchange {
    provider: Provider,
    key: Option<Key>,
    peer: Option<[u8; 32]>,
}

entry! {
    fn newctx(provider: Option<&Provider>) -> Option<Box<Exchange>>, or None; {
        provider.map(|provider| Box::new(Exchange { provider: provider.clone(), key: None, peer: None }))
    }
}

entry! {
    fn freectx(context: Option<Box<Exchange>>) -> (), or (); { drop(context); }
}

entry! {
    fn dupctx(context: Option<&Exchange>) -> Option<Box<Exchange>>, or None; {
        context.map(|context| Box::new(context.clone()))
    }
}

entry! {
    fn init(context: Option<&mut Exchange>, key: Option<&ProviderKey>, _params: Params<'_>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        context.key = of_x25519(key);
        let result = context.key.as_ref().map(|_| ()).ok_or(Failure::NoKey);
        answer(&context.provider, result)
    }
}

entry! {
    fn set_peer(context: Option<&mut Exchange>, key: Option<&ProviderKey>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        context.peer = of_x25519(key).and_then(|key| key.x25519_public().copied());
        let result = context.peer.map(|_| ()).ok_or(Failure::NoKey);
        answer(&context.provider, result)
    }
}

entry! {
    fn derive(context: Option<&mut Exchange>, place: *mut u8, len: Option<&mut usize>, room: usize) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        let make = || match (&context.key, &context.peer) {
            (Some(key), Some(peer)) => context.provider.run(&Job::agree(key, peer)),
            _ => Err(Failure::NoKey),
        };
        // SAFETY: a place as large as is stated.
        let result = unsafe { put(place, len, room, SECRET_LEN, make) };
        answer(&context.provider, result)
    }
}

fn of_x25519(key: Option<&ProviderKey>) -> Option<Key> {
    key.filter(|key| key.family == Family::X25519)?.get()
}
