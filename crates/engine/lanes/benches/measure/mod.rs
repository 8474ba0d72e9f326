//! Timings of single kernels, with the number of their multiplications: `cargo bench -p oarlock-lanes --features
//! measure -- NAME`.

mod aes;
#[cfg(target_arch = "x86_64")]
mod counting;
#[cfg(target_arch = "x86_64")]
mod curve25519;
mod des;
#[cfg(target_arch = "x86_64")]
mod hash;
#[cfg(target_arch = "x86_64")]
mod nist;
mod records;
#[cfg(target_arch = "x86_64")]
mod rsa;

use std::hint::black_box;
use std::time::Instant;

#[cfg(target_arch = "aarch64")]
use crate::simd::NeonSimd;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2Simd, BlindSimd, Cpu, IfmaSimd, ShaNiSimd};
use crate::{LaneEngine, Leaf};
#[cfg(target_arch = "x86_64")]
use counting::CountingSimd;

/// Times every kernel whose name contains `filter` and prints a line for each.
pub fn run(filter: &str) {
    let bench = KernelBench {
        filter,
        #[cfg(target_arch = "x86_64")]
        multiply_adds_per_ns: IfmaSimd::detect().map_or(f64::NAN, multiply_add_rate),
    };
    // The portable leaf serves tests; its speed means nothing.
    let leaves = Leaf::ALL.iter().filter(|leaf| **leaf != Leaf::Portable);
    for (leaf, engine) in leaves.filter_map(|leaf| Some((leaf, LaneEngine::of_leaf(*leaf)?))) {
        println!("leaf {}", leaf.name());
        aes::run(&bench, &engine);
        des::run(&bench, &engine);
        hash::run(&bench, &engine);
    }
    kernels(&bench);
}

/// Times the kernels of single leaves.
#[cfg(target_arch = "aarch64")]
fn kernels(bench: &KernelBench<'_>) {
    if let Some(simd) = NeonSimd::detect() {
        println!("kernels of leaf neon");
        des::kernels(bench, simd);
    }
}

/// Times the kernels of single leaves.
#[cfg(target_arch = "x86_64")]
fn kernels(bench: &KernelBench<'_>) {
    if let Some(simd) = Avx2Simd::detect() {
        println!("kernels of leaf avx2");
        des::kernels(bench, simd);
        hash::lanes(bench, simd);
    }
    if let Some(simd) = ShaNiSimd::detect() {
        println!("kernels of leaf sha-ni");
        hash::streams(bench, simd);
    }
    let Some(simd) = IfmaSimd::detect() else {
        eprintln!("SKIPPED: this CPU has no AVX-512 IFMA, so its kernels are not measured");
        return;
    };
    println!("kernels of leaf avx512, at {:.2} vpmadd52 per ns", bench.multiply_adds_per_ns);
    curve25519::run(bench, simd);
    des::kernels(bench, simd);
    hash::lanes(bench, simd);
    hash::parts(bench, simd);
    nist::run(bench, simd);
    rsa::run(bench, simd);
}

/// A bench that times kernels and counts their multiplications.
pub(crate) struct KernelBench<'a> {
    filter: &'a str,
    #[cfg(target_arch = "x86_64")]
    multiply_adds_per_ns: f64,
}

impl KernelBench<'_> {
    /// Returns true if a kernel of this name is selected.
    pub(crate) fn wants(&self, name: &str) -> bool {
        name.contains(self.filter)
    }

    /// Times `kernel`, which runs `operations` of the named operation and has no multiplications.
    pub(crate) fn plain(&self, name: &str, operations: usize, mut kernel: impl FnMut()) {
        if self.wants(name) {
            println!("{name:40} {:10.2} ns", best_ns(&mut kernel) / operations as f64);
        }
    }

    /// Times `kernel`, which runs `operations` of the named operation. Prints its `vpmadd52` count (of `counted`,
    /// the same kernel on [`CountingSimd`] vectors), its lower bound at the rate of this core, and the ratio of the
    /// two.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn kernel(
        &self,
        name: &str,
        operations: usize,
        mut kernel: impl FnMut(),
        counted: impl FnOnce(),
    ) {
        if !self.wants(name) {
            return;
        }
        let each = operations as f64;
        let ns = best_ns(&mut kernel) / each;
        let count = CountingSimd::count(counted) as f64 / each;
        let minimum = count / self.multiply_adds_per_ns;
        println!(
            "{name:40} {ns:10.1} ns  {count:9.1} vpmadd52  minimum {minimum:10.1} ns  {:3.0} %",
            100.0 * minimum / ns
        );
    }
}

/// Parses hexadecimal digits.
#[cfg(target_arch = "x86_64")]
fn hex(text: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap_or_default();
    (0..text.len() / 2).map(byte).collect()
}

/// Returns the best time of many short rounds: the time without interruptions.
fn best_ns(body: &mut impl FnMut()) -> f64 {
    body();
    let once = Instant::now();
    body();
    let rounds = (200_000.0 / once.elapsed().as_nanos().max(1) as f64).clamp(1.0, 100_000.0) as usize;
    let mut best = f64::INFINITY;
    for _ in 0..400 {
        let start = Instant::now();
        (0..rounds).for_each(|_| body());
        best = best.min(start.elapsed().as_nanos() as f64 / rounds as f64);
    }
    best
}

/// Measures the multiply-adds per nanosecond of this core, in sixteen independent chains of registers.
#[cfg(target_arch = "x86_64")]
fn multiply_add_rate(simd: IfmaSimd) -> f64 {
    use crate::simd::BlindMulVector;
    const STEPS: usize = 64;
    let mut chains = [simd.splat(3); 16];
    let ns = best_ns(&mut || {
        simd.call(
            #[inline(always)]
            || {
                let (a, b) = (simd.splat(black_box(5)), simd.splat(black_box(7)));
                let mut local = chains;
                for _ in 0..STEPS {
                    local = local.map(
                        #[inline(always)]
                        |chain| chain.madd_lo(a, b),
                    );
                }
                chains = local;
            },
        );
    });
    black_box(&chains);
    (STEPS * chains.len()) as f64 / ns
}
