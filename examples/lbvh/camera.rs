//! The view: the front of the mesh's box, a little from above and from its left, filling the picture.

use crate::mesh::{Mesh, Up, Vec3, add, cross, dot, normalize_or_zero, scale, sub};

/// The parameters of the tracer. Matches `View` in glsl/args.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct View {
    pub(crate) eye: Vec3,
    /// Vector from the center of the picture to its right border, one unit in front of the eye.
    pub(crate) right: Vec3,
    /// Vector from the center of the picture to its upper border.
    pub(crate) up: Vec3,
    pub(crate) forward: Vec3,
    /// Direction to the key light.
    pub(crate) light: Vec3,
    /// The world's upward axis.
    pub(crate) sky: Vec3,
    /// Height of the ground along `sky`.
    pub(crate) ground: f32,
    /// Half the diagonal of the mesh's box.
    pub(crate) radius: f32,
    pub(crate) extent: [u32; 2],
    pub(crate) samples: u32,
}

/// Half the angle of the picture's shorter side, as a tangent: a long focal length.
const HALF_ANGLE: f32 = 0.24;
/// Part of the picture that the mesh may fill.
const FILL: f32 = 0.84;
/// Degrees between the eye and the front of the mesh, to the side.
const SIDEWAYS: f32 = 24.0;

/// Returns a view that frames the mesh, rotated by `turn` degrees about its upward axis, from `elevation` degrees above
/// the ground.
pub(crate) fn frame(mesh: &Mesh, up: Up, turn: f32, elevation: f32, extent: [u32; 2], samples: u32) -> View {
    // Front and side of the mesh by convention: y up faces z, z up faces -y.
    let (sky, front, side) = match up {
        Up::Y => ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
        Up::Z => ([0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]),
    };
    let (sin, cos) = (SIDEWAYS - turn).to_radians().sin_cos();
    let (rise, level) = elevation.to_radians().sin_cos();
    let horizontal = add(scale(front, cos), scale(side, -sin));
    let forward = scale(add(scale(horizontal, level), scale(sky, rise)), -1.0);
    let right = normalize_or_zero(cross(forward, sky));
    let up = cross(right, forward);

    let [width, height] = extent.map(|side| side as f32);
    let shorter = width.min(height);
    let half = [HALF_ANGLE * width / shorter, HALF_ANGLE * height / shorter];
    let (lo, hi) = mesh.bounds();
    let diagonal = sub(hi, lo);
    let longest = diagonal.iter().fold(0.0f32, |m, x| m.max(*x));
    // A mesh in a single point still gets a picture.
    let radius = (0.5 * dot(diagonal, diagonal).sqrt()).max(longest).max(f32::MIN_POSITIVE.sqrt());

    // The eye is as near as the planes of a smaller frustum allow. Along each axis of the picture, a point at x, z
    // (away from the eye) is inside for an eye at e if |x - e.x| <= t (z - e.z). The extremes of +-x - t z therefore
    // decide.
    let center = scale(add(lo, hi), 0.5);
    let fit = |axis: Vec3, t: f32| {
        let extreme = |sign: f32| {
            mesh.triangles.iter().flatten().fold(f32::NEG_INFINITY, |m, i| {
                let p = sub(mesh.points[*i as usize], center);
                m.max(sign * dot(p, axis) - t * dot(p, forward))
            })
        };
        let (most, least) = (extreme(1.0), extreme(-1.0));
        ((most - least) / 2.0, -(most + least) / (2.0 * t))
    };
    let (x, z_of_x) = fit(right, half[0] * FILL);
    let (y, z_of_y) = fit(up, half[1] * FILL);
    let z = z_of_x.min(z_of_y).min(-0.5 * radius);
    let eye = add(center, add(add(scale(right, x), scale(up, y)), scale(forward, z)));

    // The key light comes over the viewer's left shoulder.
    let light = normalize_or_zero(add(add(scale(right, -0.62), scale(sky, 0.95)), scale(horizontal, 0.55)));
    View {
        eye,
        right: scale(right, half[0]),
        up: scale(up, half[1]),
        forward,
        light,
        sky,
        ground: dot(lo, sky),
        radius,
        extent,
        samples,
    }
}
