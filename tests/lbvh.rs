//! The main job, run as a user runs it: the built example on small meshes, on real ones, and on files that it must refuse.

mod example;

use example::{Example, data, folder_with};
use serde_json::Value;
use std::path::Path;

static LBVH: Example = Example::new("lbvh");

/// A picture's size, its RGB bytes, and the share of the pixels that `counts` accepts.
fn survey(file: &Path, counts: impl Fn(&[u8]) -> bool) -> ([u32; 2], Vec<u8>, f64) {
    let reader = std::io::BufReader::new(std::fs::File::open(file).expect("the picture was written"));
    let mut reader = png::Decoder::new(reader).read_info().expect("a PNG header");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    pixels.truncate(info.buffer_size());
    assert_eq!(info.color_type, png::ColorType::Rgb, "{}", file.display());
    let counted = pixels.chunks_exact(3).filter(|pixel| counts(pixel)).count();
    let share = counted as f64 / f64::from(info.width * info.height);
    ([info.width, info.height], pixels, share)
}

/// Runs the job on a mesh with codes of both widths, and returns the numbers of the narrow ones and how much of the picture
/// the mesh covers. The trees differ, but what the rays meet does not, and wide codes tell apart what narrow ones do.
fn build(mesh: Option<&str>, folder: &Path) -> (Value, f64) {
    let (narrow, narrow_pixels, covered) = build_with(30, mesh, folder);
    let (wide, wide_pixels, _) = build_with(63, mesh, folder);
    let [few, many] = [&wide, &narrow].map(|numbers| numbers["ties"].as_u64().expect("ties"));
    println!("{}: {many} ties of 30 bits, {few} of 63", mesh.unwrap_or("pebbles"));
    assert!(few <= many, "{mesh:?}: {few} ties of 63 bits, {many} of 30");
    assert_eq!(wide["triangles"], narrow["triangles"], "{mesh:?}");
    // Where two triangles share the edge that a ray meets, the tree decides whose corners shade it.
    let differing = narrow_pixels.iter().zip(&wide_pixels).filter(|(a, b)| a.abs_diff(**b) > 2).count();
    assert!(differing * 1000 <= narrow_pixels.len(), "{mesh:?}: {differing} of {} bytes differ", narrow_pixels.len());
    (narrow, covered)
}

/// Runs the job once, checks its numbers and both pictures, and returns the numbers, the picture and how much of it the mesh covers.
fn build_with(bits: u32, mesh: Option<&str>, folder: &Path) -> (Value, Vec<u8>, f64) {
    let bits_text = bits.to_string();
    let mut arguments = vec!["--size", "96x72", "--samples", "4", "--builds", "2", "--json", "n.json", "--morton", &bits_text];
    arguments.extend(["--out", "p.png", "--heat", "h.png"]);
    arguments.extend(mesh.iter().flat_map(|mesh| ["--mesh", mesh]));
    let output = LBVH.run(&arguments, folder);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{mesh:?}: {printed}");
    for heading in ["triangles", "morton", "sort ms", "build ms", "total ms", "Mtris/s", "SAH cost", "depth", "ties", "valid"] {
        assert!(printed.contains(heading), "{heading} is missing from the table:\n{printed}");
    }

    let numbers = std::fs::read_to_string(folder.join("n.json")).expect("the numbers were written");
    let numbers: Value = serde_json::from_str(&numbers).expect("JSON");
    assert_eq!(numbers["valid"], true, "{mesh:?}: {numbers}");
    assert_eq!(numbers["morton_bits"], bits);
    assert!(numbers["device"].as_str().is_some_and(|name| !name.is_empty()), "{numbers}");
    for time in ["sort_ms", "build_ms"] {
        // Null where the queue has no timestamps.
        assert!(numbers[time].is_null() || numbers[time].as_f64().is_some_and(|ms| ms >= 0.0), "{numbers}");
    }

    for file in ["p.png", "h.png"] {
        let (extent, pixels, _) = survey(&folder.join(file), |_| true);
        assert_eq!(extent, [96, 72], "{file} has the size asked for");
        for channel in 0..3 {
            let values = pixels.iter().skip(channel).step_by(3);
            let range = values.clone().max().expect("pixels") - values.min().expect("pixels");
            assert!(range > 40, "{mesh:?}: {file} is nearly constant");
        }
    }
    // The meshes without colours are of clay, and nothing else is: far more red than blue.
    let (_, pixels, covered) = survey(&folder.join("p.png"), |p| i32::from(p[0]) - i32::from(p[2]) > 24);
    (numbers, pixels, covered)
}

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0.5 0 1\nv 0.5 1 0.5\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

