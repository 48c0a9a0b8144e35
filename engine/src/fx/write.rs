//! A [`Document`] to JSON: one node a line, so that a diff of two files is readable.

use super::Document;
use indexmap::IndexMap;
use serde::Serialize;
use std::io::Write;

/// The document as JSON text, ending in a newline.
pub fn write(doc: &Document) -> String {
    let mut out = Writer { text: String::from("{"), first: true };
    out.plain("schema", &doc.schema);
    out.plain("schema_version", &doc.schema_version);
    out.plain("name", &doc.name);
    out.plain("capture", &doc.capture);
    out.plain("producer", &doc.producer);
    out.plain("source", &doc.source);
    out.plain("notes", &doc.notes);
    out.lines("symbols", &doc.symbols);
    out.table("exprs", &doc.exprs);
    out.lines("inputs", &doc.inputs);
    out.lines("nodes", &doc.nodes);
    out.plain("output_container", &doc.output_container);
    out.lines("outputs", &doc.outputs);
    out.table("ops", &doc.ops);
    out.table("graphs", &doc.graphs);
    out.table("constants", &doc.constants);
    out.plain("warnings", &doc.warnings);
    out.text.push_str("\n}\n");
    out.text
}

/// The document as gzip, without a time or a name in it: same document, same bytes.
pub fn write_gzip(doc: &Document) -> Vec<u8> {
    let mut gz = flate2::GzBuilder::new().mtime(0).write(Vec::new(), flate2::Compression::best());
    // Writing to memory cannot fail; an empty result would be caught by the first reader.
    gz.write_all(write(doc).as_bytes()).and_then(|()| gz.finish()).unwrap_or_default()
}

struct Writer {
    text: String,
    first: bool,
}

impl Writer {
    fn key(&mut self, key: &str) {
        self.text.push_str(if std::mem::take(&mut self.first) { "\n" } else { ",\n" });
        self.text.push_str(&json(key));
        self.text.push(':');
    }

    fn plain(&mut self, key: &str, value: &impl Serialize) {
        self.key(key);
        self.text.push_str(&json(value));
    }

    fn lines<T: Serialize>(&mut self, key: &str, items: &[T]) {
        if items.is_empty() {
            return self.plain(key, &items);
        }
        self.key(key);
        self.text.push('[');
        for (i, item) in items.iter().enumerate() {
            self.text.push_str(if i == 0 { "\n " } else { ",\n " });
            self.text.push_str(&json(item));
        }
        self.text.push_str("\n]");
    }

    fn table<T: Serialize>(&mut self, key: &str, items: &IndexMap<String, T>) {
        if items.is_empty() {
            return self.plain(key, items);
        }
        self.key(key);
        self.text.push('{');
        for (i, (name, item)) in items.iter().enumerate() {
            self.text.push_str(if i == 0 { "\n " } else { ",\n " });
            self.text.push_str(&json(name));
            self.text.push(':');
            self.text.push_str(&json(item));
        }
        self.text.push_str("\n}");
    }
}

/// Compact JSON. Every type of the schema has string keys, so it cannot fail.
pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> String {
    let mut out = Vec::new();
    let mut to = serde_json::Serializer::with_formatter(&mut out, Python);
    let written = value.serialize(&mut to).is_ok();
    String::from_utf8(out).ok().filter(|_| written).unwrap_or_default()
}

/// Floats (only free-form parts have them) as Python writes them.
struct Python;

impl serde_json::ser::Formatter for Python {
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> std::io::Result<()> {
        out.write_all(super::python_float(value).as_bytes())
    }
}
