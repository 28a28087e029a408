//! Triangle soup: three corners for each triangle, none of them shared.

#[allow(dead_code, reason = "nothing is drawn: normals and colors have no use")]
#[path = "../lbvh/mesh.rs"]
mod mesh;

use anyhow::Result;
use mesh::{Mesh, Vec3};
use std::path::Path;

/// The corners of all triangles, three each.
pub(crate) fn load(path: &Path) -> Result<Vec<Vec3>> {
    let mesh = Mesh::load(path)?;
    Ok(mesh.triangles.iter().flatten().map(|corner| mesh.points[*corner as usize]).collect())
}

/// A terrain of two squares, the first one with `cells` by `cells` cells of two triangles, the second one with half of
/// them in each direction. At their border, a vertex of the first square lies in the middle of each side of the second
/// one. `cells` is a power of two, so that these are exact.
pub(crate) fn generate(cells: u32) -> Vec<Vec3> {
    let mut corners = Vec::new();
    square(cells, 0.0, cells, &mut corners);
    square(cells / 2, 1.0, cells, &mut corners);
    corners
}

fn square(cells: u32, left: f32, border_cells: u32, corners: &mut Vec<Vec3>) {
    let point = |column: u32, row: u32| {
        let [x, y] = [column, row].map(|number| number as f32 / cells as f32);
        let x = left + x;
        let height = |row: u32| {
            let y = row as f32 / border_cells as f32;
            0.05 * (9.0 * x).sin() * (7.0 * y).cos()
        };
        let row = row * (border_cells / cells);
        let middle = (height(row.saturating_sub(1)) + height(row + 1)) * 0.5;
        [x, y, if x == 1.0 && !row.is_multiple_of(2) { middle } else { height(row) }]
    };
    for row in 0..cells {
        for column in 0..cells {
            let [a, b, c, d] = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(x, y)| point(column + x, row + y));
            corners.extend([a, b, d, a, d, c]);
        }
    }
}
