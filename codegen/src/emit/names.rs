//! A C++ name for every value.

use crate::ir::{KernelIr, Node, Op};
use std::collections::BTreeSet;

/// What generated code calls things itself, and words of C++ that people use as names.
const TAKEN: &[&str] = &[
    "a",
    "at",
    "u",
    "c",
    "row",
    "v",
    "mine",
    "sums",
    "j",
    "rows",
    "both",
    "cast",
    "select",
    "op",
    "hw",
    "to_f32",
    "int",
    "float",
    "double",
    "bool",
    "char",
    "short",
    "long",
    "signed",
    "unsigned",
    "auto",
    "const",
    "class",
    "struct",
    "union",
    "enum",
    "new",
    "delete",
    "this",
    "template",
    "typename",
    "operator",
    "register",
    "return",
    "static",
    "switch",
    "case",
    "default",
    "if",
    "else",
    "for",
    "while",
    "do",
    "break",
    "continue",
    "goto",
    "namespace",
    "using",
    "true",
    "false",
    "inline",
    "private",
    "public",
    "protected",
    "volatile",
    "extern",
    "friend",
    "virtual",
    "void",
    "not",
    "and",
    "or",
    "xor",
    "Args",
    "Regs",
    "Row",
    "Columns",
    "Uniforms",
    "leader",
    "lane",
];

/// Unique names, as close to the author's as C++ allows.
pub struct Names {
    /// One a value.
    pub values: Vec<String>,
    /// One an operand.
    pub inputs: Vec<String>,
    /// One a result.
    pub outputs: Vec<String>,
}

impl Names {
    /// Names everything in a kernel.
    pub fn new(ir: &KernelIr) -> Names {
        let taken = || TAKEN.iter().map(|s| s.to_string()).collect::<BTreeSet<String>>();
        let (mut args, mut used) = (taken(), taken());
        let inputs: Vec<String> = ir.inputs.iter().map(|i| unique(&i.name, &mut args)).collect();
        let outputs = ir.outputs.iter().map(|o| unique(&o.name, &mut args)).collect();
        let mut name = |(id, node): (usize, &Node)| match (node.op, &node.name) {
            (Op::Load { input, .. }, _) => unique(&ir.inputs[input].name, &mut used),
            (_, Some(name)) => unique(name, &mut used),
            _ => unique(&format!("t{id}"), &mut used),
        };
        let values = ir.nodes.iter().enumerate().map(&mut name).collect();
        Names { values, inputs, outputs }
    }
}

fn unique(name: &str, used: &mut BTreeSet<String>) -> String {
    let mut base: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
        base.insert(0, '_');
    }
    let mut candidate = base.clone();
    let mut n = 1;
    while !used.insert(candidate.clone()) {
        n += 1;
        candidate = format!("{base}_{n}");
    }
    candidate
}
