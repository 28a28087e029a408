//! Runs the built example as a user does: on small meshes, on real ones, and on files that it must reject.

mod example;
#[allow(dead_code, reason = "nothing is noted here")]
#[path = "common/harness.rs"]
mod harness;

use example::{Example, data, folder_with};
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;

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

/// Runs the job on a mesh with codes of both widths. Returns the numbers of the narrow codes and the share of the
/// picture that the mesh covers. The trees differ, but the hits do not, and wide codes have fewer ties.
fn build(mesh: Option<&str>, folder: &Path) -> (Value, f64) {
    let (narrow, narrow_pixels, covered) = build_with(30, mesh, folder);
    let (wide, wide_pixels, _) = build_with(63, mesh, folder);
    let [few, many] = [&wide, &narrow].map(|numbers| numbers["ties"].as_u64().expect("ties"));
    println!("{}: {many} ties of 30 bits, {few} of 63", mesh.unwrap_or("pebbles"));
    assert!(few <= many, "{mesh:?}: {few} ties of 63 bits, {many} of 30");
    assert_eq!(wide["triangles"], narrow["triangles"], "{mesh:?}");
    // If a ray meets an edge, the tree determines which of the two triangles shades it.
    let differing = narrow_pixels.iter().zip(&wide_pixels).filter(|(a, b)| a.abs_diff(**b) > 2).count();
    assert!(differing * 1000 <= narrow_pixels.len(), "{mesh:?}: {differing} of {} bytes differ", narrow_pixels.len());
    (narrow, covered)
}

/// Runs the job once and checks its numbers and both pictures. Returns the numbers, the picture, and the share of it
/// that the mesh covers.
fn build_with(bits: u32, mesh: Option<&str>, folder: &Path) -> (Value, Vec<u8>, f64) {
    let bits_text = bits.to_string();
    let mut arguments =
        vec!["--size", "96x72", "--samples", "4", "--builds", "2", "--json", "n.json", "--morton", &bits_text];
    arguments.extend(["--out", "p.png", "--heat", "h.png"]);
    arguments.extend(mesh.iter().flat_map(|mesh| ["--mesh", mesh]));
    let output = LBVH.run(&arguments, folder);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{mesh:?}: {printed}");
    for heading in
        ["triangles", "morton", "sort ms", "build ms", "total ms", "Mtris/s", "SAH cost", "depth", "ties", "valid"]
    {
        assert!(printed.contains(heading), "{heading} is missing from the table:\n{printed}");
    }

    let numbers = std::fs::read_to_string(folder.join("n.json")).expect("the numbers were written");
    let numbers: Value = serde_json::from_str(&numbers).expect("JSON");
    assert_eq!(numbers["valid"], true, "{mesh:?}: {numbers}");
    assert_eq!(numbers["morton_bits"], bits);
    assert!(numbers["device"].as_str().is_some_and(|name| !name.is_empty()), "{numbers}");
    for time in ["sort_ms", "build_ms"] {
        // Null if the queue has no timestamps.
        assert!(numbers[time].is_null() || numbers[time].as_f64().is_some_and(|ms| ms >= 0.0), "{numbers}");
    }
    check_secondary(&numbers["secondary"], 1, [96, 72], &printed);

    for file in ["p.png", "h.png"] {
        let (extent, pixels, _) = survey(&folder.join(file), |_| true);
        assert_eq!(extent, [96, 72], "{file} has the size asked for");
        for channel in 0..3 {
            let values = pixels.iter().skip(channel).step_by(3);
            let range = values.clone().max().expect("pixels") - values.min().expect("pixels");
            assert!(range > 40, "{mesh:?}: {file} is nearly constant");
        }
    }
    // Only meshes without colors have the clay material: far more red than blue.
    let (_, pixels, covered) = survey(&folder.join("p.png"), |p| i32::from(p[0]) - i32::from(p[2]) > 24);
    (numbers, pixels, covered)
}

/// Checks the report on secondary rays: `rays_a_pixel` for each pixel that shows the mesh. The example itself compares
/// the split with a CPU split, both traversals with each other, and rays with a CPU traversal. It fails on any
/// difference.
fn check_secondary(secondary: &Value, rays_a_pixel: u64, [width, height]: [u64; 2], printed: &str) {
    for heading in ["secondary rays", "hits", "split ms", "as they lie ms", "by octants ms", "change", "with split"] {
        assert!(printed.contains(heading), "{heading} is missing from the table:\n{printed}");
    }
    assert_eq!(secondary["valid"], true, "{secondary}");
    let [rays, hits] = ["rays", "hits"].map(|name| secondary[name].as_u64().expect("a count"));
    assert!(rays % rays_a_pixel == 0 && rays <= width * height * rays_a_pixel && hits <= rays, "{secondary}");
    assert_eq!(octants(secondary).iter().sum::<u64>(), rays, "{secondary}");
    let times = ["split_ms", "as_they_lie_ms", "by_octants_ms"].map(|name| secondary[name].as_f64());
    // All are null if the queue has no timestamps.
    let [Some(split), Some(as_they_lie), Some(by_octants)] = times else {
        return assert_eq!(times, [None; 3], "{secondary}");
    };
    assert!(split >= 0.0 && as_they_lie >= 0.0 && by_octants >= 0.0, "{secondary}");
    if as_they_lie > 0.0 {
        for (name, ms) in [("change", by_octants), ("change_with_split", split + by_octants)] {
            let reported = secondary[name].as_f64().expect("a change");
            assert!(
                (reported - (ms / as_they_lie - 1.0)).abs() < 1e-6 * (1.0 + reported.abs()),
                "{name} of {secondary}"
            );
        }
    }
}

