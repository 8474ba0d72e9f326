//! Slots and tokens.

use std::ffi::c_void;

use cryptoki_sys::{
    CK_BBOOL, CK_FLAGS, CK_MECHANISM_INFO, CK_MECHANISM_TYPE, CK_SESSION_HANDLE, CK_SLOT_ID, CK_SLOT_INFO,
    CK_TOKEN_INFO, CK_ULONG, CK_UTF8CHAR, CK_VERSION, CKF_DONT_BLOCK,
};
use oarlock_cryptoki::{MechanismType, ReturnCode, SlotId};

use super::functions;
use super::memory::{UNAVAILABLE, number, padded};
use super::session::session_handle;
use crate::library;

/// The version of slots and tokens.
const HARDWARE_VERSION: CK_VERSION = CK_VERSION { major: 0, minor: 1 };

/// The length of the label of a token.
const LABEL_LEN: CK_ULONG = 32;

functions! { memory:
    fn C_GetSlotList(token_present: CK_BBOOL, list: *mut CK_SLOT_ID, count: *mut CK_ULONG) {
        library::with(|library| {
            let slots = library.cryptoki.slot_list(token_present != 0);
            let slots: Vec<_> = slots.into_iter().map(|slot| slot.0 as CK_SLOT_ID).collect();
            memory.write_list(&slots, list, count)
        })
    }

    fn C_GetSlotInfo(slot: CK_SLOT_ID, info: *mut CK_SLOT_INFO) {
        library::with(|library| {
            let about = library.cryptoki.slot_description(SlotId(number(slot)))?;
            memory.write(info, CK_SLOT_INFO {
                slotDescription: padded(&about.description),
                manufacturerID: padded("Oarlock"),
                flags: about.flags as CK_FLAGS,
                hardwareVersion: HARDWARE_VERSION,
                firmwareVersion: HARDWARE_VERSION,
            })
        })
    }

    fn C_GetTokenInfo(slot: CK_SLOT_ID, info: *mut CK_TOKEN_INFO) {
        library::with(|library| {
            let slot = SlotId(number(slot));
            let about = library.cryptoki.token_description(slot)?;
            let (sessions, read_write) = library.cryptoki.session_counts(slot)?;
            memory.write(info, CK_TOKEN_INFO {
                label: padded(&about.label),
                manufacturerID: padded(&about.manufacturer),
                model: padded(&about.model),
                serialNumber: padded(&about.serial_number),
                flags: about.flags as CK_FLAGS,
                // CK_EFFECTIVELY_INFINITE.
                ulMaxSessionCount: 0,
                ulSessionCount: sessions as CK_ULONG,
                ulMaxRwSessionCount: 0,
                ulRwSessionCount: read_write as CK_ULONG,
                ulMaxPinLen: about.max_pin_len as CK_ULONG,
                ulMinPinLen: about.min_pin_len as CK_ULONG,
                ulTotalPublicMemory: UNAVAILABLE,
                ulFreePublicMemory: UNAVAILABLE,
                ulTotalPrivateMemory: UNAVAILABLE,
                ulFreePrivateMemory: UNAVAILABLE,
                hardwareVersion: HARDWARE_VERSION,
                firmwareVersion: HARDWARE_VERSION,
                // The token has no clock, so the standard wants blanks here.
                utcTime: padded(""),
            })
        })
    }

    fn C_GetMechanismList(slot: CK_SLOT_ID, list: *mut CK_MECHANISM_TYPE, count: *mut CK_ULONG) {
        library::with(|library| {
            let kinds = library.cryptoki.mechanism_list(SlotId(number(slot)))?;
            let kinds: Vec<_> = kinds.into_iter().map(|kind| kind.0 as CK_MECHANISM_TYPE).collect();
            memory.write_list(&kinds, list, count)
        })
    }

    fn C_GetMechanismInfo(slot: CK_SLOT_ID, kind: CK_MECHANISM_TYPE, info: *mut CK_MECHANISM_INFO) {
        library::with(|library| {
            let kind = MechanismType(number(kind));
            let facts = library.cryptoki.mechanism_facts(SlotId(number(slot)), kind)?;
            memory.write(info, CK_MECHANISM_INFO {
                ulMinKeySize: facts.min_key_size as CK_ULONG,
                ulMaxKeySize: facts.max_key_size as CK_ULONG,
                flags: facts.flags as CK_FLAGS,
            })
        })
    }

    fn C_InitToken(slot: CK_SLOT_ID, pin: *mut CK_UTF8CHAR, pin_len: CK_ULONG, label: *mut CK_UTF8CHAR) {
        library::with(|library| {
            let pin = memory.bytes_or_null(pin, pin_len)?;
            let label = memory.bytes_or_null(label, LABEL_LEN)?.ok_or(ReturnCode::ArgumentsBad)?;
            let label = label.try_into().map_err(|_| ReturnCode::ArgumentsBad)?;
            library.cryptoki.init_token(SlotId(number(slot)), pin, label)
        })
    }

    fn C_InitPIN(session: CK_SESSION_HANDLE, pin: *mut CK_UTF8CHAR, pin_len: CK_ULONG) {
        library::with(|library| {
            let pin = memory.bytes_or_null(pin, pin_len)?;
            library.cryptoki.init_pin(session_handle(session), pin)
        })
    }

    fn C_SetPIN(
        session: CK_SESSION_HANDLE,
        old_pin: *mut CK_UTF8CHAR,
        old_len: CK_ULONG,
        new_pin: *mut CK_UTF8CHAR,
        new_len: CK_ULONG,
    ) {
        library::with(|library| {
            let old = memory.bytes_or_null(old_pin, old_len)?;
            let new = memory.bytes_or_null(new_pin, new_len)?;
            library.cryptoki.set_pin(session_handle(session), old, new)
        })
    }

    fn C_WaitForSlotEvent(flags: CK_FLAGS, slot: *mut CK_SLOT_ID, reserved: *mut c_void) {
        library::with_waiting(|library| {
            if !reserved.is_null() || slot.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            let changed = library.events.next(flags & CKF_DONT_BLOCK == 0)?;
            memory.write(slot, changed.0 as CK_SLOT_ID)
        })
    }
}
