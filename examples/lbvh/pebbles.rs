//! The generated scene: gravel, sorted by size into a spiral.

#![expect(clippy::cast_possible_truncation, reason = "the scene is fixed: counts and colors are small")]

use crate::mesh::{Mesh, Vec3, Vertex, add, dot, normalize_or_zero, scale};
use crate::random::Random;
use std::collections::HashMap;
use std::f32::consts::{PI, TAU};

/// Number of pebbles in the spiral. Each is rotated from its predecessor by the golden angle, and grows in proportion
/// to its distance.
const PEBBLES: u32 = 620;
const GROWTH: f32 = 1.0055;
/// Radius of a pebble relative to its distance from the center: neighbors nearly touch.
const RELATIVE_RADIUS: f32 = 0.087;

/// sRGB colors from the center outwards.
const PALETTE: [Vec3; 5] =
    [[226.0, 170.0, 70.0], [198.0, 88.0, 52.0], [128.0, 48.0, 62.0], [52.0, 74.0, 104.0], [168.0, 172.0, 164.0]];

/// Generates the scene. `finest`: subdivisions of the largest pebbles' icosahedra; each subdivision has four times as
/// many triangles.
pub(crate) fn generate(finest: u32) -> Mesh {
    let spheres: Vec<Sphere> = (0..=finest).map(icosphere).collect();
    let golden_angle = PI * (3.0 - 5.0f32.sqrt());
    let mut random = Random(0x9e37_79b9);
    let mut mesh = Mesh::default();
    for k in 0..PEBBLES {
        let distance = GROWTH.powi((k as i32) - (PEBBLES as i32));
        let radius = RELATIVE_RADIUS * distance * random.between(0.86, 1.08);
        let angle = golden_angle * k as f32;
        let share = k as f32 / (PEBBLES - 1) as f32;
        // Smaller pebbles cover fewer pixels and need fewer triangles.
        let detail = (finest as f32 - 3.0 + 3.2 * share) as usize;
        let pebble = Pebble::new(&mut random, radius, share);
        let center = [distance * angle.cos(), radius * pebble.axes[1] * 0.93, distance * angle.sin()];
        pebble.append(&mut mesh, &spheres[detail.min(spheres.len() - 1)], center);
    }
    mesh.smooth_normals();
    mesh
}

/// A worn stone: a flattened, rotated ellipsoid with a few low waves and a little roughness.
struct Pebble {
    radius: f32,
    axes: Vec3,
    turn: f32,
    waves: [(Vec3, f32, f32); 5],
    color: Vec3,
}

impl Pebble {
    fn new(random: &mut Random, radius: f32, share: f32) -> Self {
        let at = share * (PALETTE.len() - 1) as f32;
        let i = (at as usize).min(PALETTE.len() - 2);
        let mixed = add(scale(PALETTE[i], 1.0 - (at - i as f32)), scale(PALETTE[i + 1], at - i as f32));
        let axes = [random.between(0.94, 1.16), random.between(0.62, 0.84), random.between(0.86, 1.02)];
        let waves = std::array::from_fn(|wave| {
            let frequency = 1.3 + 0.9 * wave as f32;
            let direction = normalize_or_zero([(); 3].map(|()| random.between(-1.0, 1.0)));
            (scale(direction, frequency), random.between(0.0, TAU), 0.085 / frequency)
        });
        Self { radius, axes, turn: random.between(0.0, TAU), waves, color: scale(mixed, random.between(0.86, 1.1)) }
    }

    fn append(&self, mesh: &mut Mesh, sphere: &Sphere, center: Vec3) {
        let first = mesh.points.len() as u32;
        let (sin, cos) = self.turn.sin_cos();
        for unit in &sphere.points {
            let waves: f32 = self.waves.iter().map(|(k, phase, height)| height * (dot(*k, *unit) + phase).sin()).sum();
            let grain: f32 = (0..3).map(|axis| (unit[axis] * 23.0 + self.turn * 9.0 + axis as f32).sin()).product();
            let r = self.radius * (1.0 + waves + 0.003 * grain);
            let [x, y, z] = [r * self.axes[0] * unit[0], r * self.axes[1] * unit[1], r * self.axes[2] * unit[2]];
            mesh.points.push(add(center, [cos * x + sin * z, y, cos * z - sin * x]));
            let speckle = 1.0 + 0.9 * waves + 0.05 * grain;
            let [r, g, b] = scale(self.color, speckle).map(|c| c.clamp(0.0, 255.0) as u8);
            mesh.vertices.push(Vertex { normal: [0.0; 3], color: [r, g, b, 255] });
        }
        mesh.triangles.extend(sphere.triangles.iter().map(|t| t.map(|i| first + i)));
    }
}

struct Sphere {
    points: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

/// An icosahedron with every side divided into four, `subdivisions` times.
fn icosphere(subdivisions: u32) -> Sphere {
    let g = (1.0 + 5.0f32.sqrt()) / 2.0;
    let mut points: Vec<Vec3> = Vec::new();
    for (a, b) in [(1.0, g), (-1.0, g), (1.0, -g), (-1.0, -g)] {
        points.extend([[a, b, 0.0], [0.0, a, b], [b, 0.0, a]].map(normalize_or_zero));
    }
    let mut triangles = icosahedron_sides(&points);
    for _ in 0..subdivisions {
        let mut middles = HashMap::new();
        let mut middle = |i: u32, j: u32| {
            *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                points.push(normalize_or_zero(add(points[i as usize], points[j as usize])));
                points.len() as u32 - 1
            })
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
            })
            .collect();
    }
    Sphere { points, triangles }
}

/// Returns the twenty triples of mutual neighbors, facing outwards. Neighbors of an icosahedron have a dot product of
/// 0.447, all others a negative one.
fn icosahedron_sides(points: &[Vec3]) -> Vec<[u32; 3]> {
    let near = |i: u32, j: u32| dot(points[i as usize], points[j as usize]) > 0.0;
    let mut sides = Vec::new();
    for a in 0..12u32 {
        for b in (a + 1..12).filter(|b| near(a, *b)) {
            for c in (b + 1..12).filter(|c| near(a, *c) && near(b, *c)) {
                let [p, q, r] = [a, b, c].map(|i| points[i as usize]);
                let outwards = dot(p, crate::mesh::cross(q, r)) > 0.0;
                sides.push(if outwards { [a, b, c] } else { [a, c, b] });
            }
        }
    }
    sides
}
