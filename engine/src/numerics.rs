//! Element types with their exact rounding.
