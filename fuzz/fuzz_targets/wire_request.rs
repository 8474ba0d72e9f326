//! Requests as a server reads them: the message, its columns, and all values.
#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use oarlock::KeySource;
use oarlock_fuzz::check_error;
use oarlock_keys::{import, raw};
use oarlock_wire::proto::{Request, open_key, request};
use oarlock_wire::{Message, MessageLimits, frame, jobs, records, task};

fuzz_target!(|bytes: &[u8]| {
    let limits =
        MessageLimits { max_message_bytes: 1 << 16, max_operations: 4096, max_output_bytes: 1 << 16 };
    let mut received = BytesMut::from(bytes);
    while let Ok(Some(message)) = frame::take(&mut received, limits.max_message_bytes) {
        judge(&message, &limits);
    }
    judge(bytes, &limits);
});

fn judge(message: &[u8], limits: &MessageLimits) {
    match Request::decode(message).ok().and_then(|request| request.body) {
        Some(request::Body::Jobs(message)) => {
            if let Ok(columns) = jobs::JobColumns::read(&message, limits) {
                let inputs: usize = columns.iter().map(|row| row.input.len()).sum();
                assert_eq!((columns.iter().count(), inputs), (columns.len(), message.inputs.len()));
            }
        }
        Some(request::Body::Records(message)) => {
            if let Ok(batch) = records::read(&message, limits, &[], KeySource::Table) {
                // What was understood can be said again, unless a stride leads beyond what a number can say.
                if let Ok(again) = records::write(&batch, |index| index) {
                    let again =
                        records::read(&again, limits, &[], KeySource::Table).expect("what was written");
                    assert_eq!(again.records.len, batch.records.len);
                    for at in [0, batch.records.len / 2, batch.records.len.saturating_sub(1)] {
                        assert_eq!(again.task.get(at), batch.task.get(at));
                        assert_eq!(again.records.input.get(at), batch.records.input.get(at));
                        assert_eq!(again.records.output.get(at), batch.records.output.get(at));
                    }
                }
            }
        }
        Some(request::Body::OpenKey(message)) => match message.source {
            Some(open_key::Source::Asymmetric(bytes)) => drop(check_error(import::any(&bytes, None))),
            Some(open_key::Source::Symmetric(symmetric)) => {
                check_error(task::key_type(&symmetric.r#type));
                check_error(raw::secret(symmetric.secret.to_vec()));
            }
            _ => {}
        },
        _ => {}
    }
}
