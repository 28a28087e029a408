//! The welded mesh of the CPU.

use crate::grid::Grid;
use crate::record::Welded;
use std::collections::HashMap;

/// Welds the corners with a map of the standard library, and compares the result with that of the GPU. The error says
/// what differs.
pub(crate) fn check(corners: &[[f32; 3]], grid: &Grid, found: &Welded) -> Result<(), String> {
    let expected = weld(corners, grid);
    let counts = |welded: &Welded| (welded.vertices.len(), welded.degenerate, welded.t_corners);
    let [ours, theirs] = [&expected, found].map(counts);
    if ours != theirs {
        return Err(format!("vertices, degenerate triangles and T-corners are {theirs:?}, not {ours:?}"));
    }
    if let Some(i) = expected.indices.iter().zip(&found.indices).position(|(ours, theirs)| ours != theirs) {
        return Err(format!("corner {i} has index {}, not {}", found.indices[i], expected.indices[i]));
    }
    let differs = |(ours, theirs): (&[f32; 3], &[f32; 3])| ours.map(f32::to_bits) != theirs.map(f32::to_bits);
    match expected.vertices.iter().zip(&found.vertices).position(differs) {
        Some(i) => Err(format!("vertex {i} is {:?}, not {:?}", found.vertices[i], expected.vertices[i])),
        None => Ok(()),
    }
}

fn weld(corners: &[[f32; 3]], grid: &Grid) -> Welded {
    let mut numbers = HashMap::new();
    let mut welded = Welded::default();
    for corner in corners {
        let new = numbers.len();
        let number = *numbers.entry(grid.cell(*corner)).or_insert(new);
        if number == new {
            welded.vertices.push(*corner);
        }
        welded.indices.push(u32::try_from(number).unwrap_or(u32::MAX));
    }
    let triangles = welded.indices.as_chunks::<3>().0.iter().zip(corners.as_chunks::<3>().0);
    for ([a, b, c], points) in triangles {
        welded.degenerate += u32::from(a == b || b == c || c == a);
        for (ends, side) in [([a, b], [0, 1]), ([b, c], [1, 2]), ([c, a], [2, 0])] {
            let [p, q] = side.map(|corner: usize| points[corner]);
            let middle = [0, 1, 2].map(|axis| (p[axis] + q[axis]) * 0.5);
            let vertex = numbers.get(&grid.cell(middle));
            welded.t_corners +=
                u32::from(vertex.is_some_and(|vertex| ends.iter().all(|end| **end as usize != *vertex)));
        }
    }
    welded
}
