//! What is wrong with the input, where, and what to do: one type for every stage.
//!
//! The good message is the short one to write:
//!
//! ```
//! use fusec_dsl::diagnostic::{Code, Diagnostic};
//! use fusec_dsl::source::Span;
//! let (here, there) = (Span::default(), Span::default());
//! let d = Diagnostic::new(Code::MissingGuard, here, "`quant_nvfp4` needs `d % 16 == 0`")
//!     .label("nothing here makes `d` a multiple of 16")
//!     .because(there, "required by the op")
//!     .note("every use of an op inherits its guards")
//!     .help("guard the rule with `d % 16 == 0`");
//! assert_eq!(d.code.to_string(), "missing-guard");
//! ```

use crate::source::Span;
use std::fmt;

/// How bad it is. Follows from the [`Code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing can be done with the item.
    Error,
    /// Probably not what was meant.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// Declares the codes: one line each, so that two authors can add one without a conflict.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal $severity:ident,)*) => {
        /// What kind of mistake it is. Its `Display` is the name users see and search for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code, in the order declared.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The kebab-case name.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// How bad it is.
            pub fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// The text does not follow the grammar.
    Syntax = "syntax" Error,
    /// Brackets or operators nest deeper than the parser follows.
    TooDeep = "too-deep" Error,
    /// A file is larger than the parser accepts.
    TooLarge = "too-large" Error,
    /// A file is not UTF-8.
    NotUtf8 = "not-utf8" Error,
    /// A number does not fit its type.
    BadNumber = "bad-number" Error,
    /// A doc comment with nothing under it.
    StrayDoc = "stray-doc" Error,
    /// A word in expression position that names nothing.
    UnknownName = "unknown-name" Error,
    /// A call of an op that no file declares.
    UnknownOp = "unknown-op" Error,
    /// A type that nothing declares.
    UnknownType = "unknown-type" Error,
    /// Two declarations of one name.
    Duplicate = "duplicate" Error,
    /// An op whose meaning leads back to itself.
    Cyclic = "cyclic" Error,
    /// Too many, too few, or misnamed arguments.
    WrongArguments = "wrong-arguments" Error,
    /// An argument or a result of another kind than declared.
    TypeMismatch = "type-mismatch" Error,
    /// Element types that differ or are outside a class.
    DtypeMismatch = "dtype-mismatch" Error,
    /// Shapes that differ.
    ShapeMismatch = "shape-mismatch" Error,
    /// A guard of an op that its use does not establish.
    MissingGuard = "missing-guard" Error,
    /// A declared result without a value.
    MissingResult = "missing-result" Error,
    /// A guard that no value satisfies.
    GuardNeverHolds = "guard-never-holds" Error,
    /// An operand of the pattern that the kernel or the right side never receives.
    AttributeLost = "attribute-lost" Error,
    /// A binding that nothing uses.
    UnusedBinding = "unused-binding" Warning,
    /// A field that a family, a group or the target does not have.
    UnknownField = "unknown-field" Error,
    /// An output that names no result of the op.
    UnknownResult = "unknown-result" Error,
    /// A name that nothing on the matched side determines.
    Unbound = "unbound" Error,
    /// A parameter that the pattern does not contain.
    UnusedParameter = "unused-parameter" Error,
    /// An expression whose value goes nowhere.
    UnusedValue = "unused-value" Error,
    /// A division of sizes that may leave a remainder.
    InexactDivision = "inexact-division" Error,
    /// A guard that every value satisfies.
    GuardAlwaysHolds = "guard-always-holds" Warning,
    /// Evaluating both sides of a rule gave different values.
    NotEquivalent = "not-equivalent" Error,
    /// A rule that could not be evaluated.
    Unproven = "unproven" Warning,
    /// A state with two consumers.
    NotLinear = "not-linear" Error,
    /// Something the language has and this version does not carry out.
    Unsupported = "unsupported" Error,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place with a remark.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The remark; may be empty on the primary label.
    pub text: String,
    /// Whether it is where the mistake is; else it is where a fact comes from.
    pub primary: bool,
}

/// Text to put in place of a span.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edit {
    /// What to replace; empty to insert.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// A way out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Help {
    /// What to do.
    pub text: String,
    /// The change that does it, when it is known.
    pub edit: Option<Edit>,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// Its kind.
    pub code: Code,
    /// Stands alone on one line: lower case, no full stop, code in backticks.
    pub message: String,
    /// Exactly one is primary; it comes first.
    pub labels: Vec<Label>,
    /// Facts.
    pub notes: Vec<String>,
    /// Ways out.
    pub help: Vec<Help>,
}

impl Diagnostic {
    /// A mistake at a place.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        let primary = Label { span, text: String::new(), primary: true };
        Diagnostic {
            code,
            message: message.into(),
            labels: vec![primary],
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// The remark on the primary place.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.labels[0].text = text.into();
        self
    }

    /// Another place that a fact comes from.
    pub fn because(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into(), primary: false });
        self
    }

    /// A fact without a place.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// A way out, in words.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(Help { text: text.into(), edit: None });
        self
    }

    /// A way out with the change that does it.
    pub fn help_edit(
        mut self,
        text: impl Into<String>,
        span: Span,
        new: impl Into<String>,
    ) -> Self {
        self.help.push(Help { text: text.into(), edit: Some(Edit { span, text: new.into() }) });
        self
    }

    /// "did you mean .. ?" with the edit, if a candidate is close enough to the word written.
    pub fn did_you_mean<'a>(
        self,
        written: &str,
        span: Span,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        match closest(written, candidates) {
            Some(c) => self.help_edit(format!("did you mean `{c}`?"), span, c),
            None => self,
        }
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Where it is.
    pub fn span(&self) -> Span {
        self.labels[0].span
    }
}

/// Likeness below which a suggestion would be noise.
const CLOSE_ENOUGH: f64 = 0.7;

/// The candidate most like the word, if any is like it; ties go to the first in sorted order.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(f64, &str)> = None;
    for c in candidates {
        let score = strsim::jaro(word, c);
        let better = match best {
            None => score >= CLOSE_ENOUGH,
            Some((s, b)) => score > s || (score == s && c < b),
        };
        if better {
            best = Some((score, c));
        }
    }
    best.map(|(_, c)| c)
}

/// Sorts by place, then code and message, and drops exact repeats: the order of output.
pub fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by(|a, b| (a.span(), a.code, &a.message).cmp(&(b.span(), b.code, &b.message)));
    diagnostics.dedup();
}
