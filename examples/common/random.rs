//! Random numbers for generated scenes.

/// A Xorshift generator: the scene is the same on every machine.
pub(crate) struct Random(pub(crate) u32);

impl Random {
    /// Returns a number of `lo` to `hi`.
    pub(crate) fn between(&mut self, lo: f32, hi: f32) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        lo + (hi - lo) * (self.0 >> 8) as f32 / (1 << 24) as f32
    }
}
