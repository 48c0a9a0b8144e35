//! One snapshot per kind of mistake: the text, then all that is said about it.

use super::check;

/// Cases are divided by lines of `==== name`.
fn all(cases: &str) -> String {
    let mut out = String::new();
    for case in cases.split("==== ").filter(|c| !c.is_empty()) {
        let (name, text) = case.split_once('\n').expect("a name and a text");
        let text = format!("{}\n", text.trim_end());
        let found = check(&text);
        assert!(!found.is_empty(), "{name} is not reported");
        out.push_str(&format!("==== {name}\n{text}----\n{found}\n"));
    }
    out
}

#[test]
fn names() {
    insta::assert_snapshot!(all(include_str!("cases/names.txt")));
}

#[test]
fn declarations() {
    insta::assert_snapshot!(all(include_str!("cases/declarations.txt")));
}

#[test]
fn types() {
    insta::assert_snapshot!(all(include_str!("cases/types.txt")));
}

#[test]
fn rules() {
    insta::assert_snapshot!(all(include_str!("cases/rules.txt")));
}
