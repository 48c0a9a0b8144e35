//! Where output goes: data to the standard output, talk and progress to the standard error.

use crate::args::{Color, Format};
use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::AnsiColor;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long work may take before it shows progress.
const PATIENCE: Duration = Duration::from_millis(250);

/// The two streams with the user's choices.
pub struct Ui {
    /// Form of diagnostics and listings.
    pub format: Format,
    color: Color,
}

impl Ui {
    /// Streams with the choices of the command line.
    pub fn new(format: Format, color: Color) -> Ui {
        Ui { format, color: effective(color, |name| std::env::var_os(name)) }
    }

    /// Standard output.
    pub fn out(&self) -> AutoStream<io::Stdout> {
        AutoStream::new(io::stdout(), self.choice())
    }

    /// Standard error.
    pub fn err(&self) -> AutoStream<io::Stderr> {
        AutoStream::new(io::stderr(), self.choice())
    }

    /// Whether text for a stream should carry colour.
    pub fn colors(&self, to: &impl IsTerminal) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => to.is_terminal(),
        }
    }

    fn choice(&self) -> ColorChoice {
        match self.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }

    /// One line of talk. A closed standard error is nobody's loss.
    pub fn say(&self, line: impl std::fmt::Display) {
        let _ = writeln!(self.err(), "{line}");
    }

    /// An error that ended the command, with its causes.
    pub fn fail(&self, error: &anyhow::Error) {
        let style = AnsiColor::Red.on_default().bold();
        let mut text = format!("{style}error{style:#}: {error}");
        for cause in error.chain().skip(1) {
            text.push_str(&format!("\n  caused by: {cause}"));
        }
        self.say(text);
    }

    /// Shows that work goes on, if it takes long and someone watches, until the guard is dropped.
    pub fn working(&self, what: &str) -> Working {
        if !io::stderr().is_terminal() {
            return Working { done: None, thread: None };
        }
        let (done, wait) = mpsc::channel::<()>();
        let what = what.to_string();
        let thread = std::thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let bar = spinner(&what);
                let _ = wait.recv();
                bar.finish_and_clear();
            }
        });
        Working { done: Some(done), thread: Some(thread) }
    }
}

/// The choice that is left once the environment has spoken; an explicit flag wins.
fn effective(color: Color, env: impl Fn(&str) -> Option<std::ffi::OsString>) -> Color {
    let set = |name| env(name).is_some_and(|v| !v.is_empty());
    match color {
        Color::Auto if set("NO_COLOR") => Color::Never,
        Color::Auto if set("FORCE_COLOR") => Color::Always,
        other => other,
    }
}

fn spinner(what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(30));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(what.to_string());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Work in progress; dropping it takes the line away.
pub struct Working {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Working {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_wins_over_the_environment_and_no_color_over_force() {
        let env = |names: &'static [&str]| {
            move |n: &str| names.contains(&n).then(|| std::ffi::OsString::from("1"))
        };
        assert_eq!(effective(Color::Auto, env(&[])), Color::Auto);
        assert_eq!(effective(Color::Auto, env(&["FORCE_COLOR"])), Color::Always);
        assert_eq!(effective(Color::Auto, env(&["FORCE_COLOR", "NO_COLOR"])), Color::Never);
        assert_eq!(effective(Color::Always, env(&["NO_COLOR"])), Color::Always);
    }
}
