//! Triangle meshes: read from Wavefront OBJ, checked, and given smooth normals.

use anyhow::{Context as _, Result, bail, ensure};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

pub(crate) type Vec3 = [f32; 3];

/// Larger coordinates would overflow in products of three of them.
const FARTHEST: f32 = 1e12;

/// Attributes of a vertex besides its position, in the layout of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Vertex {
    pub(crate) normal: Vec3,
    /// sRGB, red first.
    pub(crate) color: [u8; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Up {
    Y,
    Z,
}

#[derive(Debug, Default)]
pub(crate) struct Mesh {
    pub(crate) points: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) vertices: Vec<Vertex>,
}

/// Unglazed clay, for meshes without colors.
const CLAY: [u8; 4] = [208, 142, 104, 255];

impl Mesh {
    /// Reads all triangles of an OBJ file. Polygons become triangle fans; points and lines are skipped.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let name = path.display();
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        let options =
            tobj::LoadOptions { triangulate: true, ignore_points: true, ignore_lines: true, ..Default::default() };
        // Materials are not used, so a missing material library is not an error.
        let (models, _) = tobj::load_obj_buf(&mut BufReader::new(file), &options, |_| Ok(Default::default()))
            .map_err(|error| explain(error).context(format!("cannot read {name}")))?;

        let mut mesh = Self::default();
        for model in models {
            let first = u32::try_from(mesh.points.len()).context("too many vertices")?;
            let (points, _) = model.mesh.positions.as_chunks::<3>();
            let (triangles, _) = model.mesh.indices.as_chunks::<3>();
            mesh.points.extend_from_slice(points);
            mesh.triangles.extend(triangles.iter().map(|t| t.map(|i| first + i)));
        }
        mesh.check().with_context(|| format!("cannot use {name}"))?;
        mesh.vertices = vec![Vertex { normal: [0.0; 3], color: CLAY }; mesh.points.len()];
        mesh.smooth_normals();
        Ok(mesh)
    }

    /// Checks the requirements of the builder.
    fn check(&self) -> Result<()> {
        ensure!(!self.triangles.is_empty(), "the mesh is empty: it has no triangles");
        if let Some(i) = self.points.iter().position(|p| p.iter().any(|x| !x.is_finite())) {
            bail!(
                "vertex {} of the faces is {:?}: coordinates must be finite, not NaN or infinite",
                i + 1,
                self.points[i]
            );
        }
        if let Some(i) = self.points.iter().position(|p| p.iter().any(|x| x.abs() > FARTHEST)) {
            bail!(
                "vertex {} of the faces is {:?}: coordinates beyond {FARTHEST:e} are not supported",
                i + 1,
                self.points[i]
            );
        }
        if let Some(index) = self.triangles.iter().flatten().find(|i| **i as usize >= self.points.len()) {
            bail!("vertex index {index} out of range: there are {} vertices", self.points.len());
        }
        Ok(())
    }

    /// Sets the normal of each vertex to the area-weighted mean of its triangles' normals.
    pub(crate) fn smooth_normals(&mut self) {
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|i| self.points[i as usize]);
            let normal = cross(sub(b, a), sub(c, a));
            for i in triangle {
                let sum = &mut self.vertices[*i as usize].normal;
                *sum = add(*sum, normal);
            }
        }
        for vertex in &mut self.vertices {
            vertex.normal = normalize_or_zero(vertex.normal);
        }
    }

    pub(crate) fn bounds(&self) -> (Vec3, Vec3) {
        self.triangles
            .iter()
            .flatten()
            .map(|i| self.points[*i as usize])
            .fold(([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]), |(lo, hi), p| {
                (zip(lo, p, f32::min), zip(hi, p, f32::max))
            })
    }

    /// Guesses the upward axis, which OBJ does not define. Most files mean y; scans that stand on the xy plane are
    /// taller along z.
    pub(crate) fn likely_up(&self) -> Up {
        let (lo, hi) = self.bounds();
        let [x, y, z] = sub(hi, lo);
        if z > 1.25 * y && z > 1.25 * x { Up::Z } else { Up::Y }
    }
}

fn explain(error: tobj::LoadError) -> anyhow::Error {
    use tobj::LoadError as E;
    match error {
        E::FaceVertexOutOfBounds => {
            anyhow::anyhow!("vertex index out of range: a face names a vertex that is not there")
        }
        E::FaceTexCoordOutOfBounds | E::FaceNormalOutOfBounds => {
            anyhow::anyhow!("index out of range: a face names a texture coordinate or normal that is not there")
        }
        other => anyhow::anyhow!("{other}"),
    }
}

pub(crate) fn zip(a: Vec3, b: Vec3, f: impl Fn(f32, f32) -> f32) -> Vec3 {
    std::array::from_fn(|i| f(a[i], b[i]))
}

pub(crate) fn add(a: Vec3, b: Vec3) -> Vec3 {
    zip(a, b, |x, y| x + y)
}

pub(crate) fn sub(a: Vec3, b: Vec3) -> Vec3 {
    zip(a, b, |x, y| x - y)
}

pub(crate) fn scale(a: Vec3, s: f32) -> Vec3 {
    a.map(|x| x * s)
}

pub(crate) fn dot(a: Vec3, b: Vec3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn normalize_or_zero(a: Vec3) -> Vec3 {
    // Scaled first: squares of very small or large sides are outside the range of f32.
    let largest = a.iter().fold(0.0f32, |m, x| m.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return [0.0; 3];
    }
    let a = scale(a, 1.0 / largest);
    scale(a, 1.0 / dot(a, a).sqrt())
}
