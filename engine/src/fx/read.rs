//! Bytes to a [`Document`]: plain or gzip, size-limited, with one clear error for bad input.

use super::{Document, FxError, SCHEMA, SCHEMA_VERSION, locate};
use flate2::read::MultiGzDecoder;
use std::io::Read;

/// Largest accepted size of the unpacked JSON, unless the caller says otherwise.
pub const DEFAULT_MAX_BYTES: u64 = 512 << 20;

/// Limits of reading.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// Largest accepted size of the unpacked JSON in bytes.
    pub max_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions { max_bytes: DEFAULT_MAX_BYTES }
    }
}

/// Reads a document from plain or gzipped JSON.
pub fn read(bytes: &[u8]) -> Result<Document, FxError> {
    read_with(bytes, &ReadOptions::default())
}

/// Reads a document from plain or gzipped JSON under explicit limits.
pub fn read_with(bytes: &[u8], options: &ReadOptions) -> Result<Document, FxError> {
    if is_gzip(bytes) {
        return parse(&limited(MultiGzDecoder::new(bytes), options, true)?);
    }
    check_size(bytes.len() as u64, options)?;
    parse(bytes)
}

/// Reads a document from a stream. `size` is the length of a plain file when it is known: a file
/// that is too large is then refused before anything is read.
pub fn read_from(
    mut stream: impl Read,
    size: Option<u64>,
    options: &ReadOptions,
) -> Result<Document, FxError> {
    let mut head = Vec::with_capacity(2);
    (&mut stream).take(2).read_to_end(&mut head).map_err(|e| io_error(&e, false))?;
    let gzip = is_gzip(&head);
    let whole = head.as_slice().chain(stream);
    if gzip {
        return parse(&limited(MultiGzDecoder::new(whole), options, true)?);
    }
    check_size(size.unwrap_or(0), options)?;
    parse(&limited(whole, options, false)?)
}

fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

fn check_size(size: u64, options: &ReadOptions) -> Result<(), FxError> {
    if size <= options.max_bytes {
        return Ok(());
    }
    Err(FxError::new(format!("the graph is larger than the limit of {} bytes", options.max_bytes))
        .help("raise the limit if this file really is one graph"))
}

fn io_error(e: &std::io::Error, gzip: bool) -> FxError {
    match gzip {
        true if e.kind() == std::io::ErrorKind::UnexpectedEof => {
            FxError::new("the gzip data ends early").help("the file was cut short; copy it again")
        }
        true => FxError::new(format!("the gzip data is damaged: {e}")),
        false => FxError::new(format!("cannot read the graph: {e}")),
    }
}

/// Everything the stream holds, or an error as soon as it holds more than the limit.
fn limited(stream: impl Read, options: &ReadOptions, gzip: bool) -> Result<Vec<u8>, FxError> {
    let mut out = Vec::new();
    let mut stream = stream.take(options.max_bytes.saturating_add(1));
    stream.read_to_end(&mut out).map_err(|e| io_error(&e, gzip))?;
    check_size(out.len() as u64, options)?;
    Ok(out)
}

fn parse(bytes: &[u8]) -> Result<Document, FxError> {
    match serde_json::from_slice::<Document>(bytes) {
        Ok(doc) => check_version(Some(&doc.schema), Some(&doc.schema_version)).map(|()| doc),
        Err(e) => Err(locate::explain(bytes, &e)),
    }
}

/// Refuses another schema and another version.
pub(super) fn check_version(schema: Option<&str>, version: Option<&str>) -> Result<(), FxError> {
    let help = "write the graph with the tool's own exporter";
    match (schema, version) {
        (Some(SCHEMA), Some(SCHEMA_VERSION)) => Ok(()),
        (Some(SCHEMA), Some(v)) => {
            Err(FxError::new(format!("schema version `{v}`; this reader knows `{SCHEMA_VERSION}`"))
                .at("schema_version")
                .help(help))
        }
        (Some(SCHEMA), None) => {
            Err(FxError::new("no schema version").at("schema_version").help(help))
        }
        (Some(s), _) => {
            Err(FxError::new(format!("schema `{s}`; expected `{SCHEMA}`")).at("schema").help(help))
        }
        (None, _) => Err(FxError::new("no `schema` key: not a graph file").help(help)),
    }
}
