//! The `fxg` JSON form of an FX graph: documents in, documents out.
