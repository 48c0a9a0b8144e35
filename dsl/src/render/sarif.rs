//! SARIF 2.1.0, for code scanning services.

use super::Region;
use crate::diagnostic::{Code, Diagnostic, Edit};
use crate::source::{SourceMap, Span};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn render(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let rules: Vec<Code> =
        diagnostics.iter().map(|d| d.code).collect::<BTreeSet<_>>().into_iter().collect();
    let results: Vec<Value> = diagnostics.iter().map(|d| result(d, &rules, sources)).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "fusec",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.iter().map(|c| json!({ "id": c.as_str() })).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn result(d: &Diagnostic, rules: &[Code], sources: &SourceMap) -> Value {
    let mut result = json!({
        "ruleId": d.code.as_str(),
        "ruleIndex": rules.iter().position(|c| *c == d.code),
        "level": d.severity().as_str(),
        "message": { "text": message(d) },
        "locations": [location(d.span(), sources)],
    });
    let related: Vec<Value> = d
        .labels
        .iter()
        .filter(|l| !l.primary)
        .map(|l| {
            let mut at = location(l.span, sources);
            at["message"] = json!({ "text": l.text });
            at
        })
        .collect();
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    let fixes: Vec<Value> =
        d.help.iter().filter_map(|h| h.edit.as_ref().map(|e| fix(&h.text, e, sources))).collect();
    if !fixes.is_empty() {
        result["fixes"] = json!(fixes);
    }
    result
}

/// SARIF has one text: the message, what is at the place, the facts and the ways out.
fn message(d: &Diagnostic) -> String {
    let mut lines = vec![d.message.clone()];
    lines.extend(
        d.labels.iter().filter(|l| l.primary && !l.text.is_empty()).map(|l| l.text.clone()),
    );
    lines.extend(d.notes.iter().map(|n| format!("note: {n}")));
    lines.extend(d.help.iter().map(|h| format!("help: {}", h.text)));
    lines.join("\n")
}

fn location(span: Span, sources: &SourceMap) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(&sources.get(span.file).path) },
        "region": region(span, sources),
    }})
}

fn region(span: Span, sources: &SourceMap) -> Value {
    let r = Region::of(span, sources);
    json!({
        "startLine": r.line,
        "startColumn": r.col,
        "endLine": r.end_line,
        "endColumn": r.end_col,
    })
}

fn fix(text: &str, edit: &Edit, sources: &SourceMap) -> Value {
    json!({
        "description": { "text": text },
        "artifactChanges": [{
            "artifactLocation": { "uri": uri(&sources.get(edit.span.file).path) },
            "replacements": [{
                "deletedRegion": region(edit.span, sources),
                "insertedContent": { "text": edit.text },
            }],
        }],
    })
}

/// A path as a relative URI reference: what is not plainly allowed is percent-encoded.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for b in path.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                out.push(b as char);
            }
            b => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}
