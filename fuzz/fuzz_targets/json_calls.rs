//! Single calls as JSON: requests as the server reads them, and answers as it writes them.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oarlock_server::json::JsonCalls;
use oarlock_wire::proto::DESCRIPTORS;

static CALLS: LazyLock<JsonCalls> =
    LazyLock::new(|| JsonCalls::new(&[DESCRIPTORS]).expect("the descriptions of the protocol"));

fuzz_target!(|bytes: &[u8]| {
    for path in CALLS.paths() {
        let call = CALLS.find(path).expect("a call at each path");
        if let Ok(message) = call.read_request(bytes) {
            // A negative number of an enumeration grows most: from three bytes in a list to ten.
            assert!(message.len() <= 4 * bytes.len(), "{path}");
        }
        if let Ok(text) = call.write_answer(bytes) {
            serde_json::from_slice::<serde_json::Value>(&text).expect("an answer is JSON");
        }
    }
});
