//! The generated struct: constants, arguments, registers, and one function a phase.

use super::expr::{c_type, divisor_of, expression, reference, versions};
use super::names::Names;
use super::text::Text;
use crate::abi::{Arg, What};
use crate::divide;
use crate::ir::{Id, InputRole, KernelIr, Node, Op, Reduce, Sink, Space};
use crate::near;
use crate::plan::{Plan, Step};

/// Writes `struct Program`.
pub fn write(text: &mut Text, ir: &KernelIr, plan: &Plan, names: &Names) {
    let w = Writer { ir, plan, names, divisors: divide::divisors(ir) };
    text.line("struct Program {");
    w.constants(text);
    w.args(text);
    w.registers(text);
    w.loads(text);
    w.uniforms(text);
    w.reductions(text);
    for phase in 0..plan.phases {
        w.phase(text, phase);
    }
    for phase in 0..plan.phases {
        w.between(text, phase);
    }
    w.pad(text);
    text.line("};");
}

/// A parameter of the entry point.
pub fn parameter(arg: &Arg) -> String {
    match arg.what {
        What::Input(_) => format!("const void* {}", arg.name),
        What::Output(_) => format!("void* {}", arg.name),
        _ => format!("long long {}", arg.name),
    }
}

/// The initializers of `Program::Args`, field by field.
pub fn argument_fields(ir: &KernelIr, names: &Names) -> Vec<String> {
    let mut out = Vec::new();
    for (input, name) in ir.inputs.iter().zip(&names.inputs) {
        out.push(match input.role {
            InputRole::Rows(_) => format!("{{(char*){name}, {name}_stride}}"),
            _ => format!("{{(const char*){name}}}"),
        });
    }
    for (output, name) in ir.outputs.iter().zip(&names.outputs) {
        out.push(match output.sink {
            Sink::Rows => format!("{{(char*){name}, {name}_stride}}"),
            Sink::Groups(_) => format!("{{(char*){name}, {name}_stride, {name}_group_stride}}"),
            _ => format!("{{(char*){name}}}"),
        });
    }
    out.push("rows".into());
    out
}

struct Writer<'a> {
    ir: &'a KernelIr,
    plan: &'a Plan,
    names: &'a Names,
    divisors: Vec<Id>,
}

