//! Properties of whole loads.
