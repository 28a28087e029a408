//! Checks of a frame on the CPU.

use crate::buffers::Snapshot;
use crate::bvh::{self, Corners, Shape};

/// Checks the items of the update, and the tree over them. There is one item for each box, with the code of the box.
/// The items are in the order of the full sort; only items of equal codes may differ in their order.
pub(crate) fn check(frame: &Snapshot) -> Result<Shape, String> {
    let Snapshot { boxes, sorted, updated, item_count, nodes, parents } = frame;
    if *item_count as usize != boxes.len() {
        return Err(format!("the update has {item_count} items for {} boxes", boxes.len()));
    }
    let ids: Vec<u32> = updated.iter().map(|(_, id)| *id).collect();
    let shape = bvh::check(nodes, parents, &ids, |id| boxes[id as usize])?;
    if let Some((code, id)) = updated.iter().find(|(code, id)| *code != morton_code(&boxes[*id as usize])) {
        return Err(format!("{code:#x} is not the code of box {id}"));
    }
    if let Some(i) = (1..updated.len()).find(|i| updated[i - 1].0 > updated[*i].0) {
        return Err(format!("the update is not sorted at {i}"));
    }
    // The full sort is stable: items of equal codes are in the order of their ids.
    let mut expected = updated.clone();
    expected.sort_unstable();
    match (0..expected.len()).find(|i| expected[*i] != sorted[*i]) {
        Some(i) => Err(format!("the full sort has the item {:x?} at {i}, not {:x?}", sorted[i], expected[i])),
        None => Ok(shape),
    }
}

/// Returns the Morton code of a box's center, bit by bit. Only the addition rounds, as in glsl/codes.comp.
fn morton_code([lo, hi]: &Corners) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "clamped to ten bits")]
    let cell: [u32; 3] = std::array::from_fn(|axis| ((lo[axis] + hi[axis]) * 512.0).clamp(0.0, 1023.0) as u32);
    (0..30).map(|bit| (cell[2 - bit % 3] >> (bit / 3) & 1) << bit).sum()
}

#[cfg(test)]
mod tests {
    use super::{check, morton_code};
    use crate::buffers::Snapshot;
    use crate::bvh::{NONE, Node};

    #[test]
    fn codes_interleave_the_axes() {
        let code = |center: [f32; 3]| morton_code(&[center, center]);
        assert_eq!(code([0.0; 3]), 0);
        assert_eq!(code([0.5, 0.0, 0.0]), 1 << 29);
        assert_eq!(code([0.0, 0.0, 1.0 / 1024.0]), 1);
        assert_eq!(code([1.5; 3]), (1 << 30) - 1, "outside the cube, the nearest cell counts");
    }

    /// A correct frame of two boxes, the second before the first.
    fn frame() -> Snapshot {
        let corners = [[[0.5; 3]; 2], [[0.25; 3]; 2]];
        let leaf = |id: u32| Node { lo: corners[id as usize][0], left: id, hi: corners[id as usize][1], right: NONE };
        let root = Node { lo: [0.25; 3], left: 1, hi: [0.5; 3], right: 2 };
        let items = vec![(0x700_0000, 1), (0x3800_0000, 0)];
        Snapshot {
            boxes: corners.to_vec(),
            sorted: items.clone(),
            updated: items,
            item_count: 2,
            nodes: vec![root, leaf(1), leaf(0)],
            parents: vec![NONE, 0, 0],
        }
    }

    #[test]
    fn a_wrong_frame_is_found() {
        assert_eq!(check(&frame()).map(|shape| shape.depth), Ok(1));
        let faults: [(&str, fn(&mut Snapshot)); 6] = [
            ("3 items for 2 boxes", |f| f.item_count = 3),
            ("primitive 1 is there twice", |f| f.updated[1].1 = 1),
            ("0x3800001 is not the code of box 1", |f| f.updated[0].0 = 0x380_0001),
            ("the full sort has the item", |f| f.sorted.swap(0, 1)),
            ("box of node 0", |f| f.nodes[0].hi[1] = 0.75),
            ("not that of primitive 0", |f| f.boxes[0][1][2] = 0.5625),
        ];
        for (said, fault) in faults {
            let mut wrong = frame();
            fault(&mut wrong);
            let error = check(&wrong).expect_err(said);
            assert!(error.contains(said), "{error:?} should say: {said}");
        }
    }
}
