//! The generated scene: boxes of random position and size in the unit cube.

use crate::bvh::Corners;
use crate::random::Random;

/// Generates the boxes of the first frame. Their centers are in the cube. Their sides are 0.1 to 1 times the mean
/// distance between boxes.
pub(crate) fn generate(count: u32) -> Vec<Corners> {
    let mut random = Random(0x9e37_79b9);
    let distance = (count as f32).cbrt().recip();
    let mut boxes = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let center = [(); 3].map(|()| random.between(0.0, 1.0));
        let half = [(); 3].map(|()| random.between(0.05, 0.5) * distance);
        boxes.push([-1.0, 1.0].map(|side| std::array::from_fn(|axis| center[axis] + side * half[axis])));
    }
    boxes
}
