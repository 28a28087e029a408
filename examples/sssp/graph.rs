//! A graph in compressed sparse rows (CSR): the edges of a vertex are contiguous.

use anyhow::{Result, ensure};

/// An edge of a file or a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) weight: u32,
}

/// Target vertex and weight. Matches `Edge` in glsl/args.glsl.
pub(crate) type Arc = [u32; 2];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Graph {
    /// The start of each vertex's arcs, and the end of the last one's.
    pub(crate) rows: Vec<u32>,
    pub(crate) arcs: Vec<Arc>,
}

/// Byte offsets into lists of this many items fit a 32-bit index.
const MOST_VERTICES: u32 = 1 << 28;
const MOST_ARCS: usize = 1 << 28;

impl Graph {
    /// Creates the graph. Each edge leads both ways, unless the graph is `directed`. Arcs keep the order of the edges.
    pub(crate) fn new(vertices: u32, edges: &[Edge], directed: bool) -> Result<Self> {
        ensure!(vertices > 0, "the graph has no vertices");
        ensure!(vertices <= MOST_VERTICES, "{vertices} vertices are more than the {MOST_VERTICES} that are supported");
        let count = edges.len() * if directed { 1 } else { 2 };
        ensure!(count <= MOST_ARCS, "{count} arcs are more than the {MOST_ARCS} that are supported");
        let ends = || {
            edges.iter().flat_map(|e| {
                [(e.from, e.to, e.weight), (e.to, e.from, e.weight)].into_iter().take(2 - usize::from(directed))
            })
        };

        // Counting sort: rows[v + 1] is the position of the next arc of v, and finally the end of its arcs.
        let mut rows = vec![0u32; vertices as usize + 2];
        for (from, to, _) in ends() {
            ensure!(from < vertices && to < vertices, "an edge from {from} to {to} leaves the {vertices} vertices");
            rows[from as usize + 2] += 1;
        }
        for v in 2..rows.len() {
            rows[v] += rows[v - 1];
        }
        let mut arcs = vec![[0; 2]; count];
        for (from, to, weight) in ends() {
            let next = &mut rows[from as usize + 1];
            arcs[*next as usize] = [to, weight];
            *next += 1;
        }
        rows.pop();
        Ok(Self { rows, arcs })
    }

    pub(crate) fn vertices(&self) -> u32 {
        // The number of rows is the number of vertices plus one, which fits.
        u32::try_from(self.rows.len() - 1).unwrap_or(MOST_VERTICES)
    }

    pub(crate) fn arcs_of(&self, vertex: u32) -> &[Arc] {
        let row = vertex as usize;
        &self.arcs[self.rows[row] as usize..self.rows[row + 1] as usize]
    }

    pub(crate) fn degrees(&self) -> impl Iterator<Item = u32> {
        self.rows.windows(2).map(|row| row[1] - row[0])
    }

    pub(crate) fn mean_weight(&self) -> f64 {
        let sum: u64 = self.arcs.iter().map(|[_, weight]| u64::from(*weight)).sum();
        sum as f64 / self.arcs.len().max(1) as f64
    }

    pub(crate) fn mean_degree(&self) -> f64 {
        self.arcs.len() as f64 / f64::from(self.vertices())
    }

    /// Returns the first vertex with the maximum degree, which has a central position in the graph.
    pub(crate) fn hub(&self) -> u32 {
        let most = self.degrees().max().unwrap_or(0);
        (0..).zip(self.degrees()).find(|(_, degree)| *degree == most).map_or(0, |(vertex, _)| vertex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: u32, to: u32, weight: u32) -> Edge {
        Edge { from, to, weight }
    }

    #[test]
    fn rows_hold_both_ways_in_the_order_of_the_edges() {
        let edges = [edge(0, 2, 7), edge(2, 1, 5), edge(0, 1, 3), edge(1, 1, 9)];
        let graph = Graph::new(4, &edges, false).unwrap();
        assert_eq!(graph.rows, [0, 2, 6, 8, 8]);
        assert_eq!(graph.arcs_of(0), [[2, 7], [1, 3]]);
        assert_eq!(graph.arcs_of(1), [[2, 5], [0, 3], [1, 9], [1, 9]]);
        assert_eq!(graph.arcs_of(2), [[0, 7], [1, 5]]);
        assert_eq!(graph.arcs_of(3), [[0; 2]; 0]);
        assert_eq!((graph.vertices(), graph.hub(), graph.mean_degree(), graph.mean_weight()), (4, 1, 2.0, 6.0));
    }

    #[test]
    fn directed_edges_lead_one_way() {
        let graph = Graph::new(2, &[edge(1, 0, 4)], true).unwrap();
        assert_eq!((graph.rows, graph.arcs), (vec![0, 0, 1], vec![[0, 4]]));
    }

    #[test]
    fn what_is_no_graph_is_refused() {
        for (vertices, edges, said) in
            [(0, &[][..], "no vertices"), (2, &[edge(0, 2, 1)], "leaves"), (MOST_VERTICES + 1, &[], "more than")]
        {
            let error = Graph::new(vertices, edges, false).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
