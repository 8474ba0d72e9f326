//! Answers as a client reads them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_wire::proto::{Response, response};
use oarlock_wire::{Message, jobs};

fuzz_target!(|bytes: &[u8]| {
    let [count, bytes @ ..] = bytes else { return };
    let count = usize::from(*count);
    if let Some(response::Body::Results(results)) =
        Response::decode(bytes).ok().and_then(|response| response.body)
        && let Ok(columns) = jobs::ResultColumns::read(&results, count)
    {
        assert_eq!(columns.iter("server").count(), count);
    }
});
