//! Reference distances by Dijkstra's algorithm on the CPU.

use crate::graph::Graph;
use anyhow::{Result, ensure};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The distance of unreachable vertices.
pub(crate) const UNREACHED: u32 = u32::MAX;

/// Returns the distance of every vertex from the source.
///
/// (Dijkstra, "A note on two problems in connexion with graphs", 1959. Outdated entries stay in the heap and are
/// skipped.)
pub(crate) fn distances(graph: &Graph, source: u32) -> Result<Vec<u32>> {
    let mut distances = vec![u64::MAX; graph.vertices() as usize];
    let mut heap = BinaryHeap::from([Reverse((0, source))]);
    distances[source as usize] = 0;
    while let Some(Reverse((distance, vertex))) = heap.pop() {
        if distance > distances[vertex as usize] {
            continue;
        }
        for [to, weight] in graph.arcs_of(vertex) {
            let reached = distance + u64::from(*weight);
            if reached < distances[*to as usize] {
                distances[*to as usize] = reached;
                heap.push(Reverse((reached, *to)));
            }
        }
    }
    let farthest = distances.iter().filter(|distance| **distance != u64::MAX).max().copied().unwrap_or(0);
    ensure!(farthest < u64::from(UNREACHED), "a distance of {farthest} does not fit 32 bits");
    Ok(distances.into_iter().map(|distance| u32::try_from(distance).unwrap_or(UNREACHED)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Edge;

    #[test]
    fn the_shorter_way_wins() {
        let edges = [(0, 1, 10), (0, 2, 3), (2, 1, 4), (1, 3, 0)].map(|(from, to, weight)| Edge { from, to, weight });
        let graph = Graph::new(5, &edges, true).unwrap();
        assert_eq!(distances(&graph, 0).unwrap(), [0, 7, 3, 7, UNREACHED]);
        assert_eq!(distances(&graph, 1).unwrap(), [UNREACHED, 0, UNREACHED, 0, UNREACHED]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let edges = [(0, 1, u32::MAX - 1), (1, 2, 1)].map(|(from, to, weight)| Edge { from, to, weight });
        let graph = Graph::new(3, &edges, true).unwrap();
        assert!(distances(&graph, 0).unwrap_err().to_string().contains("4294967295 does not fit"));
        assert_eq!(distances(&graph, 1).unwrap(), [UNREACHED, 0, 1]);
    }
}
