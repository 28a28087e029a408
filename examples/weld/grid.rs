//! The grid: its cells are the keys.

/// Cells of equal size, as many on the longest side of the mesh as the user wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) lo: [f32; 3],
    /// Cells of a unit of length.
    pub(crate) scale: f32,
}

impl Grid {
    pub(crate) fn new(corners: &[[f32; 3]], cells: u32) -> Self {
        let bound = |axis: usize, pick: fn(f32, f32) -> f32| corners.iter().map(|corner| corner[axis]).reduce(pick);
        let [lo, hi] = [f32::min, f32::max].map(|pick| [0, 1, 2].map(|axis| bound(axis, pick).unwrap_or_default()));
        let longest = [0, 1, 2].map(|axis| hi[axis] - lo[axis]).into_iter().fold(0.0, f32::max);
        Self { lo, scale: if longest > 0.0 { cells as f32 / longest } else { 1.0 } }
    }

    /// The cell of a position, with the roundings of the kernels.
    pub(crate) fn cell(&self, position: [f32; 3]) -> [u32; 3] {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the grid")]
        [0, 1, 2].map(|axis| ((position[axis] - self.lo[axis]) * self.scale + 0.5).floor() as u32)
    }
}