fn octants(secondary: &Value) -> Vec<u64> {
    let octants = secondary["octants"].as_array().expect("octants");
    assert_eq!(octants.len(), 8, "{secondary}");
    octants.iter().map(|count| count.as_u64().expect("a count")).collect()
}

/// The example's numbers on secondary rays, and its output.
fn bounce(arguments: &[&str], folder: &Path) -> (Value, String) {
    let output = LBVH.run(&[&["--samples", "1", "--json", "n.json"], arguments].concat(), folder);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {printed}");
    let numbers = std::fs::read_to_string(folder.join("n.json")).expect("the numbers were written");
    let mut numbers: Value = serde_json::from_str(&numbers).expect("JSON");
    (numbers["secondary"].take(), printed)
}

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0.5 0 1\nv 0.5 1 0.5\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

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

fn a_mesh_of_one_point_is_built() {
    let folder = folder_with(&[("point.obj", "v 1 2 3\nf 1 1 1\nf 1 1 1\nf 1 1 1\n")]);
    let output =
        LBVH.run(&["--mesh", "point.obj", "--size", "16x16", "--samples", "1", "--json", "n.json"], folder.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let numbers = std::fs::read_to_string(folder.path().join("n.json")).expect("the numbers were written");
    let numbers: Value = serde_json::from_str(&numbers).expect("JSON");
    assert_eq!((&numbers["valid"], &numbers["triangles"]), (&true.into(), &3.into()));
}

/// A centroid for each bit of a 63-bit code, all others zero, before one last and 2048 at the origin: each bit is a
/// level of the tree, and the index adds eleven. The triangles are large, so that a ray leaves a child behind at every
/// level.
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
        // Half a cell more, so that rounding moves no quotient to another cell.
        let mut center = [0.0; 3];
        center[2 - bit % 3] = (f64::from(1u32 << (bit / 3)) + 0.5) / f64::from(1u32 << 21);
        add(center);
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

/// Rays that leave a convex body do not hit it. Rays that leave a wall stay on its side, for every axis, and reach all
/// four octants there.
fn bounced_rays_go_where_surfaces_face() {
    let wall = |axis: usize| {
        let corner = |[a, b]: [i32; 2]| {
            let mut at = [0; 3];
            (at[(axis + 1) % 3], at[(axis + 2) % 3]) = (a, b);
            format!("v {} {} {}\n", at[0], at[1], at[2])
        };
        [[0, 0], [1, 0], [1, 1], [0, 1]].map(corner).concat() + "f 1 2 3 4\n"
    };
    let folder =
        folder_with(&[("tetrahedron.obj", TETRAHEDRON), ("x.obj", &wall(0)), ("y.obj", &wall(1)), ("z.obj", &wall(2))]);
    let (body, printed) = bounce(&["--mesh", "tetrahedron.obj", "--size", "48x40", "--secondary", "4"], folder.path());
    check_secondary(&body, 4, [48, 40], &printed);
    assert_eq!(body["hits"], 0, "{body}");
    // Normals of any length: their squares exceed the range of floats.
    for exponent in ["e11", "e-12"] {
        let corners: String = [[0, 0, 0], [2, 0, 0], [1, 0, 2], [1, 2, 1]]
            .iter()
            .map(|[x, y, z]| format!("v {x}{exponent} {y}{exponent} {z}{exponent}\n"))
            .collect();
        let folder = folder_with(&[("scaled.obj", &(corners + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"))]);
        let (scaled, _) = bounce(&["--mesh", "scaled.obj", "--size", "48x40", "--secondary", "4"], folder.path());
        assert_eq!((&scaled["rays"], &scaled["hits"]), (&body["rays"], &0.into()), "{exponent}: {scaled}");
    }
    // The camera sees each wall from above, from the front, or from the left or right, by its orientation.
    for (axis, turn, negative) in
        [("x", "90", false), ("x", "-90", true), ("y", "0", false), ("z", "0", false), ("z", "180", true)]
    {
        let mesh = format!("{axis}.obj");
        let arguments =
            ["--mesh", &mesh, "--up", "y", "--turn", turn, "--size", "33x21", "--secondary", "3", "--builds", "2"];
        let (rays, printed) = bounce(&arguments, folder.path());
        check_secondary(&rays, 3, [33, 21], &printed);
        assert_eq!(rays["hits"], 0, "{axis} {turn}: {rays}");
        let bit = ["x", "y", "z"].iter().position(|name| *name == axis).expect("an axis");
        for (octant, count) in octants(&rays).into_iter().enumerate() {
            assert_eq!(count > 0, (octant >> bit & 1 == 1) == negative, "{axis} {turn}: {rays}");
        }
    }
}

/// Two walls that face each other across an edge: about every fifth ray that leaves one hits the other. The rays are
/// the same for both code widths.
fn bounced_rays_meet_what_they_face() {
    let folder = folder_with(&[(
        "corner.obj",
        "v 0 0 0\nv 0 1 0\nv 1 0 1\nv 1 1 1\nv -1 0 1\nv -1 1 1\nf 1 3 4 2\nf 1 2 6 5\n",
    )]);
    let [narrow, wide] = ["30", "63"].map(|bits| {
        let arguments = [
            "--mesh",
            "corner.obj",
            "--up",
            "y",
            "--turn",
            "24",
            "--size",
            "64x64",
            "--secondary",
            "16",
            "--morton",
            bits,
        ];
        let (rays, printed) = bounce(&arguments, folder.path());
        check_secondary(&rays, 16, [64, 64], &printed);
        rays
    });
    let [rays, hits] = ["rays", "hits"].map(|name| narrow[name].as_f64().expect("a count"));
    assert!(rays > 10_000.0 && (0.1..0.3).contains(&(hits / rays)), "{narrow}");
    assert_eq!(narrow["rays"], wide["rays"], "{wide}");
    // An edge that a ray meets belongs to two triangles.
    for (few, many) in octants(&narrow).into_iter().zip(octants(&wide)) {
        assert!(few.abs_diff(many) as f64 <= 0.001 * rays, "{narrow} {wide}");
    }
}

fn secondary_rays_are_as_many_as_are_asked_for() {
    let folder = folder_with(&[("tetrahedron.obj", TETRAHEDRON), ("point.obj", "v 1 2 3\nf 1 1 1\n")]);
    let (none, printed) = bounce(&["--mesh", "tetrahedron.obj", "--size", "16x16", "--secondary", "0"], folder.path());
    assert!(none.is_null() && !printed.contains("secondary"), "{none} {printed}");
    let [one, seven] = ["1", "7"].map(|count| {
        let (rays, printed) =
            bounce(&["--mesh", "tetrahedron.obj", "--size", "16x16", "--secondary", count], folder.path());
        check_secondary(&rays, count.parse().expect("a number"), [16, 16], &printed);
        rays["rays"].as_u64().expect("a count")
    });
    assert!(one > 0 && seven == 7 * one, "{one} {seven}");
    // Nothing is hit, and nothing leaves.
    let (empty, printed) = bounce(&["--mesh", "point.obj", "--size", "16x16"], folder.path());
    check_secondary(&empty, 1, [16, 16], &printed);
    assert_eq!(empty["rays"], 0, "{empty}");
}

fn real_meshes_are_built_and_seen(meshes: &Path) {
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

fn without_a_file_a_large_scene_is_built() {
    let folder = folder_with(&[]);
    let (numbers, _) = build(None, folder.path());
    assert!(numbers["triangles"].as_u64().is_some_and(|n| n > 200_000), "{numbers}");
}

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
    let refused: [(&[&str], &str); 16] = [
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
        (&["--mesh", "tetrahedron.obj", "--size", "2048x2048", "--secondary", "3"], "more than the 2 that"),
    ];
    LBVH.assert_refused(&refused, folder.path());
}

fn main() -> ExitCode {
    let mut tests = Vec::from(harness::tests![
        small_meshes_are_built_and_seen,
        a_mesh_of_one_point_is_built,
        the_deepest_tree_is_built_and_seen,
        bounced_rays_go_where_surfaces_face,
        bounced_rays_meet_what_they_face,
        secondary_rays_are_as_many_as_are_asked_for,
        without_a_file_a_large_scene_is_built,
        bad_input_is_refused_in_one_line,
    ]);
    // Runs on real data if it is available. Otherwise the test is listed and counted as ignored.
    let meshes = data("meshes");
    let is_missing = meshes.is_none();
    let on_real_data = harness::test("real_meshes_are_built_and_seen", move || {
        meshes.iter().for_each(|meshes| real_meshes_are_built_and_seen(meshes))
    });
    tests.push(on_real_data.with_ignored_flag(is_missing));
    harness::run(tests, || Ok(()))
}
