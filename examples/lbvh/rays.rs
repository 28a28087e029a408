//! Checks of the downloaded secondary rays: the split is correct, both orders have equal hits, and these are the hits
//! of a traversal on the CPU.

use crate::bvh::{NONE, Node};
use crate::mesh::Mesh;
use crate::secondary::{Found, OCTANTS, Outcome, Ray};
use crate::tree::Tree;

/// Maximum number of rays that are traced on the CPU.
const SAMPLE: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) rays: usize,
    /// Number of rays that hit the mesh.
    pub(crate) hits: usize,
    /// Number of rays of each octant.
    pub(crate) octants: [usize; OCTANTS],
}

/// Checks the rays: `rays_a_pixel` for each pixel that has any. The tree has been checked before.
pub(crate) fn check(mesh: &Mesh, tree: &Tree, outcome: &Outcome, rays_a_pixel: u32) -> Result<Facts, String> {
    let Outcome { rays, found: [as_they_lie, by_octants], .. } = outcome;
    check_rays(rays, rays_a_pixel)?;
    let octants = check_split(outcome)?;
    if let Some(i) = (0..rays.len()).find(|i| as_they_lie[*i] != by_octants[*i]) {
        return Err(format!("ray {i} meets {:?} in one order and {:?} in the other", as_they_lie[i], by_octants[i]));
    }
    for i in (0..rays.len()).step_by(rays.len().div_ceil(SAMPLE).max(1)) {
        check_found(mesh, tree, &rays[i], by_octants[i]).map_err(|fault| format!("ray {i} {fault}"))?;
    }
    let hits = by_octants.iter().filter(|found| found.triangle != NONE).count();
    Ok(Facts { rays: rays.len(), hits, octants })
}

fn check_rays(rays: &[Ray], rays_a_pixel: u32) -> Result<(), String> {
    let mut pixels: Vec<u32> = rays.iter().map(|ray| ray.pixel).collect();
    pixels.sort_unstable();
    if let Some(own) = pixels.chunk_by(|a, b| a == b).find(|own| own.len() != rays_a_pixel as usize) {
        return Err(format!("pixel {} has {} rays, not {rays_a_pixel}", own[0], own.len()));
    }
    let has_length_1 = |ray: &Ray| (long(ray.direction.map(f64::from)) - 1.0).abs() < 1e-5;
    match rays.iter().position(|ray| !has_length_1(ray)) {
        Some(i) => Err(format!("the direction of ray {i} is {:?}: its length is not 1", rays[i].direction)),
        None => Ok(()),
    }
}

/// Returns the sign bits of a direction, that of x the lowest. Zeros have signs, too.
fn octant(ray: &Ray) -> usize {
    (0..3).map(|axis| usize::from(ray.direction[axis].is_sign_negative()) << axis).sum()
}

/// Compares offsets and permutation with a stable split on the CPU. Returns the number of rays of each octant.
fn check_split(outcome: &Outcome) -> Result<[usize; OCTANTS], String> {
    let Outcome { rays, order, offsets, .. } = outcome;
    let mut octants: [Vec<usize>; OCTANTS] = Default::default();
    for (i, ray) in rays.iter().enumerate() {
        octants[octant(ray)].push(i);
    }
    let counts = octants.each_ref().map(Vec::len);
    let mut expected = vec![0];
    expected.extend(counts.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    }));
    if !offsets.iter().map(|offset| *offset as usize).eq(expected.iter().copied()) {
        return Err(format!("octants begin at {offsets:?}, not at {expected:?}"));
    }
    let grouped: Vec<usize> = octants.concat();
    match grouped.iter().zip(order).position(|(expected, i)| *expected != *i as usize) {
        Some(at) => Err(format!("the split has ray {} at {at}, not ray {}", order[at], grouped[at])),
        None => Ok(counts),
    }
}

type Vec3 = [f64; 3];

