//! Checks of a downloaded LBVH over primitives of any kind: triangles or boxes.

/// No node, no primitive.
pub(crate) const NONE: u32 = u32::MAX;

/// The lower and the upper corner of a box.
pub(crate) type Corners = [[f32; 3]; 2];

/// A node. In a leaf `left` is the primitive and `right` is `NONE`. Matches `Node` in glsl/tree.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Node {
    pub(crate) lo: [f32; 3],
    pub(crate) left: u32,
    pub(crate) hi: [f32; 3],
    pub(crate) right: u32,
}

impl Node {
    fn corners(&self) -> Corners {
        [self.lo, self.hi]
    }

    fn area(&self) -> f64 {
        let [x, y, z] = std::array::from_fn(|axis| f64::from(self.hi[axis] - self.lo[axis]));
        2.0 * (x * y + y * z + z * x)
    }
}

/// Facts about a correct tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// Edges from the root to the deepest leaf.
    pub(crate) depth: u32,
    /// Expected number of nodes that a random ray through the root's box visits; a test of a primitive counts as a
    /// node. This is the surface area heuristic of MacDonald and Booth, 1990.
    pub(crate) sah_cost: f64,
}

/// Checks a tree: internal nodes, the root first, then the leaves. Leaf `i` holds primitive `ids[i]` with its box, and
/// every primitive is in one leaf. Every node is reached once and linked both ways. Every box is exactly that of its
/// descendants.
pub(crate) fn check(
    nodes: &[Node],
    parents: &[u32],
    ids: &[u32],
    corners_of: impl Fn(u32) -> Corners,
) -> Result<Shape, String> {
    let (internal, leaves) = nodes.split_at(ids.len() - 1);
    check_ids(ids)?;
    for (i, (leaf, id)) in leaves.iter().zip(ids).enumerate() {
        if leaf.left != *id || leaf.right != NONE {
            return Err(format!("leaf {i} does not hold primitive {id}"));
        }
        if leaf.corners() != corners_of(*id) {
            return Err(format!("the box of leaf {i} is not that of primitive {id}"));
        }
    }
    let depth = check_links(nodes, parents, internal.len())?;
    for (i, node) in internal.iter().enumerate() {
        let [left, right] = [node.left, node.right].map(|child| nodes[child as usize].corners());
        if node.corners() != union(left, right) {
            return Err(format!("the box of node {i} is not that of its children"));
        }
    }
    let root = nodes[0].area();
    let sum: f64 = nodes.iter().map(Node::area).sum();
    // All primitives are in one point or line: every ray that hits the root hits all of them.
    let sah_cost = if root > 0.0 { sum / root } else { nodes.len() as f64 };
    Ok(Shape { depth, sah_cost })
}

fn check_ids(ids: &[u32]) -> Result<(), String> {
    let mut seen = vec![false; ids.len()];
    for id in ids {
        match seen.get_mut(*id as usize) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => return Err(format!("primitive {id} is there twice")),
            None => return Err(format!("primitive {id} does not exist")),
        }
    }
    Ok(())
}

/// Walks the tree from the root; returns the depth.
fn check_links(nodes: &[Node], parents: &[u32], internal: usize) -> Result<u32, String> {
    let mut seen = vec![false; nodes.len()];
    let mut depth = 0;
    let mut open = vec![(0u32, NONE, 0u32)];
    while let Some((node, parent, level)) = open.pop() {
        let i = node as usize;
        match seen.get_mut(i) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => return Err(format!("node {node} is reached twice")),
            None => return Err(format!("node {parent} has a child {node} that does not exist")),
        }
        if parents[i] != parent {
            return Err(format!("node {node} is a child of {parent}, but its parent is {}", parents[i]));
        }
        depth = depth.max(level);
        if i < internal {
            open.extend([(nodes[i].left, node, level + 1), (nodes[i].right, node, level + 1)]);
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(node) => Err(format!("node {node} is not reached from the root")),
        None => Ok(depth),
    }
}

/// Returns the smallest box that contains both.
fn union(a: Corners, b: Corners) -> Corners {
    let extreme = |corner: usize, choose: fn(f32, f32) -> f32| {
        std::array::from_fn(|axis| choose(a[corner][axis], b[corner][axis]))
    };
    [extreme(0, f32::min), extreme(1, f32::max)]
}
