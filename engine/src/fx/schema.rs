//! The document: one struct an object of the schema, fields in the order the writer uses.

use super::value::nullable;
use super::{OutMeta, Tree, Value};
use indexmap::IndexMap;
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// One graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Always `fxg`.
    pub schema: String,
    /// Always `1.0`.
    pub schema_version: String,
    /// Name; also the file's stem.
    pub name: String,
    /// `torch_export_training_ir`, `torch_export_core_aten` or `inductor_post_grad`.
    pub capture: String,
    /// Versions of torch and of the tool.
    pub producer: serde_json::Value,
    /// Library, model configuration, Inductor options; free form.
    pub source: serde_json::Value,
    /// Known differences from a real run.
    pub notes: Vec<String>,
    /// Every free symbol.
    pub symbols: Vec<Symbol>,
    /// Every symbolic expression, by sympy's print of it.
    pub exprs: IndexMap<String, Tree>,
    /// In calling order, one a placeholder.
    pub inputs: Vec<Input>,
    /// In topological order, placeholders first.
    pub nodes: Vec<Node>,
    /// What the graph returns.
    pub output_container: Container,
    /// Flat, in order.
    pub outputs: Vec<Output>,
    /// Schemas of operators.
    pub ops: IndexMap<String, OpInfo>,
    /// Bodies of higher-order ops.
    pub graphs: IndexMap<String, Subgraph>,
    /// Tensors behind `get_attr` nodes.
    pub constants: IndexMap<String, Constant>,
    /// Literals that were written as opaque.
    pub warnings: Vec<String>,
}

/// A field that may be absent and may be null, which are two texts.
pub type Nullable<T> = Option<Option<T>>;

/// What a graph returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Container {
    /// A tuple of the outputs.
    Tuple,
    /// The one output.
    Single,
}

/// A free symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Whether an input carries it.
    pub kind: SymbolKind,
    /// Smallest value.
    #[serde(deserialize_with = "nullable")]
    pub min: Option<i64>,
    /// Largest value; null is unbounded.
    #[serde(deserialize_with = "nullable")]
    pub max: Option<i64>,
    /// The example value; never a fact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<i64>,
    /// The input that carries it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_by: Option<BoundBy>,
    /// Dynamo's or export's source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Whether an input carries a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    /// An input has it.
    Backed,
    /// Known only once a node has run.
    Unbacked,
}

/// Which input carries a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundBy {
    /// The placeholder.
    pub input: String,
    /// The axis, when the placeholder is a tensor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dim: Option<u32>,
}

/// One input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its placeholder.
    pub node: String,
    /// What it is.
    pub kind: InputKind,
    /// Module path or argument name.
    #[serde(deserialize_with = "nullable")]
    pub fqn: Option<String>,
    /// Of a buffer: whether it is saved with the model.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub persistent: Nullable<bool>,
    /// Dynamo's source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether the graph writes to it.
    pub mutated: bool,
}

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant,)* }

        impl $name {
            /// Its tag in the JSON.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The value with this tag.
            pub fn named(name: &str) -> Option<$name> {
                match name { $($text => Some($name::$variant),)* _ => None }
            }
        }
    };
}

names! {
    /// What an input is.
    InputKind {
        /// A parameter of the model.
        Parameter "parameter",
        /// A buffer of the model.
        Buffer "buffer",
        /// A lifted constant.
        ConstantTensor "constant_tensor",
        /// An argument of the call.
        UserInput "user_input",
        /// A symbolic integer.
        SymInt "symint",
        /// A hoisted Python object, such as a layer name.
        Opaque "opaque",
        /// An effect token.
        Token "token",
        /// A torchbind object.
        CustomObj "custom_obj",
        /// Not recorded.
        Unknown "unknown",
    }
}

names! {
    /// What an output is.
    OutputKind {
        /// A result of the call.
        UserOutput "user_output",
        /// New contents of a buffer.
        BufferMutation "buffer_mutation",
        /// New contents of an argument.
        UserInputMutation "user_input_mutation",
        /// New contents of a parameter.
        ParameterMutation "parameter_mutation",
        /// An effect token.
        Token "token",
        /// The loss.
        LossOutput "loss_output",
    }
}

names! {
    /// FX's opcode.
    Opcode {
        /// An input.
        Placeholder "placeholder",
        /// A tensor or subgraph held by the module.
        GetAttr "get_attr",
        /// A call.
        CallFunction "call_function",
        /// A call of a submodule.
        CallModule "call_module",
        /// A method of the first argument.
        CallMethod "call_method",
    }
}

names! {
    /// What a node calls.
    Kind {
        /// An input.
        Input "input",
        /// A tensor or subgraph held by the module.
        Attr "attr",
        /// A torch operator (`OpOverload`).
        Op "op",
        /// A higher-order operator.
        Hop "hop",
        /// A function of `operator`, `math` or `builtins`.
        Builtin "builtin",
        /// Another Python function.
        Function "function",
        /// A submodule.
        Module "module",
        /// A method.
        Method "method",
    }
}

