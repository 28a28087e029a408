//! Generated graphs: equal parameters give equal graphs.

use crate::graph::{Edge, Graph};
use anyhow::{Result, ensure};
use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Streets: a square grid without a fifth of its edges. Long paths, few edges per vertex.
    Grid,
    /// A few vertices have most of the edges, and all distances are short.
    PowerLaw,
}

/// Generates a graph with about `vertices` vertices and weights of 1 to `most_weight`. `degree`: edges per vertex of a
/// power-law graph, counted at both ends.
pub(crate) fn generate(kind: Kind, vertices: u32, degree: u32, most_weight: u32) -> Result<Graph> {
    ensure!((1..=1 << 28).contains(&vertices), "{vertices} vertices are not 1 to 2^28");
    let (vertices, edges) = match kind {
        Kind::Grid => grid(vertices, most_weight),
        Kind::PowerLaw => power_law(vertices, degree, most_weight)?,
    };
    Graph::new(vertices, &edges, false)
}

/// SplitMix64. (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.)
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let [.., a, b, c, d] = (z ^ (z >> 31)).to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    fn below(&mut self, limit: u32) -> u32 {
        let [.., a, b, c, d] = (u64::from(self.next()) * u64::from(limit)).to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    pub(crate) fn one_to(&mut self, most: u32) -> u32 {
        1 + self.below(most)
    }
}

fn grid(vertices: u32, most_weight: u32) -> (u32, Vec<Edge>) {
    let side = vertices.isqrt();
    let mut random = Random::new(2);
    let mut edges = Vec::new();
    for from in 0..side * side {
        let neighbors = [(from % side + 1 < side, 1), (from / side + 1 < side, side)];
        for (_, step) in neighbors.into_iter().filter(|(inside, _)| *inside) {
            let weight = random.one_to(most_weight);
            if random.below(5) != 0 {
                edges.push(Edge { from, to: from + step, weight });
            }
        }
    }
    (side * side, edges)
}

/// R-MAT: each edge chooses a quadrant of the matrix, recursively, down to one element. The number of vertices is
/// rounded up to a power of two. Vertices are renumbered, so that neighboring numbers are unrelated. (Chakrabarti, Zhan
/// and Faloutsos, "R-MAT: a recursive model for graph mining", 2004; the probabilities are those of the Graph500.)
fn power_law(vertices: u32, degree: u32, most_weight: u32) -> Result<(u32, Vec<Edge>)> {
    /// Probability of the first quadrant, of the first two and of the first three, in percent.
    const SHARES: [u32; 3] = [57, 76, 95];
    let vertices = vertices.next_power_of_two();
    let count = u64::from(vertices) * u64::from(degree) / 2;
    ensure!(count <= 1 << 27, "{count} edges are more than 2^27");
    let mut random = Random::new(3);
    let mut quadrant = || {
        let at = random.below(100);
        SHARES.iter().filter(|end| at >= **end).count()
    };
    let mut ends = Vec::new();
    for _ in 0..count {
        let (mut from, mut to) = (0, 0);
        for _ in 0..vertices.ilog2() {
            let (row, column) = [(0, 0), (0, 1), (1, 0), (1, 1)][quadrant()];
            (from, to) = (2 * from + row, 2 * to + column);
        }
        ends.push((scatter(from, vertices), scatter(to, vertices)));
    }
    let loops = |(from, to): &(u32, u32)| from != to;
    let edges = ends
        .into_iter()
        .filter(loops)
        .map(|(from, to)| Edge { from, to, weight: random.one_to(most_weight) })
        .collect();
    Ok((vertices, edges))
}

/// A permutation of the numbers below a power of two: twice multiplied by an odd number and mixed with its own upper
/// half.
fn scatter(x: u32, vertices: u32) -> u32 {
    let mask = vertices - 1;
    let half = vertices.ilog2().div_ceil(2).max(1);
    let mixed = (x.wrapping_mul(0x9e37_79b1) & mask) ^ ((x.wrapping_mul(0x9e37_79b1) & mask) >> half);
    let product = mixed.wrapping_mul(0x85eb_ca6b) & mask;
    product ^ (product >> half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_streets() {
        let graph = generate(Kind::Grid, 10_050, 0, 100).unwrap();
        assert_eq!(graph.vertices(), 100 * 100);
        let whole = 2 * 2 * 100 * 99;
        assert!((whole * 77 / 100..whole * 83 / 100).contains(&graph.arcs.len()), "{}", graph.arcs.len());
        assert!(graph.degrees().all(|degree| degree <= 4));
        assert!(graph.arcs.iter().all(|[_, weight]| (1..=100).contains(weight)));
        for from in 0..graph.vertices() {
            assert!(graph.arcs_of(from).iter().all(|[to, _]| matches!(from.abs_diff(*to), 1 | 100)));
        }
        assert_eq!(generate(Kind::Grid, 10_050, 0, 100).unwrap(), graph);
        assert_eq!(generate(Kind::Grid, 1, 0, 1).unwrap().arcs, [[0; 2]; 0]);
    }

    #[test]
    fn power_laws_have_hubs() {
        let graph = generate(Kind::PowerLaw, 4000, 16, 7).unwrap();
        assert_eq!(graph.vertices(), 4096);
        assert!((60_000..=65_536).contains(&graph.arcs.len()), "{}", graph.arcs.len());
        assert!(graph.degrees().max() > Some(500) && graph.degrees().filter(|degree| *degree < 8).count() > 1500);
        assert_eq!(generate(Kind::PowerLaw, 4000, 16, 7).unwrap(), graph);
        assert!(
            generate(Kind::PowerLaw, 1, 16, 7).unwrap().arcs.is_empty(),
            "an edge from a vertex to itself is left out"
        );
    }

    #[test]
    fn scattered_numbers_are_all_there() {
        for bits in 0..12 {
            let mut numbers: Vec<_> = (0..1 << bits).map(|x| scatter(x, 1 << bits)).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..1 << bits));
        }
    }
}
