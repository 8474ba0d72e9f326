//! The parts of DES, and runs of records.

use oarlock_core::*;

use super::KernelBench;
use super::records::whole;
use crate::LaneEngine;
use crate::des::measure as parts;
use crate::simd::Simd;

/// Times the parts of a group of blocks.
pub(crate) fn kernels<S: Simd>(bench: &KernelBench<'_>, simd: S) {
    let mut rows = [simd.splat(7); 64];
    bench.plain("des transpose", 1, || parts::transpose(simd, &mut rows));
    parts::cipher(simd, |cipher| bench.plain("des sixteen rounds", 1, cipher));
}

/// Times runs of records.
pub(crate) fn run(bench: &KernelBench<'_>, engine: &LaneEngine) {
    for alg in [BlockCipher::Des, BlockCipher::Tdes3] {
        for direction in Direction::ALL {
            let shape = Shape::Cipher { alg, mode: CipherMode::Cbc, direction };
            for count in [512, 4096, 65_536] {
                whole(bench, engine, shape, &format!("{shape} 40 B, {count} records"), &vec![40; count]);
            }
            let mixed: Vec<usize> = (0..65_536_usize).map(|at| 8 + 8 * (at * 7919 % 10)).collect();
            whole(bench, engine, shape, &format!("{shape} 8-80 B, 65536 records"), &mixed);
        }
    }
}
