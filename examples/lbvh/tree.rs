//! Checks of the downloaded tree: correctness, depth, and the expected cost of a ray.

use crate::mesh::{Mesh, Vec3, add, scale, sub, zip};
use crate::morton::Morton;

/// No node, no triangle.
pub(crate) const NONE: u32 = u32::MAX;

/// A node. In a leaf `left` is the triangle and `right` is `NONE`. Matches `Node` in glsl/args.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Node {
    pub(crate) lo: Vec3,
    pub(crate) left: u32,
    pub(crate) hi: Vec3,
    pub(crate) right: u32,
}

impl Node {
    fn area(&self) -> f64 {
        let [x, y, z] = sub(self.hi, self.lo).map(f64::from);
        2.0 * (x * y + y * z + z * x)
    }
}

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
    /// Edges from the root to the deepest leaf.
    pub(crate) depth: u32,
    /// Expected number of nodes that a random ray through the root's box visits; a triangle test counts as a node. This
    /// is the surface area heuristic of MacDonald and Booth, 1990.
    pub(crate) sah_cost: f64,
    /// Number of leaves with the same code as the preceding leaf. Their order decides where the tree splits them, not
    /// their position.
    pub(crate) ties: usize,
}

/// Checks the tree. Codes are sorted stably, each next to its own triangle. Every triangle is in one leaf. Every node
/// is reached once and linked both ways. Every box is exactly that of its descendants.
pub(crate) fn check(mesh: &Mesh, tree: &Tree) -> Result<Stats, String> {
    check_codes(mesh, tree)?;
    check_leaves(mesh, tree)?;
    let depth = check_links(tree)?;
    for (i, node) in tree.nodes.iter().take(tree.codes.len() - 1).enumerate() {
        let [left, right] = [node.left, node.right].map(|child| tree.nodes[child as usize]);
        if node.lo != zip(left.lo, right.lo, f32::min) || node.hi != zip(left.hi, right.hi, f32::max) {
            return Err(format!("the box of node {i} is not that of its children"));
        }
    }
    let root = tree.nodes[0].area();
    let sum: f64 = tree.nodes.iter().map(Node::area).sum();
    // All triangles are in one point or line: every ray that hits the root hits all of them.
    let sah_cost = if root > 0.0 { sum / root } else { tree.nodes.len() as f64 };
    let ties = tree.codes.windows(2).filter(|pair| pair[0] == pair[1]).count();
    Ok(Stats { depth, sah_cost, ties })
}

fn check_codes(mesh: &Mesh, tree: &Tree) -> Result<(), String> {
    let ordered = |i: &usize| (tree.codes[*i], tree.ids[*i]) < (tree.codes[i + 1], tree.ids[i + 1]);
    if let Some(i) = (0..tree.codes.len() - 1).find(|i| !ordered(i)) {
        return Err(format!("the sort is wrong or not stable at {i}"));
    }
    let mut seen = vec![false; mesh.triangles.len()];
    for id in &tree.ids {
        match seen.get_mut(*id as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(format!("triangle {id} came out of the sort twice, or is none")),
        }
    }

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

fn check_leaves(mesh: &Mesh, tree: &Tree) -> Result<(), String> {
    let leaves = &tree.nodes[tree.codes.len() - 1..];
    for (i, (leaf, id)) in leaves.iter().zip(&tree.ids).enumerate() {
        if leaf.left != *id || leaf.right != NONE {
            return Err(format!("leaf {i} does not hold triangle {id}"));
        }
        let [a, b, c] = mesh.triangles[*id as usize].map(|i| mesh.points[i as usize]);
        if leaf.lo != zip(zip(a, b, f32::min), c, f32::min) || leaf.hi != zip(zip(a, b, f32::max), c, f32::max) {
            return Err(format!("the box of leaf {i} is not that of its triangle"));
        }
    }
    Ok(())
}

/// Walks the tree from the root; returns the depth.
fn check_links(tree: &Tree) -> Result<u32, String> {
    let internal = tree.codes.len() - 1;
    let mut seen = vec![false; tree.nodes.len()];
    let mut depth = 0;
    let mut open = vec![(0u32, NONE, 0u32)];
    while let Some((node, parent, level)) = open.pop() {
        let i = node as usize;
        match seen.get_mut(i) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => return Err(format!("node {node} is reached twice")),
            None => return Err(format!("node {parent} has a child {node} that does not exist")),
        }
        if tree.parents[i] != parent {
            return Err(format!("node {node} is a child of {parent}, but its parent is {}", tree.parents[i]));
        }
        depth = depth.max(level);
        if i < internal {
            open.extend([(tree.nodes[i].left, node, level + 1), (tree.nodes[i].right, node, level + 1)]);
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(node) => Err(format!("node {node} is not reached from the root")),
        None => Ok(depth),
    }
}
