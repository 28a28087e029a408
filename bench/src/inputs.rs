//! What is sorted: the same numbers that the CUDA peers draw.

use crate::cases::Keys;
use std::sync::Arc;
use std::thread;
use trommel::host::{Buffer, Context};

/// Data on the host, and a copy on the device from which inputs are restored.
pub(crate) struct Source {
    pub(crate) host: Arc<Vec<u32>>,
    pub(crate) device: Buffer,
}

/// Sources made so far. A uniform one serves every smaller size: its numbers depend on their place alone.
#[derive(Default)]
pub(crate) struct Sources {
    uniform: [Option<Arc<Source>>; 2],
}

/// Seeds of the peers: 1 for keys, 2 for values.
const KEYS: u64 = 1;
const VALUES: u64 = 2;

impl Sources {
    /// At least `n` keys, `most` where more will be asked for later.
    pub(crate) fn keys(&mut self, context: &Context, keys: Keys, n: u32, most: u32) -> trommel::Result<Arc<Source>> {
        match keys {
            Keys::Random => self.uniform(context, KEYS, n, most),
            other => Ok(Arc::new(Source::new(context, generate(n, |i| key(other, i, n)))?)),
        }
    }

    /// As [`Sources::keys`], for values.
    pub(crate) fn values(&mut self, context: &Context, n: u32, most: u32) -> trommel::Result<Arc<Source>> {
        self.uniform(context, VALUES, n, most)
    }

    fn uniform(&mut self, context: &Context, seed: u64, n: u32, most: u32) -> trommel::Result<Arc<Source>> {
        let slot = &mut self.uniform[usize::from(seed == VALUES)];
        if let Some(source) = slot
            && source.host.len() >= n as usize
        {
            return Ok(source.clone());
        }
        let source = Arc::new(Source::new(context, generate(most.max(n), |i| draw(i, seed)))?);
        *slot = Some(source.clone());
        Ok(source)
    }
}

impl Source {
    fn new(context: &Context, host: Vec<u32>) -> trommel::Result<Self> {
        let device = context.upload(&host)?;
        Ok(Self { host: Arc::new(host), device })
    }
}

fn key(keys: Keys, i: u32, n: u32) -> u32 {
    // A rising line through all of the range.
    let rising = |i: u32| low_word((u64::from(i) << 32) / u64::from(n));
    match keys {
        Keys::Random => draw(i, KEYS),
        Keys::Constant => 0x5bd1_e995,
        Keys::Sorted => rising(i),
        Keys::Reversed => rising(n - 1 - i),
        Keys::LowEntropy => draw(i, KEYS) & draw(i, 3) & draw(i, 4),
        Keys::Low16Bits => draw(i, KEYS) & 0xffff,
    }
}

fn draw(i: u32, seed: u64) -> u32 {
    low_word(splitmix64(u64::from(i) ^ (seed << 40)))
}

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
fn splitmix64(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[expect(clippy::cast_possible_truncation, reason = "the low word is what is wanted")]
fn low_word(wide: u64) -> u32 {
    wide as u32
}

/// `item(i)` for each i below `n`, on all cores.
fn generate(n: u32, item: impl Fn(u32) -> u32 + Sync) -> Vec<u32> {
    let mut items = vec![0; n as usize];
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let chunk = items.len().div_ceil(threads).max(1 << 16);
    thread::scope(|scope| {
        for (items, first) in items.chunks_mut(chunk).zip((0u32..).step_by(chunk)) {
            let item = &item;
            scope.spawn(move || {
                for (slot, i) in items.iter_mut().zip(first..) {
                    *slot = item(i);
                }
            });
        }
    });
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_gives_the_published_sequence() {
        // The generator's state rises by the golden gamma; these are its first outputs from state 0.
        let gamma = 0x9e37_79b9_7f4a_7c15u64;
        let outputs = [0, gamma, gamma.wrapping_mul(2)].map(splitmix64);
        assert_eq!(outputs, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn chunks_join_without_gaps() {
        let n = (1 << 18) + 3;
        assert!(generate(n, |i| i).into_iter().eq(0..n));
    }

    #[test]
    fn distributions_are_what_they_say() {
        let n = 1000;
        let keys = |kind| (0..n).map(|i| key(kind, i, n)).collect::<Vec<_>>();
        assert!(keys(Keys::Sorted).is_sorted());
        assert!(keys(Keys::Reversed).iter().rev().is_sorted());
        assert!(keys(Keys::Low16Bits).iter().all(|key| *key < 1 << 16));
        let ones: u32 = keys(Keys::LowEntropy).iter().map(|key| key.count_ones()).sum();
        assert!((3500..4500).contains(&ones), "an eighth of the bits is set, not {ones} of 32000");
    }
}