impl Writer<'_> {
    fn nodes(&self) -> impl Iterator<Item = (Id, &Node)> {
        self.ir.nodes.iter().enumerate()
    }

    fn loads_of(&self, column: bool) -> impl Iterator<Item = (Id, &Node, usize, usize)> {
        self.nodes().filter_map(move |(id, n)| match n.op {
            Op::Load { input, first } if n.space == Space::Element => {
                let is_column = self.ir.inputs[input].role == InputRole::Column;
                (is_column == column).then_some((id, n, input, first))
            }
            _ => None,
        })
    }

    fn row_reductions(&self, phase: usize) -> Vec<(Id, &Node)> {
        let due = |id: Id| self.plan.step[id].phase == phase;
        self.nodes()
            .filter(|(id, n)| matches!(n.op, Op::Reduce(_)) && n.space == Space::Row && due(*id))
            .collect()
    }

    fn ragged(&self) -> bool {
        let g = &self.plan.geometry;
        self.ir.cols != g.vec * g.items * g.threads_per_row * g.chunks
    }

    fn constants(&self, text: &mut Text) {
        let g = &self.plan.geometry;
        text.line(&format!("static constexpr int D = {}, VEC = {};", self.ir.cols, g.vec));
        text.line(&format!(
            "static constexpr int TPR = {}, RPB = {}, ITEMS = {}, CHUNKS = {}, PHASES = {};",
            g.threads_per_row, g.rows_per_block, g.items, g.chunks, self.plan.phases
        ));
        text.line(&format!(
            "static constexpr bool ALIGNED = {}, RAGGED = {};",
            g.aligned,
            self.ragged()
        ));
        text.line("");
    }

    fn args(&self, text: &mut Text) {
        text.line("struct Args {");
        for (input, name) in self.ir.inputs.iter().zip(&self.names.inputs) {
            let kind = match input.role {
                InputRole::Rows(_) => "Rows",
                InputRole::Column => "Column",
                InputRole::Scalar => "Scalar",
            };
            text.line(&format!("{kind}<{}> {name};", c_type(input.dtype)));
        }
        for (output, name) in self.ir.outputs.iter().zip(&self.names.outputs) {
            let node = self.ir.node(output.value);
            let ty = c_type(node.dtype);
            text.line(&match (output.sink, node.space) {
                (Sink::Rows, _) => format!("Rows<{ty}> {name};"),
                (Sink::PerRow, _) => format!("PerRow<{ty}> {name};"),
                (Sink::Groups(_), _) => format!("Groups<{ty}> {name};"),
                (Sink::Swizzled128x4, Space::Group(g)) => {
                    format!("Swizzled128x4<{}> {name};", self.ir.cols / g)
                }
                (Sink::Swizzled128x4, _) => format!("Swizzled128x4<1> {name};"),
            });
        }
        text.line("i64 rows;");
        text.line("};");
        text.line("");
    }

    fn registers(&self, text: &mut Text) {
        text.line("// What a thread holds of each of its vectors.");
        text.line("struct Regs {");
        for (id, n, ..) in self.loads_of(false) {
            text.line(&format!("Vec<{}, VEC> {};", c_type(n.dtype), self.names.values[id]));
        }
        for id in &self.plan.kept {
            let ty = c_type(self.ir.node(*id).dtype);
            text.line(&format!("Vec<{ty}, VEC> {};", self.names.values[*id]));
        }
        self.scalars(text, |s| matches!(s, Space::Group(_)));
        text.line("};");
        text.line("struct Columns {");
        for (id, n, ..) in self.loads_of(true) {
            text.line(&format!("Vec<{}, VEC> {};", c_type(n.dtype), self.names.values[id]));
        }
        text.line("};");
        text.line("struct Uniforms {");
        self.scalars(text, |s| s == Space::Uniform);
        text.line("};");
        text.line("struct Row {");
        self.scalars(text, |s| s == Space::Row);
        text.line("};");
        text.line("");
    }

    fn scalars(&self, text: &mut Text, of: impl Fn(Space) -> bool) {
        for (id, n) in self.nodes().filter(|(_, n)| of(n.space) && !matches!(n.op, Op::Const(_))) {
            text.line(&format!("{} {};", c_type(n.dtype), self.names.values[id]));
            if self.divisors.contains(&id) {
                text.line(&format!("op::Divisor by_{};", self.names.values[id]));
            }
        }
    }

    fn loads(&self, text: &mut Text) {
        text.line("static FS_DEVICE void load(const Args& a, const At<Program>& at, Regs& v) {");
        for (id, _, input, first) in self.loads_of(false) {
            let (value, operand) = (&self.names.values[id], &self.names.inputs[input]);
            text.line(&format!("v.{value} = a.{operand}.load(at, {first});"));
        }
        text.line("}");
        text.line("static FS_DEVICE void load_columns(const Args& a, const At<Program>& at, Columns& c) {");
        for (id, _, input, first) in self.loads_of(true) {
            let (value, operand) = (&self.names.values[id], &self.names.inputs[input]);
            text.line(&format!("c.{value} = a.{operand}.load(at, {first});"));
        }
        text.line("}");
    }

    fn uniforms(&self, text: &mut Text) {
        text.line("static FS_DEVICE void load_uniforms(const Args& a, Uniforms& u) {");
        for (id, n) in self.nodes().filter(|(_, n)| n.space == Space::Uniform) {
            match n.op {
                Op::Const(_) => {}
                Op::Load { input, .. } => {
                    let (value, operand) = (&self.names.values[id], &self.names.inputs[input]);
                    text.line(&format!("u.{value} = a.{operand}.load();"));
                }
                _ => self.assign(text, id, n),
            }
        }
        text.line("}");
    }

    fn reductions(&self, text: &mut Text) {
        let counts: Vec<String> =
            (0..self.plan.phases).map(|p| self.row_reductions(p).len().to_string()).collect();
        text.line("");
        text.line("// How many reductions end each phase, and which.");
        text.line("static constexpr FS_DEVICE int reductions(int phase) {");
        text.line(&format!("constexpr int COUNTS[] = {{{}}};", counts.join(", ")));
        text.line("return COUNTS[phase];");
        text.line("}");
        for phase in 0..self.plan.phases {
            for (i, (_, n)) in self.row_reductions(phase).iter().enumerate() {
                text.line(&format!(
                    "static FS_DEVICE {} reduction(Int<{phase}>, Int<{i}>) {{ return {{}}; }}",
                    merge_of(n)
                ));
            }
        }
    }

    fn assign(&self, text: &mut Text, id: Id, n: &Node) {
        let target = reference(self.ir, self.names, id);
        text.from(n.span, &format!("{target} = {};", expression(self.ir, self.names, n)));
        if self.divisors.contains(&id) {
            let by = divisor_of(self.ir, self.names, id);
            text.line(&format!("{by} = op::divisor({target});"));
        }
    }

    fn phase(&self, text: &mut Text, phase: usize) {
        text.line("");
        text.line(&format!(
            "static FS_DEVICE void phase(Int<{phase}>, const Args& a, const At<Program>& at, \
             const Uniforms& u, const Columns& c, const Row& row, Regs& v, f32x2* mine) {{"
        ));
        for (step, body) in self.plan.bodies.iter().filter(|(s, _)| s.phase == phase) {
            self.group_values(text, *step);
            self.elements(text, *step, body);
        }
        text.line("}");
    }

    /// Numbers of a group that earlier stages made possible, and where they are written to.
    fn group_values(&self, text: &mut Text, step: Step) {
        for (id, n) in self.nodes() {
            let Space::Group(_) = n.space else { continue };
            if !matches!(n.op, Op::Reduce(_)) && self.plan.step[id] == step {
                self.assign(text, id, n);
            }
        }
        // A result that is a reduction itself is ready one stage later.
        let ready = |id: Id| match self.ir.node(id).op {
            Op::Reduce(_) => false,
            _ => self.plan.step[id] == step,
        };
        self.store_groups(text, ready);
    }

    fn store_groups(&self, text: &mut Text, ready: impl Fn(Id) -> bool) {
        for (output, name) in self.ir.outputs.iter().zip(&self.names.outputs) {
            let Space::Group(g) = self.ir.node(output.value).space else { continue };
            if !ready(output.value) {
                continue;
            }
            let value = reference(self.ir, self.names, output.value);
            let value =
                if output.sink == Sink::Swizzled128x4 { format!("{value}.bits") } else { value };
            let lanes = g / self.plan.geometry.vec;
            text.line(&format!(
                "if (at.active && at.vec % {lanes} == 0) a.{name}.store(at.row, at.vec / {lanes}, {value});"
            ));
        }
    }

    /// The loop over the pairs of a vector, what it adds up, and what it stores.
    fn elements(&self, text: &mut Text, step: Step, body: &[Id]) {
        let groups: Vec<(Id, &Node)> = self
            .nodes()
            .filter(|(id, n)| {
                matches!((n.op, n.space), (Op::Reduce(_), Space::Group(_)))
                    && self.plan.step[*id] == step
            })
            .collect();
        let stores = self.stores(step);
        if body.is_empty() && groups.is_empty() && stores.is_empty() {
            return;
        }
        for (id, n) in &groups {
            text.line(&format!(
                "f32x2 of_{} = both({}::nothing());",
                self.names.values[*id],
                merge_of(n)
            ));
        }
        for (_, name, ty) in stores.iter().filter(|(id, ..)| self.place(*id).is_none()) {
            text.line(&format!("Vec<{ty}, VEC> to_{name};"));
        }
        text.line("FS_UNROLL for (int j = 0; j < VEC / 2; j++) {");
        self.pair(text, step, body);
        for (id, name, _) in stores.iter().filter(|(id, ..)| self.place(*id).is_none()) {
            text.line(&format!("to_{name}.set(j, {});", self.names.values[*id]));
        }
        text.line("}");
        for (id, n) in &groups {
            let Space::Group(g) = n.space else { continue };
            let lanes = g / self.plan.geometry.vec;
            let name = &self.names.values[*id];
            text.line(&format!("v.{name} = reduce_group<{}, {lanes}>(of_{name});", merge_of(n)));
        }
        for (id, name, _) in &stores {
            let from = self.place(*id).unwrap_or_else(|| format!("to_{name}"));
            text.line(&format!("a.{name}.store(at, {from});"));
        }
        self.store_groups(text, |id| groups.iter().any(|(g, _)| *g == id));
    }

    /// Results that are rows of elements and computed at this step.
    fn stores(&self, step: Step) -> Vec<(Id, &str, &'static str)> {
        let outputs = self.ir.outputs.iter().zip(&self.names.outputs);
        let due = outputs.filter(|(o, _)| o.sink == Sink::Rows && self.plan.step[o.value] == step);
        due.map(|(o, name)| (o.value, name.as_str(), c_type(self.ir.node(o.value).dtype))).collect()
    }

    /// The registers that hold a whole vector of an element's values, if it is held.
    fn place(&self, id: Id) -> Option<String> {
        let name = &self.names.values[id];
        match self.ir.node(id).op {
            Op::Load { input, .. } if self.ir.inputs[input].role == InputRole::Column => {
                Some(format!("c.{name}"))
            }
            Op::Load { .. } => Some(format!("v.{name}")),
            _ if self.plan.kept.contains(&id) => Some(format!("v.{name}")),
            _ => None,
        }
    }

    /// One pair of elements.
    fn pair(&self, text: &mut Text, step: Step, body: &[Id]) {
        let mut known: Vec<Id> = Vec::new();
        for &id in body {
            let n = self.ir.node(id);
            for arg in near::operands(self.ir, id) {
                self.recall(text, arg, body, &mut known);
            }
            if matches!(n.op, Op::Load { .. }) {
                self.recall(text, id, &[], &mut known);
                continue;
            }
            let name = &self.names.values[id];
            let value = match (near::margin(self.ir, id), divide::shared(self.ir, id)) {
                (Some(units), _) => self.quick_or_exact(text, id, units),
                (None, Some(d)) => {
                    let by = divisor_of(self.ir, self.names, d);
                    format!("op::quotient({}, {by})", reference(self.ir, self.names, n.args[0]))
                }
                (None, None) => expression(self.ir, self.names, n),
            };
            text.from(n.span, &format!("const auto {name} = {value};"));
            known.push(id);
            if self.plan.kept.contains(&id) {
                text.line(&format!("v.{name}.set(j, {name});"));
            }
        }
        for (id, n) in self.nodes() {
            if matches!(n.op, Op::Reduce(_)) && self.plan.step[id] == step {
                self.recall(text, n.args[0], body, &mut known);
                self.accumulate(text, id, n);
            }
        }
    }

    /// A cast of a quick value where that is sure to round alike, else of the exact one.
    fn quick_or_exact(&self, text: &mut Text, id: Id, units: u32) -> String {
        let n = self.ir.node(id);
        let (ty, name) = (c_type(n.dtype), &self.names.values[id]);
        let (quick, exact) = versions(self.ir, self.names, n.args[0]);
        text.from(n.span, &format!("const auto quick_{name} = {quick};"));
        format!(
            "surely_rounds<{ty}>(quick_{name}, {units}) ? cast<{ty}>(quick_{name}) : cast<{ty}>({exact})"
        )
    }

    /// Takes a value that is held in registers into this pair's scope.
    fn recall(&self, text: &mut Text, id: Id, body: &[Id], known: &mut Vec<Id>) {
        if self.ir.node(id).space != Space::Element || known.contains(&id) {
            return;
        }
        let load = matches!(self.ir.node(id).op, Op::Load { .. });
        if body.contains(&id) && !load {
            return;
        }
        if let Some(place) = self.place(id) {
            text.line(&format!("const auto {} = {place}.get(j);", self.names.values[id]));
            known.push(id);
        }
    }

    fn accumulate(&self, text: &mut Text, id: Id, n: &Node) {
        let merge = merge_of(n);
        let value = reference(self.ir, self.names, n.args[0]);
        match n.space {
            Space::Row => {
                let all = self.row_reductions(self.plan.step[id].phase);
                let i = all.iter().position(|(r, _)| *r == id).unwrap_or(0);
                text.from(
                    n.span,
                    &format!("mine[{i}] = {merge}::merge(mine[{i}], at.mask(j, {value}, {merge}::nothing()));"),
                );
            }
            _ => {
                let name = &self.names.values[id];
                text.from(n.span, &format!("of_{name} = {merge}::merge(of_{name}, {value});"));
            }
        }
    }

    /// What follows from a phase's reductions, once a row.
    fn between(&self, text: &mut Text, phase: usize) {
        let reductions = self.row_reductions(phase);
        if reductions.is_empty() {
            return;
        }
        text.line("");
        text.line(&format!(
            "static FS_DEVICE void between(Int<{phase}>, const Args& a, i64 at_row, bool writes, \
             const Uniforms& u, const float* sums, Row& row) {{"
        ));
        for (i, (id, _)) in reductions.iter().enumerate() {
            text.line(&format!("row.{} = sums[{i}];", self.names.values[*id]));
        }
        let mut ready: Vec<Id> = reductions.iter().map(|(id, _)| *id).collect();
        for (id, n) in self.nodes().filter(|(_, n)| n.space == Space::Row) {
            if !matches!(n.op, Op::Reduce(_)) && self.plan.step[id].phase == phase + 1 {
                self.assign(text, id, n);
                ready.push(id);
            }
        }
        for (output, name) in self.ir.outputs.iter().zip(&self.names.outputs) {
            if output.sink == Sink::PerRow && ready.contains(&output.value) {
                let value = reference(self.ir, self.names, output.value);
                text.line(&format!("if (writes) a.{name}.store(at_row, {value});"));
            }
        }
        text.line("}");
    }

    /// What lies outside the tensor but inside its tiles.
    fn pad(&self, text: &mut Text) {
        let outputs = self.ir.outputs.iter().zip(&self.names.outputs);
        let tiled: Vec<(&str, usize)> = outputs
            .filter(|(o, _)| o.sink == Sink::Swizzled128x4)
            .filter_map(|(o, name)| match self.ir.node(o.value).space {
                Space::Group(g) => Some((name.as_str(), self.ir.cols / g)),
                _ => None,
            })
            .collect();
        text.line("");
        let rows = if tiled.is_empty() { "a.rows" } else { "(a.rows + 127) / 128 * 128" };
        text.line(&format!("static FS_DEVICE i64 padded_rows(const Args& a) {{ return {rows}; }}"));
        text.line("static FS_DEVICE void pad(const Args& a, i64 at_row, int lane) {");
        for (name, groups) in tiled {
            text.line("if (at_row < padded_rows(a)) {");
            text.line(&format!(
                "a.{name}.clear(at_row, at_row < a.rows ? {groups} : 0, lane, TPR);"
            ));
            text.line("}");
        }
        text.line("}");
    }
}

fn merge_of(n: &Node) -> &'static str {
    match n.op {
        Op::Reduce(Reduce::Max) => "Max",
        _ => "Sum",
    }
}
