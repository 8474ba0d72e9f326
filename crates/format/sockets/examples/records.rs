//! Seals a TLS record, opens it, and says which path a transfer should take.
//!
//! Run it with `cargo run --release -p oarlock-sockets --example records`.

use std::error::Error;

use oarlock::Accelerator;
use oarlock_sockets::{
    Content, ExposedKeys, Keys, Opened, Opener, PathCost, PathCosts, Sealer, Suite, TransferDirection,
    TransferPlan, choose,
};

fn main() -> Result<(), Box<dyn Error>> {
    let accelerator = Accelerator::new()?;
    let suite = Suite::TLS12_AES_128_CBC_SHA256;

    // A handshake gives these keys.
    let material = ExposedKeys { key: &[1; 16], mac_key: &[2; 32], iv: &[], sequence: 0 };
    let mut sealer = Sealer::new(&accelerator, Keys::new(suite, &material)?)?;
    let mut opener = Opener::new(&accelerator, Keys::new(suite, &material)?)?;

    let mut wire = Vec::new();
    sealer.seal(Content::ApplicationData, &[b"HTTP/1.1 200 OK\r\n\r\n", b"hello"], &mut wire)?;
    if let Opened::Record(record) = opener.next(&mut wire)? {
        println!(
            "a record of {suite} takes {} bytes and holds {} bytes of {}",
            record.used,
            record.data.len(),
            record.content
        );
    }

    // `oarlock sockets probe` measures such costs.
    let kernel = PathCost { call_ns: 2_000.0, byte_ns: 0.4 };
    let costs = PathCosts {
        user: PathCost { call_ns: 2_000.0, byte_ns: 0.6 },
        kernel: Err("not measured".to_owned()),
        kernel_file: Ok(kernel),
        attach_ns: 10_000.0,
    };
    for bytes in [1_000, 100_000_000] {
        let plan = TransferPlan {
            suite: Suite::TLS13_AES_128_GCM,
            direction: TransferDirection::Send,
            bytes,
            bytes_per_call: 16_384,
            is_file: true,
            partial_bytes: 0,
        };
        println!("a file of {bytes} bytes goes through {}", choose(&costs, &plan));
    }
    Ok(())
}
