//! Settings from TOML text, with errors that name the line and the key that was meant.

use serde::de::DeserializeOwned;
use std::fmt;

/// What is wrong with a settings file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The file, as the user gave it.
    pub path: String,
    /// Line, from 1; 0 when the whole file is meant.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// One line, lower case.
    pub message: String,
    /// The text of the line.
    pub excerpt: String,
    /// A way out.
    pub help: Option<String>,
}

impl SettingsError {
    /// An error about the whole file.
    pub fn whole(path: &str, message: impl Into<String>) -> SettingsError {
        SettingsError {
            path: path.into(),
            line: 0,
            column: 0,
            message: message.into(),
            excerpt: String::new(),
            help: None,
        }
    }

    fn from_toml(path: &str, text: &str, error: &toml::de::Error) -> SettingsError {
        let at = error.span().map_or(0, |s| s.start.min(text.len()));
        let before = text.get(..at).unwrap_or("");
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let (message, help) = reword(error.message());
        SettingsError {
            path: path.into(),
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            message,
            excerpt: text[start..].lines().next().unwrap_or("").into(),
            help,
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        if self.line > 0 {
            let (n, pad) = (self.line.to_string(), " ".repeat(self.line.to_string().len()));
            let mark = " ".repeat(self.column - 1);
            write!(f, "\n{pad}--> {}:{n}:{}", self.path, self.column)?;
            write!(f, "\n{pad} |\n{n} | {}\n{pad} | {mark}^", self.excerpt)?;
        } else if !self.path.is_empty() {
            write!(f, "\n--> {}", self.path)?;
        }
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SettingsError {}

/// Reads settings; an unknown key, a wrong type and a syntax error each name their line.
pub fn parse<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, SettingsError> {
    toml::from_str(text).map_err(|e| SettingsError::from_toml(path, text, &e))
}

/// serde's message in our words: an unknown key gets a suggestion instead of the whole list.
fn reword(message: &str) -> (String, Option<String>) {
    let Some(rest) = message.strip_prefix("unknown field `") else {
        return (message.lines().next().unwrap_or("").to_string(), None);
    };
    let mut names = rest.split('`').step_by(2).map(str::trim).filter(|s| !s.is_empty());
    let unknown = names.next().unwrap_or("").to_string();
    let known: Vec<&str> = rest.split('`').skip(2).step_by(2).collect();
    let help = match suggest(&unknown, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known keys: {}", known.join(", ")),
    };
    (format!("unknown key `{unknown}`"), Some(help))
}

/// The known name that is closest to a misspelt one, if one is close.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|k| (strsim::jaro_winkler(name, k), k));
    let best = scored.filter(|(s, _)| *s >= 0.7).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, k)| k)
}