#[test]
fn small_meshes_are_built_and_seen() {
    let identical = format!("v 0 0 0\nv 1 0 0\nv 0 1 0\n{}", "f 1 2 3\n".repeat(300));
    let folder = folder_with(&[
        ("tetrahedron.obj", TETRAHEDRON),
        ("one.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
        ("two.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf -3 -1 -2\n"),
        ("quad.obj", "o a\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\no b\nf 1 2 3 4\n"),
        ("identical.obj", &identical),
    ]);
    for (mesh, triangles, depth) in
        [("tetrahedron", 4, 2..=3), ("one", 1, 0..=0), ("two", 2, 1..=1), ("quad", 2, 1..=1), ("identical", 300, 9..=9)]
    {
        let (numbers, covered) = build(Some(&format!("{mesh}.obj")), folder.path());
        assert_eq!(numbers["triangles"], triangles, "{mesh}");
        let found = numbers["depth"].as_u64().expect("a depth");
        assert!(depth.contains(&found), "{mesh}: depth {found}");
        assert!(numbers["sah_cost"].as_f64().is_some_and(|cost| cost >= 1.0), "{mesh}: {numbers}");
        assert!((0.08..0.9).contains(&covered), "{mesh}: covers {covered} of its picture");
    }
}

#[test]
fn a_mesh_of_one_point_is_built() {
    let folder = folder_with(&[("point.obj", "v 1 2 3\nf 1 1 1\nf 1 1 1\nf 1 1 1\n")]);
    let output = LBVH.run(&["--mesh", "point.obj", "--size", "16x16", "--samples", "1", "--json", "n.json"], folder.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let numbers = std::fs::read_to_string(folder.path().join("n.json")).expect("the numbers were written");
    let numbers: Value = serde_json::from_str(&numbers).expect("JSON");
    assert_eq!((&numbers["valid"], &numbers["triangles"]), (&true.into(), &3.into()));
}

/// A centroid for each bit of a 63-bit code, all others zero, before one last and 2048 at the origin: each bit is a level
/// of the tree, and the index adds eleven. The triangles are large, so that a ray leaves a child behind at every level.
#[test]
fn the_deepest_tree_is_built_and_seen() {
    const AT_ORIGIN: usize = 2048;
    let mut corners = String::new();
    let mut faces = "f 1 2 3\n".repeat(AT_ORIGIN);
    let mut add = |[x, y, z]: [f64; 3]| {
        // The corners' offsets sum to zero, without rounding.
        for [a, b, c] in [[1.0, 0.0, -1.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]] {
            corners += &format!("v {} {} {}\n", x + a, y + b, z + c);
        }
    };
    add([0.0; 3]);
    for bit in 0..63 {
        // Half a cell more, so that no rounding of a quotient moves it to another.
        let mut centre = [0.0; 3];
        centre[2 - bit % 3] = (f64::from(1u32 << (bit / 3)) + 0.5) / f64::from(1u32 << 21);
        add(centre);
    }
    add([1.0; 3]);
    for first in (4..=4 + 3 * 63).step_by(3) {
        faces += &format!("f {first} {} {}\n", first + 1, first + 2);
    }
    let folder = folder_with(&[("deep.obj", &(corners + &faces))]);
    let (_, narrow, _) = build_with(30, Some("deep.obj"), folder.path());
    let (numbers, wide, _) = build_with(63, Some("deep.obj"), folder.path());
    assert_eq!((&numbers["depth"], &numbers["ties"]), (&(63 + 11).into(), &(AT_ORIGIN - 1).into()));
    let differing = narrow.iter().zip(&wide).filter(|(a, b)| a.abs_diff(**b) > 2).count();
    assert!(differing * 100 <= narrow.len(), "{differing} of {} bytes differ", narrow.len());
}

#[test]
fn real_meshes_are_built_and_seen() {
    let Some(meshes) = data("meshes") else { return };
    let folder = folder_with(&[]);
    for (mesh, triangles, covered_at_least) in
        [("stanford-bunny", 69_451, 0.15), ("nefertiti", 99_938, 0.08), ("spot", 5_856, 0.12)]
    {
        let path = meshes.join(format!("{mesh}.obj"));
        let (numbers, covered) = build(path.to_str(), folder.path());
        assert_eq!(numbers["triangles"], triangles, "{mesh}");
        let cost = numbers["sah_cost"].as_f64().expect("a cost");
        assert!((10.0..200.0).contains(&cost), "{mesh}: the tree is no better than a list: {cost}");
        assert!((covered_at_least..0.6).contains(&covered), "{mesh}: covers {covered} of its picture");
    }
}

#[test]
fn without_a_file_a_large_scene_is_built() {
    let folder = folder_with(&[]);
    let (numbers, _) = build(None, folder.path());
    assert!(numbers["triangles"].as_u64().is_some_and(|n| n > 200_000), "{numbers}");
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let folder = folder_with(&[
        ("empty.obj", ""),
        ("no-faces.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n"),
        ("points.obj", "v 0 0 0\nv 1 0 0\np 1\nl 1 2\n"),
        ("nan.obj", "v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n"),
        ("infinite.obj", "v 0 0 0\nv inf 0 0\nv 0 1 0\nf 1 2 3\n"),
        ("far.obj", "v 0 0 0\nv 1e30 0 0\nv 0 1 0\nf 1 2 3\n"),
        ("beyond.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n"),
        ("zero.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n"),
        ("negative.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -9\n"),
        ("huge.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9223372036854775807\n"),
        ("words.obj", "v 0 0 zero\nf 1 1 1\n"),
        ("tetrahedron.obj", TETRAHEDRON),
    ]);
    std::fs::write(folder.path().join("bytes.obj"), [0xff, 0xfe, 0x00, 0x80]).expect("a file");
    let refused: [(&[&str], &str); 15] = [
        (&["--mesh", "missing.obj"], "cannot open missing.obj"),
        (&["--mesh", "."], "cannot read ."),
        (&["--mesh", "empty.obj"], "empty"),
        (&["--mesh", "no-faces.obj"], "empty"),
        (&["--mesh", "points.obj"], "empty"),
        (&["--mesh", "nan.obj"], "NaN"),
        (&["--mesh", "infinite.obj"], "finite"),
        (&["--mesh", "far.obj"], "not supported"),
        (&["--mesh", "beyond.obj"], "out of range"),
        (&["--mesh", "zero.obj"], "out of range"),
        (&["--mesh", "negative.obj"], "out of range"),
        (&["--mesh", "huge.obj"], "out of range"),
        (&["--mesh", "words.obj"], "cannot read words.obj"),
        (&["--mesh", "bytes.obj"], "bytes.obj"),
        (&["--mesh", "tetrahedron.obj", "--size", "8x8", "--out", "no/such/folder.png"], "cannot write"),
    ];
    LBVH.assert_refused(&refused, folder.path());
}
