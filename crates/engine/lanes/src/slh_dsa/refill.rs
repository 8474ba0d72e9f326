//! Chains of different lengths side by side: a lane whose chain has ended takes the next one.

use oarlock_engine_kit::slh_dsa::Chain;

/// The most chains side by side.
pub(super) const MAX_CHAINS: usize = 32;

/// Chains that are computed side by side, one in each lane.
pub(super) trait ChainLanes {
    /// The number of lanes, at most [`MAX_CHAINS`].
    const LANES: usize;

    /// Begins a chain in a lane.
    fn load(&mut self, lane: usize, chain: &Chain, value: &[u8]);

    /// Moves every lane along its chain.
    fn run(&mut self, steps: u32);

    /// Reads the value of a lane.
    fn store(&self, lane: usize, value: &mut [u8]);
}

/// Moves each value of `n` bytes along its chain. The numbers of steps are public.
pub(super) fn run_chains<L: ChainLanes>(lanes: &mut L, n: usize, chains: &[Chain], values: &mut [u8]) {
    let mut waiting = chains.iter().enumerate().filter(|(_, chain)| chain.steps > 0);
    let mut running: [Option<(usize, u8)>; MAX_CHAINS] = [None; MAX_CHAINS];
    loop {
        let mut fewest = u8::MAX;
        for (lane, running) in running.iter_mut().enumerate().take(L::LANES) {
            if let Some((at, 0)) = *running {
                lanes.store(lane, &mut values[at * n..(at + 1) * n]);
                *running = None;
            }
            if running.is_none()
                && let Some((at, chain)) = waiting.next()
            {
                lanes.load(lane, chain, &values[at * n..(at + 1) * n]);
                *running = Some((at, chain.steps));
            }
            if let Some((_, left)) = running {
                fewest = fewest.min(*left);
            }
        }
        if fewest == u8::MAX {
            return;
        }
        lanes.run(u32::from(fewest));
        for (_, left) in running.iter_mut().flatten() {
            *left -= fewest;
        }
    }
}
