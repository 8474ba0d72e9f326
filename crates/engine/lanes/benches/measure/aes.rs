//! Runs of AES records.

use oarlock_core::*;

use super::KernelBench;
use super::records::whole;
use crate::LaneEngine;

pub(crate) fn run(bench: &KernelBench<'_>, engine: &LaneEngine) {
    let cbc = |direction| Shape::Cipher { alg: BlockCipher::Aes128, mode: CipherMode::Cbc, direction };
    let cmac = Shape::Mac { alg: MacAlg::Aes128Cmac };
    let sealing = |alg| Shape::Aead { alg, direction: Direction::Encrypt };
    let gcm = sealing(AeadAlg::Aes128Gcm);
    let (siv, gcm_siv) = (sealing(AeadAlg::Aes128Siv), sealing(AeadAlg::Aes128GcmSiv));
    let cbc_both = Direction::ALL.map(|direction| (cbc(direction), 48));
    for (shape, len) in cbc_both.into_iter().chain([(gcm, 40), (siv, 16), (gcm_siv, 16), (cmac, 48)]) {
        for (len, count) in [(len, 512), (len, 4096), (len, 65_536), (1024, 4096), (16_384, 256)] {
            whole(bench, engine, shape, &format!("{shape} {len} B, {count} records"), &vec![len; count]);
        }
        let mixed: Vec<usize> = (0..65_536_usize).map(|at| 16 * (1 + at * 7919 % 5)).collect();
        whole(bench, engine, shape, &format!("{shape} 16-80 B, 65536 records"), &mixed);
    }
}
