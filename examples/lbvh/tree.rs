//! Checks of the downloaded tree: correctness, depth, and the expected cost of a ray.

use crate::bvh::{self, Node, Shape};
use crate::mesh::{Mesh, add, scale, zip};
use crate::morton::Morton;

/// The tree as downloaded from the device.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Internal nodes, the root first, then the leaves in Morton order.
    pub(crate) nodes: Vec<Node>,
    pub(crate) parents: Vec<u32>,
    pub(crate) morton: Morton,
    /// The sorted Morton codes.
    pub(crate) codes: Vec<u64>,
    /// The triangle of each code.
    pub(crate) ids: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stats {
    pub(crate) shape: Shape,
    /// Number of leaves with the same code as the preceding leaf. Their order decides where the tree splits them, not
    /// their position.
    pub(crate) ties: usize,
}

/// Checks the tree as [`bvh::check`]. Codes are sorted stably, each next to its own triangle.
pub(crate) fn check(mesh: &Mesh, tree: &Tree) -> Result<Stats, String> {
    let ordered = |i: &usize| (tree.codes[*i], tree.ids[*i]) < (tree.codes[i + 1], tree.ids[i + 1]);
    if let Some(i) = (0..tree.codes.len() - 1).find(|i| !ordered(i)) {
        return Err(format!("the sort is wrong or not stable at {i}"));
    }
    let shape = bvh::check(&tree.nodes, &tree.parents, &tree.ids, |id| {
        let [a, b, c] = mesh.triangles[id as usize].map(|i| mesh.points[i as usize]);
        [f32::min, f32::max].map(|choose| zip(zip(a, b, choose), c, choose))
    })?;
    check_codes(mesh, tree)?;
    let ties = tree.codes.windows(2).filter(|pair| pair[0] == pair[1]).count();
    Ok(Stats { shape, ties })
}

/// Each code is that of the cell of its triangle's centroid.
fn check_codes(mesh: &Mesh, tree: &Tree) -> Result<(), String> {
    let centroid = |id: u32| {
        let [a, b, c] = mesh.triangles[id as usize].map(|i| mesh.points[i as usize]);
        scale(add(add(a, b), c), 1.0 / 3.0)
    };
    let (lo, hi) =
        tree.ids.iter().map(|id| centroid(*id)).fold(([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]), |(lo, hi), c| {
            (zip(lo, c, f32::min), zip(hi, c, f32::max))
        });
    let far = mesh.points.iter().fold([0.0; 3], |far, p| zip(far, p.map(f32::abs), f32::max)).map(f64::from);
    let cells = f64::from(tree.morton.cells());
    for (code, id) in tree.codes.iter().zip(&tree.ids) {
        let c = centroid(*id);
        for axis in 0..3 {
            let extent = f64::from(hi[axis]) - f64::from(lo[axis]);
            // Along an axis without extent, rounding on the device decides.
            if extent == 0.0 {
                continue;
            }
            // The device may round the last bits of a centroid, of the grid and of their quotient differently.
            let slack = 8.0 * f64::from(f32::EPSILON) * (far[axis] / extent + 1.0) * cells;
            let cell = tree.morton.cell(*code, axis);
            let expected = ((f64::from(c[axis]) - f64::from(lo[axis])) / extent * cells).min(cells - 1.0);
            if (expected - 0.5 - f64::from(cell)).abs() > 0.5 + slack {
                return Err(format!("the code of triangle {id} says cell {cell} of axis {axis}, not {expected}"));
            }
        }
    }
    Ok(())
}
