//! Exact extraction: the cheapest acyclic selection of e-nodes, with a proof.
