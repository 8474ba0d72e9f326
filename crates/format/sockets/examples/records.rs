//! Seals records of many TLS connections in one batch, opens them, and says which path a transfer should take.
//!
//! Run it with `cargo run --release -p oarlock-sockets --example records`.

use std::error::Error;

use oarlock::Accelerator;
use oarlock_sockets::{
    Content, ExposedKeys, Flight, Keys, Opened, Opener, PathCost, PathCosts, Sealer, Suite,
    TransferDirection, TransferPlan, choose,
};

const CONNECTIONS: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let accelerator = Accelerator::new()?;
    let suite = Suite::TLS12_AES_128_CBC_SHA256;

    // A handshake gives these keys. Here each connection has a number instead.
    let keys = |connection: usize| {
        let byte = u8::try_from(connection).unwrap_or(u8::MAX);
        let (key, mac_key) = ([byte; 16], [byte; 32]);
        Keys::new(suite, &ExposedKeys { key: &key, mac_key: &mac_key, iv: &[], sequence: 0 })
    };
    let mut sealers = Vec::new();
    for connection in 0..CONNECTIONS {
        sealers.push(Sealer::new(&accelerator, keys(connection)?)?);
    }

    let mut flight = Flight::default();
    for sealer in &mut sealers {
        flight.add(sealer, Content::ApplicationData, &[b"HTTP/1.1 200 OK\r\n\r\n", b"hello"])?;
    }
    let sealed = flight.seal_all(&accelerator);
    println!("{} records of {suite} sealed in one call", sealed.len());

    for connection in 0..CONNECTIONS {
        let mut wire = Vec::new();
        sealed.append(connection, &mut wire)?;
        let mut opener = Opener::new(&accelerator, keys(connection)?)?;
        if let Opened::Record(record) = opener.next(&mut wire)?
            && connection == 0
        {
            println!(
                "record 0 takes {} bytes and holds {} bytes of {}",
                record.used,
                record.data.len(),
                record.content
            );
        }
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
