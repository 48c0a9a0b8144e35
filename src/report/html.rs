//! The report as one self-contained page: counts, costs, sites, and the graph before and after.

use super::numbers::{cost_rows, micros, range};
use fusec_engine::report::{FusionReport, Report, Verdict};
use similar::{ChangeTag, TextDiff};
use std::fmt::Write;

const STYLE: &str = include_str!("report.css");

/// The page. `before` and `after` are the graph's text forms.
pub fn html(report: &Report, before: &str, after: &str) -> String {
    let mut page = String::new();
    let title = format!("{} on {}", escape(&report.graph), escape(&report.target));
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n<h1>{title}</h1>\n"
    );
    for warning in &report.warnings {
        let _ = writeln!(page, "<p class=\"warn\">{}</p>", escape(&warning.message));
    }
    for index in 0..report.ranges.len() {
        range_section(&mut page, report, index);
    }
    lists(&mut page, report);
    diff(&mut page, before, after);
    page.push_str("</html>\n");
    page
}

fn range_section(page: &mut String, report: &Report, index: usize) {
    let r = &report.ranges[index];
    let _ = writeln!(page, "<h2>{}</h2>", escape(&range(r)));
    let verdict = if r.extraction.optimal { "proven optimal" } else { "not proven optimal" };
    let _ = writeln!(page, "<table><tr><th>{verdict}<th>before<th>after<th>change</tr>");
    for row in cost_rows(&r.cost) {
        let cells: Vec<String> = row.iter().map(|c| format!("<td>{}", escape(c))).collect();
        let _ = writeln!(page, "<tr>{}</tr>", cells.concat());
    }
    page.push_str("</table>\n<table><tr><th>fusion<th>matched<th>chosen<th>sites</tr>\n");
    for f in report.fusions.iter().filter(|f| f.range == index) {
        fusion_row(page, f);
    }
    page.push_str("</table>\n");
}

fn fusion_row(page: &mut String, f: &FusionReport) {
    let class = if f.chosen > 0 { "yes" } else { "no" };
    let _ = write!(
        page,
        "<tr class=\"{class}\"><td><code>{}</code><td>{}<td>{}<td>",
        escape(&f.name),
        f.matched,
        f.chosen
    );
    for r in &f.refused {
        let verdict = match r.verdict {
            Verdict::False => "refused",
            Verdict::Undecided => "undecided",
        };
        let _ = write!(
            page,
            "<p>{} &times; {verdict} by <code>{}</code> {}</p>",
            r.count,
            escape(&r.guard),
            escape(&r.seen)
        );
    }
    if !f.sites.is_empty() {
        let _ = write!(page, "<details><summary>{} matched</summary><ul>", f.sites.len());
        for s in &f.sites {
            let what = match (&s.instead, s.chosen) {
                (_, true) => "chosen".to_string(),
                (Some(other), _) => format!("taken by {}", escape(other)),
                (None, _) => "unfused is cheaper".to_string(),
            };
            let nodes = escape(&s.nodes.join(", "));
            let (before, after) = (micros(s.before_us), micros(s.after_us));
            let _ = write!(page, "<li><code>{nodes}</code>: {what}, {before} &rarr; {after}");
        }
        page.push_str("</ul></details>");
    }
    page.push_str("</tr>\n");
}

fn lists(page: &mut String, report: &Report) {
    page.push_str("<h2>Ops</h2>\n<table><tr><th>op<th>before<th>after</tr>\n");
    for op in report.ops.iter().filter(|o| o.before != o.after) {
        let name = escape(&op.op);
        let _ = writeln!(page, "<tr><td><code>{name}</code><td>{}<td>{}</tr>", op.before, op.after);
    }
    page.push_str("</table>\n");
    if !report.lifted.is_empty() {
        page.push_str("<h2>Rewrites</h2>\n<table>\n");
        for l in &report.lifted {
            let _ = writeln!(page, "<tr><td><code>{}</code><td>{}</tr>", escape(&l.name), l.count);
        }
        page.push_str("</table>\n");
    }
}

fn diff(page: &mut String, before: &str, after: &str) {
    page.push_str("<h2>Graph</h2>\n<pre>");
    let diff = TextDiff::from_lines(before, after);
    for (i, group) in diff.grouped_ops(3).iter().enumerate() {
        if i > 0 {
            page.push_str("<i>&hellip;</i>\n");
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (tag, sign) = match change.tag() {
                ChangeTag::Delete => ("del", '-'),
                ChangeTag::Insert => ("ins", '+'),
                ChangeTag::Equal => ("span", ' '),
            };
            let line = escape(change.value().trim_end_matches('\n'));
            let _ = writeln!(page, "<{tag}>{sign} {line}</{tag}>");
        }
    }
    page.push_str("</pre>\n");
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
