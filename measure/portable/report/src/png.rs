//! Pictures as PNG, with fonts that are built into the program: the machine may have none.

use anyhow::{Context, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

/// Pixels per unit of a drawing.
const ZOOM: f32 = 2.0;

/// Renders SVG as PNG.
#[derive(Debug)]
pub struct Painter {
    fonts: Arc<Database>,
}

impl Painter {
    /// A painter with the fonts that the drawings name first.
    pub fn new() -> Painter {
        let mut fonts = Database::new();
        fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
        fonts.load_font_data(notosans::BOLD_TTF.to_vec());
        fonts.set_sans_serif_family("Noto Sans");
        Painter { fonts: Arc::new(fonts) }
    }

    /// The bytes of a PNG file.
    pub fn paint(&self, svg: &str) -> Result<Vec<u8>> {
        let options = Options { fontdb: self.fonts.clone(), font_family: "Noto Sans".into(), ..Options::default() };
        let tree = Tree::from_str(svg, &options).context("a drawing is no SVG")?;
        let size = tree.size().to_int_size().scale_by(ZOOM).context("a drawing has no size")?;
        let mut pixels = Pixmap::new(size.width(), size.height()).context("a drawing is too large")?;
        resvg::render(&tree, Transform::from_scale(ZOOM, ZOOM), &mut pixels.as_mut());
        pixels.encode_png().context("a picture cannot be encoded as PNG")
    }
}
