//! Graphs from files: DIMACS `.gr`, or CSV with one edge a line.

use crate::generate::Random;
use crate::graph::{Edge, Graph};
use anyhow::{Context as _, Result, bail, ensure};
use std::path::Path;

/// Reads a file; its extension selects the format. An edge without a weight gets a random one of 1 to `most_weight`.
pub(crate) fn load(path: &Path, directed: bool, most_weight: u32) -> Result<Graph> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let (vertices, edges) = match path.extension().and_then(|e| e.to_str()) {
        Some("gr") => parse_gr(&text),
        Some("csv") => parse_csv(&text, most_weight),
        _ => bail!("{shown} is neither .gr nor .csv"),
    }
    .with_context(|| format!("cannot read {shown}"))?;
    Graph::new(vertices, &edges, directed).with_context(|| format!("cannot use {shown}"))
}

/// Parses the format of the 9th DIMACS implementation challenge. `c` begins a comment, `p sp VERTICES LINES` precedes
/// `a FROM TO WEIGHT`, and vertices count from 1.
fn parse_gr(text: &str) -> Result<(u32, Vec<Edge>)> {
    let mut problem: Option<(u32, usize)> = None;
    let mut edges = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields[..] {
            [] | ["c", ..] => {}
            ["p", "sp", vertices, lines] => {
                ensure!(problem.is_none(), "line {number}: a second problem");
                problem = Some((number_of(vertices, number)?, number_of(lines, number)?));
            }
            ["a", from, to, weight] => {
                let Some((vertices, _)) = problem else { bail!("line {number}: an edge before the problem") };
                let vertex = |field| {
                    let vertex: u32 = number_of(field, number)?;
                    ensure!(
                        (1..=vertices).contains(&vertex),
                        "line {number}: {vertex} is no vertex of 1 to {vertices}"
                    );
                    Ok(vertex - 1)
                };
                edges.push(Edge { from: vertex(from)?, to: vertex(to)?, weight: number_of(weight, number)? });
            }
            _ => bail!("line {number}: neither comment, nor `p sp VERTICES LINES`, nor `a FROM TO WEIGHT`: {line}"),
        }
    }
    let (vertices, lines) = problem.context("there is no line `p sp VERTICES LINES`")?;
    ensure!(edges.len() == lines, "{} edges where {lines} were announced", edges.len());
    Ok((vertices, edges))
}

/// Parses lines `FROM,TO` or `FROM,TO,WEIGHT`; vertices count from 0. `#` begins a comment; the first line may be a
/// heading.
fn parse_csv(text: &str, most_weight: u32) -> Result<(u32, Vec<Edge>)> {
    /// Limits the memory that a single wrong number can request.
    const MOST_VERTEX: u32 = (1 << 28) - 1;
    let mut random = Random::new(1);
    let mut edges = Vec::new();
    let mut vertices = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let heading = number == 1 && line.starts_with(char::is_alphabetic) && line.contains(',');
        if line.is_empty() || line.starts_with('#') || heading {
            continue;
        }
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let (from, to, weight) = match fields[..] {
            [from, to] => (from, to, None),
            [from, to, weight] => (from, to, Some(weight)),
            _ => bail!("line {number}: neither `FROM,TO` nor `FROM,TO,WEIGHT`: {line}"),
        };
        let vertex = |field| {
            let vertex: u32 = number_of(field, number)?;
            ensure!(vertex <= MOST_VERTEX, "line {number}: vertex {vertex} is beyond {MOST_VERTEX}");
            Ok(vertex)
        };
        let weight = weight.map_or_else(|| Ok(random.one_to(most_weight)), |field| number_of(field, number))?;
        let edge = Edge { from: vertex(from)?, to: vertex(to)?, weight };
        vertices = vertices.max(edge.from + 1).max(edge.to + 1);
        edges.push(edge);
    }
    Ok((vertices, edges))
}

fn number_of<T: std::str::FromStr>(field: &str, line: usize) -> Result<T> {
    field.parse().ok().with_context(|| format!("line {line}: {field:?} is no number that fits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: u32, to: u32, weight: u32) -> Edge {
        Edge { from, to, weight }
    }

    #[test]
    fn dimacs_lines_are_edges() {
        let text = "c a comment\np sp 3 2\n\na 1 2 535\r\na 3 1 0\n";
        assert_eq!(parse_gr(text).unwrap(), (3, vec![edge(0, 1, 535), edge(2, 0, 0)]));
    }

    #[test]
    fn lists_of_edges_may_have_weights_and_a_heading() {
        assert_eq!(
            parse_csv("id_1,id_2,w\n0,5,7\n# why\n 2 , 3 , 1\n", 9).unwrap(),
            (6, vec![edge(0, 5, 7), edge(2, 3, 1)])
        );
        let (vertices, edges) = parse_csv("0,1\n1,2\n2,3\n", 2).unwrap();
        assert_eq!((vertices, edges.len()), (4, 3));
        assert!(edges.iter().all(|e| (1..=2).contains(&e.weight)), "{edges:?}");
        assert_eq!(parse_csv("0,1\n1,2\n2,3\n", 2).unwrap().1, edges, "the same weights every time");
    }

    #[test]
    fn malformed_lines_are_refused_by_number() {
        for (text, said) in [
            ("a 1 2 3\n", "line 1: an edge before the problem"),
            ("p sp 2 1\np sp 2 1\n", "line 2: a second problem"),
            ("p sp 2 1\na 1 3 3\n", "line 2: 3 is no vertex of 1 to 2"),
            ("p sp 2 1\na 0 1 3\n", "line 2: 0 is no vertex"),
            ("p sp 2 1\nc\na 1 2 -3\n", "line 3: \"-3\" is no number"),
            ("p sp 2 1\na 1 2 4294967296\n", "line 2: \"4294967296\""),
            ("p sp 2 1\na 1 2\n", "line 2: neither"),
            ("p max 2 1\n", "line 1: neither"),
            ("p sp 2 2\na 1 2 3\n", "1 edges where 2 were announced"),
            ("c nothing\n", "no line `p sp"),
        ] {
            let error = parse_gr(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text:?}: {error}");
        }
        for (text, said) in [
            ("0,1\n2\n", "line 2: neither"),
            ("0,1\n0,1,2,3\n", "line 2: neither"),
            ("0,1\n\nid,2\n", "line 3: \"id\""),
            ("0;1\n", "line 1: neither"),
            ("zero\n", "line 1: neither"),
            ("0,-1\n", "line 1: \"-1\""),
            ("0,268435456\n", "line 1: vertex 268435456"),
        ] {
            let error = parse_csv(text, 9).unwrap_err().to_string();
            assert!(error.contains(said), "{text:?}: {error}");
        }
    }
}
