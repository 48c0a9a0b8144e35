//! Renderers of the engine's [`Report`](fusec_engine::report::Report): text, JSON, HTML.

mod dot;
mod html;
mod numbers;
mod text;

pub use dot::dot;
pub use html::html;
pub use numbers::{count, range};
pub use text::text;

use anyhow::Result;
use fusec_engine::report::Report;

/// The contract itself, indented.
pub fn json(report: &Report) -> Result<String> {
    Ok(serde_json::to_string_pretty(report)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Report {
        serde_json::from_str(include_str!("../../tests/fixtures/report.json")).unwrap()
    }

    /// Without colour codes, as a pipe sees it.
    fn plain(styled: &str) -> String {
        anstream::adapter::strip_str(styled).to_string()
    }

    #[test]
    fn text_form() {
        insta::assert_snapshot!(plain(&text(&sample())));
    }

    #[test]
    fn html_form() {
        insta::assert_snapshot!(html(&sample(), "a = f(x)\nb = g(a)\n", "b = fg(x) # <1>\n"));
    }

    #[test]
    fn json_form_reads_back() {
        let report = sample();
        let back: Report = serde_json::from_str(&json(&report).unwrap()).unwrap();
        assert_eq!(report, back);
    }
}