fn sub(a: Vec3, b: Vec3) -> Vec3 {
    std::array::from_fn(|i| a[i] - b[i])
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn long(a: Vec3) -> f64 {
    dot(a, a).sqrt()
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The intersection of a ray with the plane of a triangle, and bounds of the device's error in `f32`.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    t: f64,
    t_error: f64,
    /// Distance inside the triangle, as the least barycentric coordinate; negative: outside.
    inside: f64,
    inside_error: f64,
}

impl Meeting {
    /// Computes the intersection like `hit_triangle` in glsl/traverse.glsl. `None` if ray and plane are parallel within
    /// the device's precision.
    ///
    /// Each coordinate is a quotient of two triple products. A few roundings of each factor add up to an error
    /// proportional to the lengths of the factors, even if most of the product cancels. Values below the least normal
    /// number may be flushed to zero.
    fn of(mesh: &Mesh, ray: &Ray, triangle: u32) -> Option<Self> {
        const ROUNDINGS: f64 = 32.0 * f32::EPSILON as f64;
        let [a, b, c] = mesh.triangles[triangle as usize].map(|i| mesh.points[i as usize].map(f64::from));
        let direction = ray.direction.map(f64::from);
        let (ab, ac, ao) = (sub(b, a), sub(c, a), sub(ray.origin.map(f64::from), a));
        let (q, r) = (cross(direction, ac), cross(ao, ab));
        let det = dot(ab, q);
        let lost = 8.0 * f64::from(f32::MIN_POSITIVE) * (1.0 + long(ab) + long(ac));
        let det_error = ROUNDINGS * long(ab) * long(ac) + lost;
        if det.abs() <= 2.0 * det_error {
            return None;
        }
        let error =
            |quotient: f64, factors: f64| 2.0 * (ROUNDINGS * factors + lost + quotient.abs() * det_error) / det.abs();
        let (u, v, t) = (dot(ao, q) / det, dot(direction, r) / det, dot(ac, r) / det);
        let (u_error, v_error) = (error(u, long(ao) * long(ac)), error(v, long(ao) * long(ab)));
        Some(Self {
            t,
            t_error: error(t, long(ac) * long(ao) * long(ab)),
            inside: u.min(v).min(1.0 - u - v),
            inside_error: u_error + v_error,
        })
    }

    /// Whether the intersection is before `limit` for any rounding.
    fn surely_before(&self, limit: f64) -> bool {
        self.inside > self.inside_error && self.t > self.t_error && self.t + self.t_error < limit
    }

    fn may_be_at(&self, t: f64) -> bool {
        self.inside >= -self.inside_error && (self.t - t).abs() <= self.t_error
    }
}

/// Checks that the hit exists, and that no other hit is before it.
fn check_found(mesh: &Mesh, tree: &Tree, ray: &Ray, found: Found) -> Result<(), String> {
    let t = f64::from(found.t);
    if found.triangle != NONE {
        if found.triangle as usize >= mesh.triangles.len() {
            return Err(format!("meets triangle {}, which is none", found.triangle));
        }
        // For a triangle in the plane of the ray, the device may return any result.
        if Meeting::of(mesh, ray, found.triangle).is_some_and(|meeting| !meeting.may_be_at(t)) {
            return Err(format!("does not meet triangle {} at {t}", found.triangle));
        }
    } else if found.t != ray.reach {
        return Err(format!("meets nothing at {t}, short of its reach"));
    }
    match walk(mesh, tree, ray, t) {
        Some(passed) => Err(format!("passes through triangle {passed}, before {t}")),
        None => Ok(()),
    }
}

/// Returns a triangle that the ray certainly hits before `limit`.
fn walk(mesh: &Mesh, tree: &Tree, ray: &Ray, limit: f64) -> Option<u32> {
    let origin = ray.origin.map(f64::from);
    // As in the kernel: avoids 0 times infinity.
    let inverse = ray.direction.map(|x| 1.0 / if x.abs() < 1e-18 { 1e-18 } else { f64::from(x) });
    let enters = |node: &Node| {
        let (mut enter, mut leave) = (0.0f64, limit);
        for axis in 0..3 {
            let [a, b] = [node.lo, node.hi].map(|side| (f64::from(side[axis]) - origin[axis]) * inverse[axis]);
            (enter, leave) = (enter.max(a.min(b)), leave.min(a.max(b)));
        }
        enter <= leave
    };
    let mut open = vec![0u32];
    while let Some(i) = open.pop() {
        let node = &tree.nodes[i as usize];
        if !enters(node) {
            continue;
        }
        if node.right != NONE {
            open.extend([node.left, node.right]);
        } else if Meeting::of(mesh, ray, node.left).is_some_and(|meeting| meeting.surely_before(limit)) {
            return Some(node.left);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Facts, check};
    use crate::bvh::{NONE, Node};
    use crate::mesh::{Mesh, zip};
    use crate::morton::Morton;
    use crate::secondary::{Found, Outcome, Ray};
    use crate::tree::Tree;

    const REACH: f32 = 3.4e38;

    /// Two triangles across the z axis, at 1 and at 2.
    fn scene() -> (Mesh, Tree) {
        let corners = |z: f32| [[-1.0, -1.0, z], [1.0, -1.0, z], [0.0, 1.0, z]];
        let points = [corners(1.0), corners(2.0)].concat();
        let mesh = Mesh { points, triangles: vec![[0, 1, 2], [3, 4, 5]], vertices: Vec::new() };
        let leaf = |left: u32, z: f32| Node { lo: [-1.0, -1.0, z], left, hi: [1.0, 1.0, z], right: NONE };
        let leaves = [leaf(0, 1.0), leaf(1, 2.0)];
        let (lo, hi) = (zip(leaves[0].lo, leaves[1].lo, f32::min), zip(leaves[0].hi, leaves[1].hi, f32::max));
        let nodes = vec![Node { lo, left: 1, hi, right: 2 }, leaves[0], leaves[1]];
        let tree =
            Tree { nodes, parents: vec![NONE, 0, 0], morton: Morton::Bits30, codes: vec![0, 1], ids: vec![0, 1] };
        (mesh, tree)
    }

    /// Four rays: from below, from above, from between both triangles, and one that misses.
    fn right() -> Outcome {
        let ray = |z: f32, direction, pixel| Ray { origin: [0.0, 0.0, z], pixel, direction, reach: REACH };
        let (up, down) = ([0.0, -0.0, 1.0], [0.0, 0.0, -1.0]);
        let rays = vec![ray(0.0, up, 7), ray(4.0, down, 3), ray(1.5, up, 7), ray(0.0, [-0.6, 0.8, 0.0], 3)];
        let meets = |triangle, t| Found { t, triangle };
        let found = vec![meets(0, 1.0), meets(1, 2.0), meets(1, 0.5), meets(NONE, REACH)];
        let offsets = vec![0, 0, 1, 3, 3, 4, 4, 4, 4];
        Outcome { rays, order: vec![3, 0, 2, 1], offsets, found: [found.clone(), found], times: None }
    }

    #[test]
    fn what_is_right_is_taken() {
        let (mesh, tree) = scene();
        let facts = Facts { rays: 4, hits: 3, octants: [0, 1, 2, 0, 1, 0, 0, 0] };
        assert_eq!(check(&mesh, &tree, &right(), 2), Ok(facts));
    }

    #[test]
    fn no_rays_are_as_right() {
        let (mesh, tree) = scene();
        let none = Outcome {
            rays: Vec::new(),
            order: Vec::new(),
            offsets: vec![0; 9],
            found: Default::default(),
            times: None,
        };
        assert_eq!(check(&mesh, &tree, &none, 1), Ok(Facts { rays: 0, hits: 0, octants: [0; 8] }));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let (mesh, tree) = scene();
        let in_both = |outcome: &mut Outcome, ray: usize, found: Found| {
            for in_order in &mut outcome.found {
                in_order[ray] = found;
            }
        };
        let faults: [(&str, &dyn Fn(&mut Outcome)); 11] = [
            ("pixel 1 has 1 rays", &|o| o.rays[0].pixel = 1),
            ("direction of ray 1", &|o| o.rays[1].direction = [0.0, 0.0, -1.1]),
            ("direction of ray 2", &|o| o.rays[2].direction = [0.0, f32::NAN, 1.0]),
            ("octants begin", &|o| o.offsets[1] = 1),
            ("not ray 0", &|o| o.order.swap(1, 2)),
            ("ray 3 meets", &|o| o.found[0][3].t = 1.0),
            ("ray 3 meets nothing", &|o| in_both(o, 3, Found { t: 5.0, triangle: NONE })),
            ("ray 0 passes through triangle 0", &|o| in_both(o, 0, Found { t: 2.0, triangle: 1 })),
            ("ray 2 passes through triangle 1", &|o| in_both(o, 2, Found { t: REACH, triangle: NONE })),
            ("ray 1 does not meet triangle 1", &|o| in_both(o, 1, Found { t: 1.999, triangle: 1 })),
            ("which is none", &|o| in_both(o, 1, Found { t: 2.0, triangle: 2 })),
        ];
        for (said, spoil) in faults {
            let mut outcome = right();
            spoil(&mut outcome);
            let fault = check(&mesh, &tree, &outcome, 2).expect_err(said);
            assert!(fault.contains(said), "{said:?} is not in {fault:?}");
        }
    }
}
