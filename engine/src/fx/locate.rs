//! Turns a parse error into one that names the node. Runs only after an error, so it may be slow.

use super::{Document, FxError, read::check_version};
use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use std::cell::RefCell;
use std::fmt;

/// The error of a document that did not parse.
pub(super) fn explain(bytes: &[u8], error: &serde_json::Error) -> FxError {
    let seen = RefCell::new(Seen::default());
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let whole = Outline(&seen).deserialize(&mut json).is_ok();
    let seen = seen.into_inner();
    if whole && !seen.is_object {
        return FxError::new("the file holds no JSON object").help("expected an `fxg` document");
    }
    // Another schema is the reason, whatever key it happens to lack; but only a file that is whole
    // is known to have no `schema` at all.
    if (whole || seen.schema.is_some())
        && let Err(e) = check_version(seen.schema.as_deref(), seen.version.as_deref())
        && (whole || seen.version.is_some())
    {
        return e;
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let path = match serde_path_to_error::deserialize::<_, Document>(&mut json) {
        Err(e) => e.path().to_string(),
        Ok(_) => String::new(),
    };
    syntax(error, whole).at(place(&path, &seen, error))
}

fn syntax(error: &serde_json::Error, whole: bool) -> FxError {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text).to_owned();
    match error.classify() {
        Category::Eof => FxError::new("the JSON ends early").help("the file was cut short"),
        _ if what.contains("recursion limit") => {
            FxError::new("values are nested too deeply").help("at most 60 levels are read")
        }
        // The file as such is JSON, so what stumbled was the reader of a tag.
        Category::Syntax if whole && what == "expected value" => {
            FxError::new("a second key beside a tag").help("a tag is the only key of its object")
        }
        Category::Syntax => FxError::new(format!("not JSON: {what}")),
        _ => FxError::new(what),
    }
}

fn place(path: &str, seen: &Seen, error: &serde_json::Error) -> String {
    let line = format!("line {}, column {}", error.line(), error.column());
    let Some((index, rest)) = node_index(path) else {
        return match path {
            "" | "." => line,
            path => format!("{line}, `{}`", short(path)),
        };
    };
    let node = match (seen.nodes.get(index), index.checked_sub(1).and_then(|i| seen.nodes.get(i))) {
        (Some(Some(name)), _) => format!("node `{name}`"),
        (_, Some(Some(before))) => format!("the node after `{before}`"),
        _ => format!("nodes[{index}]"),
    };
    match rest {
        "" | "?" => format!("{line}, {node}"),
        rest => format!("{line}, {node}, `{}`", short(rest)),
    }
}

/// The first steps of a long path.
fn short(path: &str) -> String {
    match path.char_indices().nth(60) {
        Some((end, _)) => format!("{}..", &path[..end]),
        None => path.to_owned(),
    }
}

/// Splits `nodes[17].args[0]` into 17 and `args[0]`.
fn node_index(path: &str) -> Option<(usize, &str)> {
    let (index, rest) = path.strip_prefix("nodes[")?.split_once(']')?;
    Some((index.parse().ok()?, rest.trim_start_matches('.')))
}

/// What a tolerant look at the document found before it failed, if it did.
#[derive(Default)]
struct Seen {
    is_object: bool,
    schema: Option<String>,
    version: Option<String>,
    nodes: Vec<Option<String>>,
}

/// Reads anything, and keeps the schema, the version and the names of the nodes.
struct Outline<'a>(&'a RefCell<Seen>);

impl<'de> DeserializeSeed<'de> for Outline<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_any(self)
    }
}

macro_rules! ignore_scalars {
    () => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("anything")
        }
        fn visit_bool<E>(self, _: bool) -> Result<(), E> {
            Ok(())
        }
        fn visit_i64<E>(self, _: i64) -> Result<(), E> {
            Ok(())
        }
        fn visit_u64<E>(self, _: u64) -> Result<(), E> {
            Ok(())
        }
        fn visit_f64<E>(self, _: f64) -> Result<(), E> {
            Ok(())
        }
        fn visit_str<E>(self, _: &str) -> Result<(), E> {
            Ok(())
        }
        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }
    };
}

fn text(v: serde_json::Value) -> Option<String> {
    v.as_str().map(str::to_owned)
}

impl<'de> Visitor<'de> for Outline<'_> {
    type Value = ();
    ignore_scalars!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.borrow_mut().is_object = true;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "schema" => self.0.borrow_mut().schema = text(map.next_value()?),
                "schema_version" => self.0.borrow_mut().version = text(map.next_value()?),
                "nodes" => map.next_value_seed(Nodes(self.0))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The list of nodes.
struct Nodes<'a>(&'a RefCell<Seen>);
/// One node.
struct NodeName<'a>(&'a RefCell<Seen>);

impl<'de> DeserializeSeed<'de> for Nodes<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> DeserializeSeed<'de> for NodeName<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nodes<'_> {
    type Value = ();
    ignore_scalars!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(NodeName(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

impl<'de> Visitor<'de> for NodeName<'_> {
    type Value = ();
    ignore_scalars!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.0.borrow_mut().nodes.push(None);
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.borrow_mut().nodes.push(None);
        while let Some(key) = map.next_key::<String>()? {
            if key != "name" {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let name = text(map.next_value()?);
            if let Some(last) = self.0.borrow_mut().nodes.last_mut() {
                *last = name;
            }
        }
        Ok(())
    }
}
