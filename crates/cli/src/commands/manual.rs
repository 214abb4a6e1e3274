//! `innoscan manual`: the man pages and the completions of shells, from the definitions that `--help` prints.

use std::io::{self, Write as _};
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use innoscan_engine::Error;
use innoscan_export::dump::DUMPER;

use crate::args::{Cli, ManualArgs};
use crate::messages::Exit;

/// The name of the program.
const NAME: &str = "innoscan";

pub fn run(args: &ManualArgs) -> anyhow::Result<Exit> {
    write(&args.directory)
        .map_err(|error| Error::write("writing the manual", error).in_file(&args.directory))?;
    Ok(Exit::Done)
}

fn write(directory: &Path) -> io::Result<()> {
    let (pages, completions) = (directory.join("man1"), directory.join("completions"));
    std::fs::create_dir_all(&pages)?;
    std::fs::create_dir_all(&completions)?;
    let mut program = Cli::command();
    program.build();
    page(program.clone(), NAME, &pages)?;
    for verb in program.get_subcommands().filter(|verb| verb.get_name() != "help") {
        page(verb.clone(), &format!("{NAME}-{}", verb.get_name()), &pages)?;
    }
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut Cli::command(), NAME, &completions)?;
    }
    Ok(())
}

/// Writes the page of a command.
fn page(mut command: Command, name: &str, directory: &Path) -> io::Result<()> {
    let usage = command.render_usage().to_string();
    let has_commands = command.has_subcommands();
    let page = Man::new(command).title(name).source(DUMPER).manual(NAME);
    let mut out = Vec::new();
    page.render_title(&mut out)?;
    page.render_name_section(&mut out)?;
    // With each option, as in `render_synopsis_section`, it would fill a screen.
    writeln!(out, ".SH SYNOPSIS\n{}", roff(usage.trim_start_matches("Usage: ")))?;
    page.render_description_section(&mut out)?;
    page.render_options_section(&mut out)?;
    if has_commands {
        page.render_subcommands_section(&mut out)?;
    }
    page.render_extra_section(&mut out)?;
    let text: String = String::from_utf8_lossy(&out).lines().map(mended).collect();
    std::fs::write(directory.join(format!("{name}.1")), text)
}

/// A line of a page. [`Man`] names the examples "extra", and leaves the backslashes of headings as they are.
fn mended(line: &str) -> String {
    match line {
        ".SH EXTRA" => ".SH EXAMPLES AND NOTES\n".to_owned(),
        heading if heading.starts_with(".SH") => heading.replace('\\', r"\e") + "\n",
        line => format!("{line}\n"),
    }
}

/// A line of text, as the language of man pages has it.
fn roff(line: &str) -> String {
    line.trim().replace('\\', r"\e").replace('-', r"\-")
}