/// One output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// What it is.
    pub kind: OutputKind,
    /// The buffer or input that it updates.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub target: Nullable<String>,
    /// What is returned.
    pub value: Value,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Name, unique in its graph.
    pub name: String,
    /// FX's opcode.
    pub op: Opcode,
    /// What `target` is.
    pub kind: Kind,
    /// What is called.
    pub target: String,
    /// Of a `get_attr`: what it gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attr: Option<AttrRef>,
    /// Positional arguments; absent on placeholders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<Value>>,
    /// Keyword arguments, in order.
    #[serde(default, with = "pairs", skip_serializing_if = "Vec::is_empty")]
    pub kwargs: Vec<(String, Value)>,
    /// What it yields.
    pub out: OutMeta,
    /// Names of the written arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutates: Vec<String>,
    /// Of `auto_functionalized*`: what is wrapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functionalized: Option<Functionalized>,
    /// Innermost `nn.Module` path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Unbacked symbol to key path in the output.
    #[serde(default, with = "pairs", skip_serializing_if = "Vec::is_empty")]
    pub unbacked_bindings: Vec<(String, String)>,
}

/// What a `get_attr` node gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttrRef {
    /// A key of `constants`.
    Constant(String),
    /// A key of `graphs`.
    Graph(String),
    /// Something else.
    Opaque(super::Opaque),
}

/// The operator behind an `auto_functionalized*` node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Functionalized {
    /// The wrapped operator.
    pub op: String,
    /// 1 or 2.
    pub version: u8,
    /// Entry `i` says what `getitem(node, i)` is.
    pub results: Vec<ResultRole>,
}

/// What one result of an `auto_functionalized*` node is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultRole {
    /// Nothing: the operator returns nothing.
    None,
    /// A return value of the operator.
    Return(u32),
    /// The new contents of an argument (version 1).
    MutatedArg(String),
    /// The new contents of an entry of `_all_bases` (version 2).
    MutatedBase(u32),
}

/// An operator's schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpInfo {
    /// torch's text of it.
    pub schema: String,
    /// Parameters.
    pub args: Vec<ArgInfo>,
    /// Results.
    pub returns: Vec<ReturnInfo>,
    /// torch's tags.
    pub tags: Vec<String>,
    /// Whether it writes to an argument.
    pub mutable: bool,
    /// Whether its result is a view of an argument.
    pub view: bool,
}

/// A parameter of an operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgInfo {
    /// Its name.
    pub name: String,
    /// torch's type.
    pub r#type: String,
    /// Whether it can only be passed by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kwarg_only: Option<bool>,
    /// Its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Alias sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<Vec<String>>,
    /// Whether it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<bool>,
}

impl ArgInfo {
    /// Whether the operator writes to it.
    pub fn is_written(&self) -> bool {
        self.writes == Some(true)
    }
}

/// A result of an operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReturnInfo {
    /// torch's type.
    pub r#type: String,
    /// Alias sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<Vec<String>>,
    /// Whether it is a written argument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<bool>,
}

/// The body of a higher-order operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subgraph {
    /// Its nodes, in topological order.
    pub nodes: Vec<Node>,
    /// What it returns.
    pub output_container: Container,
    /// Flat, in order.
    pub outputs: Vec<Value>,
}

/// A tensor held by the module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Its type.
    pub meta: OutMeta,
    /// Its data, little-endian and contiguous, when small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_le_b64: Option<String>,
}

/// A field that was there, whatever it holds.
fn present<'de, D, T>(d: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(d).map(Some)
}

/// A JSON object kept as a list of pairs, in order; a second pair of one key is an error.
mod pairs {
    use super::*;
    use std::marker::PhantomData;

    pub fn serialize<S: Serializer, V: Serialize>(
        v: &[(String, V)],
        s: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(v.len()))?;
        for (k, v) in v {
            map.serialize_entry(k, v)?;
        }
        map.end()
    }

    pub fn deserialize<'de, D, V>(d: D) -> Result<Vec<(String, V)>, D::Error>
    where
        D: Deserializer<'de>,
        V: Deserialize<'de>,
    {
        d.deserialize_map(Pairs(PhantomData))
    }

    struct Pairs<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for Pairs<V> {
        type Value = Vec<(String, V)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut out: Self::Value = Vec::new();
            while let Some(key) = map.next_key::<String>()? {
                out.push((key, map.next_value()?));
            }
            let mut seen = rustc_hash::FxHashSet::default();
            match out.iter().find(|(k, _)| !seen.insert(k.as_str())) {
                Some((k, _)) => Err(A::Error::custom(format!("`{k}` given twice"))),
                None => Ok(out),
            }
        }
    }
}
