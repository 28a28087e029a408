//! PNG files.

use anyhow::{Context as _, Result};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Writes RGBA8 pixels as an opaque sRGB picture.
pub(crate) fn write(path: &Path, width: u32, height: u32, pixels: &[[u8; 4]]) -> Result<()> {
    let encode = || -> Result<()> {
        let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let rgb: Vec<u8> = pixels.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect();
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&rgb)?;
        writer.finish()?;
        Ok(())
    };
    encode().with_context(|| format!("cannot write {}", path.display()))
}
