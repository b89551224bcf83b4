//! Checks the claims in documents that a machine can check: commands and their options, paths,
//! links, folders, dependencies, options of the kernel's command line. Each contradiction is a line
//! with the document, its claim, and the fact.

use super::width;
use crate::cli::Cli;
use crate::file::read_text;
use crate::repository::Repository;
use anyhow::Result;
use clap::CommandFactory as _;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Whether documents and repository agree; reports every contradiction.
pub fn check(repository: &Repository) -> Result<bool> {
    let tree = Tree::read(repository)?;
    let mut wrong = Vec::new();
    for (name, text) in &tree.texts {
        wrong.extend(width::wide(name, text));
        wrong.extend(unmerged(name, text));
    }
    for (name, text) in tree.documents() {
        let mut tell = |what: String| wrong.push(format!("{}: {what}", name.display()));
        commands(&tree, text).into_iter().for_each(&mut tell);
        paths(&tree, text).into_iter().for_each(&mut tell);
        links(&tree, name, text).into_iter().for_each(&mut tell);
    }
    wrong.extend(folders(&tree));
    wrong.extend(dependencies(&tree));
    wrong.extend(unmentioned(&tree));
    wrong.extend(options(&tree));
    wrong.extend(forbidding(&tree));
    wrong.iter().for_each(|line| eprintln!("  {line}"));
    Ok(wrong.is_empty())
}

/// Lines that a merge left for somebody to decide.
fn unmerged(name: &Path, text: &str) -> Vec<String> {
    let is_one = |line: &str| ["<<<<<<< ", ">>>>>>> "].iter().any(|mark| line.starts_with(mark));
    let lines = (1..).zip(text.lines()).filter(|(_, line)| is_one(line));
    lines.map(|(number, _)| format!("{}:{number}: a conflict of a merge is left", name.display())).collect()
}

/// The repository's files by their paths; the text of those that are checked.
struct Tree {
    files: BTreeSet<PathBuf>,
    texts: BTreeMap<PathBuf, String>,
}

impl Tree {
    fn read(repository: &Repository) -> Result<Tree> {
        let mut tree = Tree { files: BTreeSet::new(), texts: BTreeMap::new() };
        for path in repository.files()? {
            if path.extension().is_some_and(|end| ["md", "rs", "c", "h"].iter().any(|one| end == *one))
                || path.ends_with("Cargo.toml")
            {
                tree.texts.insert(path.clone(), read_text(&repository.path(&path))?);
            }
            tree.files.insert(path);
        }
        Ok(tree)
    }

    /// The documents that describe the present state; the list of changes describes the past.
    fn documents(&self) -> impl Iterator<Item = (&Path, &str)> {
        let is_one = |path: &Path| path.extension().is_some_and(|end| end == "md") && path != Path::new("CHANGES.md");
        self.texts.iter().map(|(path, text)| (path.as_path(), text.as_str())).filter(move |(path, _)| is_one(path))
    }

    fn text(&self, path: &str) -> &str {
        self.texts.get(Path::new(path)).map_or("", String::as_str)
    }

    /// Whether a file or folder of this path exists, relative to the root or to any folder.
    fn holds(&self, wanted: &str) -> bool {
        let wanted = wanted.trim_end_matches('/');
        self.files.iter().any(|file| {
            let file = format!("/{}/", file.display());
            matches(&file, &format!("/{wanted}/"))
        })
    }
}

/// Whether a text contains a pattern in which `*` and `NAME` stand for anything but a slash.
fn matches(text: &str, pattern: &str) -> bool {
    let pattern = pattern.replace("NAME", "*");
    let parts: Vec<&str> = pattern.split('*').collect();
    text.match_indices(parts[0]).any(|(at, first)| {
        let mut rest = &text[at + first.len()..];
        parts[1..].iter().all(|part| {
            let found = rest.find(part).filter(|end| !rest[..*end].contains('/'));
            found.is_some_and(|end| {
                rest = &rest[end + part.len()..];
                true
            })
        })
    })
}

/// The alternatives that braces stand for: `a/{b,c}` stands for `a/b` and `a/c`.
fn alternatives(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let Some((inside, after)) = rest.split_once('}') else { return vec![path.to_owned()] };
    inside.split(',').flat_map(|one| alternatives(&format!("{before}{}{after}", one.trim()))).collect()
}

/// Commands of `./x`, their options, and the experiments that they name.
fn commands(tree: &Tree, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for line in text.match_indices("./x ").map(|(at, _)| text[at..].split_once(['`', '\n']).unwrap_or_default().0) {
        // After two blanks comes a description of the command.
        let line = line.split("  ").next().unwrap_or_default().split(" #").next().unwrap_or_default();
        let mut command = Cli::command();
        let mut words = line.split_whitespace().skip(1).peekable();
        while let Some(next) = words.peek().and_then(|word| command.find_subcommand(word)) {
            command = next.clone();
            words.next();
        }
        let rest: Vec<&str> = words.collect();
        let named = rest
            .first()
            .is_none_or(|word| !command.has_subcommands() || word.starts_with(char::is_uppercase) || *word == "...");
        if !named {
            wrong.push(format!("`{line}`: no such command"));
        }
        let longs: Vec<&str> = command.get_arguments().filter_map(|argument| argument.get_long()).collect();
        for word in &rest {
            let option =
                word.strip_prefix("--").map(|word| word.split(['=', ',', ')', ';', '.']).next().unwrap_or_default());
            if option.is_some_and(|option| option != "help" && !longs.contains(&option)) {
                wrong.push(format!("`{line}`: `./x {}` has no option {word}", command.get_name()));
            }
        }
        if line.starts_with("./x measure run ") {
            let experiments = rest.iter().take_while(|word| !word.starts_with('-'));
            let unknown =
                experiments.filter(|name| **name != "all" && !tree.holds(&format!("measure/experiments/{name}")));
            wrong.extend(unknown.map(|name| format!("`{line}`: there is no experiment {name}")));
        }
    }
    wrong
}

/// Paths in backquotes that begin with a folder of the root.
fn paths(tree: &Tree, text: &str) -> Vec<String> {
    let roots: BTreeSet<&str> = tree.files.iter().filter_map(|file| file.iter().next()?.to_str()).collect();
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_./{},*-".contains(c);
        word.chars().all(plain) && word.split_once('/').is_some_and(|(root, _)| roots.contains(root))
    };
    let missing = |path: &String| !tree.holds(path) && !is_test(tree, path) && !path.ends_with(".h");
    quoted.filter(is_path).flat_map(alternatives).filter(missing).map(|path| format!("{path} is not there")).collect()
}

/// Whether a path is the name of a test program: tests are called `rt/NAME` as well.
fn is_test(tree: &Tree, path: &str) -> bool {
    path.strip_prefix("rt/").is_some_and(|name| {
        tree.files.iter().any(|file| {
            file.starts_with("rt/tests/programs")
                && file.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name))
        })
    })
}

fn links(tree: &Tree, document: &Path, text: &str) -> Vec<String> {
    let targets = text
        .match_indices("](")
        .filter_map(|(at, _)| text[at + 2..].split_once([')', '#', ' ']).map(|(target, _)| target));
    let own = targets.filter(|target| !target.is_empty() && !target.contains(':'));
    let there = |target: &&str| {
        let mut path = document.parent().unwrap_or(Path::new("")).to_path_buf();
        for part in target.split('/') {
            match part {
                ".." => drop(path.pop()),
                "." | "" => {}
                part => path.push(part),
            }
        }
        tree.files.iter().any(|file| file.starts_with(&path))
    };
    own.filter(|target| !there(target)).map(|target| format!("the link to {target} leads nowhere")).collect()
}

/// Checks that each folder of the root, and each folder in these that contains a crate, has a row
/// in ARCHITECTURE.
fn folders(tree: &Tree) -> Vec<String> {
    let map = tree.text("ARCHITECTURE.md");
    let roots = tree
        .files
        .iter()
        .filter(|file| file.iter().count() > 1)
        .filter_map(|file| file.iter().next())
        .map(PathBuf::from);
    let crates = tree
        .files
        .iter()
        .filter(|file| file.ends_with("Cargo.toml"))
        .map(|file| file.iter().take(file.iter().count().min(3) - 1).collect::<PathBuf>());
    let wanted: BTreeSet<PathBuf> = roots.chain(crates).collect();
    let is_told = |folder: &Path| {
        let whole = format!("`{}/", folder.display());
        // A row may begin with `tests/` and call its contents `kit/`.
        let (last, above) = (folder.file_name().map(|name| format!("`{}/`", name.to_string_lossy())), folder.parent());
        map.contains(&whole)
            || last.is_some_and(|last| {
                map.lines().any(|row| {
                    above.is_some_and(|above| row.starts_with(&format!("| `{}/`", above.display())))
                        && row.contains(&last)
                })
            })
    };
    let hidden = |folder: &Path| folder.to_string_lossy().starts_with('.') || folder == Path::new("");
    wanted
        .iter()
        .filter(|folder| !hidden(folder) && !is_told(folder))
        .map(|folder| format!("ARCHITECTURE.md: {}/ is not in the table of folders", folder.display()))
        .collect()
}

/// Checks that each dependency has its reason in a decision, for the package that has it, and that
/// each reason has its dependency.
fn dependencies(tree: &Tree) -> Vec<String> {
    const DECISION: &str = "docs/decisions/0014-dependencies.md";
    let mut used: BTreeSet<(String, &Path)> = BTreeSet::new();
    for (path, text) in tree.texts.iter().filter(|(path, _)| path.ends_with("Cargo.toml")) {
        let mut inside = false;
        for line in text.lines() {
            if let Some(section) = line.strip_prefix('[') {
                inside = section.contains("dependencies");
            }
            let Some((name, what)) =
                line.split_once([' ', '.', '=']).filter(|_| inside && !line.starts_with(['[', '#']))
            else {
                continue;
            };
            if !what.contains("path") && !name.starts_with("pillion-") {
                used.insert((name.to_owned(), path.parent().unwrap_or(path)));
            }
        }
    }
    let rows = tree.text(DECISION).lines().filter(|line| line.starts_with("| `"));
    let quoted = |cell: &'_ str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let told: Vec<(Vec<String>, Vec<String>)> = rows
        .filter_map(|row| {
            let mut cells = row.split('|').skip(1);
            Some((quoted(cells.next()?), quoted(cells.next()?)))
        })
        .collect();
    let is_told = |(name, package): &&(String, &Path)| {
        told.iter().any(|(names, places)| names.contains(name) && places.iter().any(|place| package.starts_with(place)))
    };
    let untold = used
        .iter()
        .filter(|one| !is_told(one))
        .map(|(name, package)| format!("{DECISION}: {name} has no row for {}", package.display()));
    let uses = |name: &str, place: &str| used.iter().any(|(used, package)| used == name && package.starts_with(place));
    let unused = told.iter().flat_map(|(names, places)| {
        let gone = names.iter().filter(|name| !places.iter().any(|place| uses(name, place)));
        let gone = gone.map(|name| format!("{DECISION}: nothing depends on {name}, where its row says so"));
        let left = places.iter().filter(|place| !names.iter().any(|name| uses(name, place)));
        let left = left.map(move |place| format!("{DECISION}: {place} does not depend on {}", names.join(", ")));
        gone.chain(left).collect::<Vec<_>>()
    });
    untold.chain(unused).collect()
}

/// Checks that some document shows how each command of `./x` is called.
fn unmentioned(tree: &Tree) -> Vec<String> {
    fn names(command: &clap::Command, path: &str, all: &mut Vec<String>) {
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let path = format!("{path} {}", inner.get_name());
            names(inner, &path, all);
            all.push(path);
        }
    }
    let mut all = Vec::new();
    names(&Cli::command(), "./x", &mut all);
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
    let is_told = |name: &str| {
        tree.documents().any(|(_, text)| text.match_indices(name).any(|(at, _)| ends(&text[at + name.len()..])))
    };
    all.iter().filter(|name| !is_told(name)).map(|name| format!("no document mentions `{name}`")).collect()
}

/// Compares the options of the kernel's command line that the code reads with those that the
/// document lists.
fn options(tree: &Tree) -> Vec<String> {
    const DOCUMENT: &str = "docs/boot.md";
    // How the kernel looks for options, and how the resource manager does.
    const READ: [(&str, char); 3] = [("word == b\"", '='), (".option(\"", '"'), (".word(\"", '"')];
    let section = tree.text(DOCUMENT).split_once("## Options of the kernel's command line");
    let section = section.and_then(|(_, rest)| rest.split("\n## ").next()).unwrap_or_default();
    let row = |line: &'_ str| Some(line.strip_prefix("| `")?.split_once('=')?.0.to_owned());
    let told: BTreeSet<String> = section.lines().filter_map(row).collect();
    let code = |path: &Path| path.starts_with("kernel/src") || path.starts_with("user/resmgr/src");
    let mut read = BTreeSet::new();
    for (_, text) in tree.texts.iter().filter(|(path, _)| code(path)) {
        for (before, end) in READ {
            let names = text.split(before).skip(1).filter_map(|rest| rest.split_once(end));
            read.extend(names.map(|(name, _)| name.to_owned()));
        }
    }
    let unread = told.difference(&read).map(|name| format!("{DOCUMENT}: nothing reads the option {name}="));
    let untold = read.difference(&told).map(|name| format!("{DOCUMENT}: the option {name}= has no row"));
    unread.chain(untold).collect()
}

/// Checks that the document names exactly the packages that forbid `unsafe`; for a package with two
/// roots of which one forbids it, that root.
fn forbidding(tree: &Tree) -> Vec<String> {
    const DOCUMENT: &str = "docs/safety.md";
    const FORBIDS: &str = "#![forbid(unsafe_code)]";
    let list = tree.text(DOCUMENT).split_once("Forbidden in ").and_then(|(_, rest)| rest.split("\n\n").next());
    let told: BTreeSet<String> = list.unwrap_or_default().split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let mut found = BTreeSet::new();
    for package in tree.texts.keys().filter(|path| path.ends_with("Cargo.toml")).filter_map(|path| path.parent()) {
        let roots = ["src/lib.rs", "src/main.rs"].map(|root| package.join(root));
        let (good, other): (Vec<_>, Vec<_>) = roots
            .iter()
            .filter_map(|root| Some((root, tree.texts.get(root)?)))
            .partition(|(_, text)| text.contains(FORBIDS));
        match (good.as_slice(), other.as_slice()) {
            ([_, ..], []) => drop(found.insert(package.display().to_string())),
            (good, _) => found.extend(good.iter().map(|(root, _)| root.display().to_string())),
        }
    }
    let untold = found.difference(&told).map(|name| format!("{DOCUMENT}: {name} forbids `unsafe`, and is not named"));
    untold.chain(told.difference(&found).map(|name| format!("{DOCUMENT}: {name} does not forbid `unsafe`"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        Tree {
            files: files.iter().map(|(path, _)| path.into()).collect(),
            texts: files.iter().map(|(path, text)| (path.into(), (*text).to_owned())).collect(),
        }
    }

    #[test]
    fn what_a_merge_left_is_found() {
        let side = |mark: char| format!("{} HEAD\n", String::from(mark).repeat(7));
        let text = format!("a\n{}b\n=======\n{}", side('<'), side('>'));
        assert_eq!(unmerged(Path::new("a.md"), &text).len(), 2);
        assert!(unmerged(Path::new("a.md"), "=======\n    <<<<<<< HEAD\n").is_empty());
    }

    #[test]
    fn commands_are_those_that_there_are() {
        let tree = tree(&[("measure/experiments/psd/README.md", "")]);
        for good in
            ["./x run --headless --load disk", "./x COMMAND --help", "./x measure run psd --quick", "./x test rt/NAME"]
        {
            assert_eq!(commands(&tree, &format!("`{good}`\n")), [""; 0], "{good}");
        }
        for (bad, said) in [
            ("./x runs", "no such command"),
            ("./x run --heedless", "no option"),
            ("./x measure run pds", "no experiment"),
        ] {
            let wrong = commands(&tree, &format!("    {bad}   does it\n"));
            assert!(wrong.len() == 1 && wrong[0].contains(said), "{bad}: {wrong:?}");
        }
    }

    #[test]
    fn paths_and_links_lead_somewhere() {
        let tree =
            tree(&[("rt/core/a.rs", ""), ("rt/core/b.rs", ""), ("docs/one.md", ""), ("rt/tests/programs/motor.c", "")]);
        for good in ["rt/core/{a,b}.rs", "rt/core/", "rt/*/a.rs", "rt/core/NAME.rs", "core/a.rs", "rt/motor"] {
            assert_eq!(paths(&tree, &format!("`{good}`\n")), [""; 0], "{good}");
        }
        assert_eq!(paths(&tree, "`rt/core/{a,c}.rs`"), ["rt/core/c.rs is not there"]);
        let links = |text: &str| links(&tree, Path::new("docs/two.md"), text);
        assert!(links("[one](one.md) [a](../rt/core/a.rs#L3) [there](https://example.org) [here](#here)").is_empty());
        assert_eq!(links("[one](none.md)"), ["the link to none.md leads nowhere"]);
    }

    #[test]
    fn dependencies_have_reasons_and_reasons_dependencies() {
        let decision = "| `serde`, `toml` | `a`, tests of `b` | `c` |\n| `gone` | `a` | x |\n";
        let manifest = "[package]\nname = \"a\"\n[dependencies]\nserde = \"1\"\ntoml.workspace = true\nclap = { version = \"4\" }\npillion-abi.workspace = true\n";
        let wrong =
            dependencies(&tree(&[("docs/decisions/0014-dependencies.md", decision), ("a/Cargo.toml", manifest)]));
        for said in ["clap has no row for a", "b does not depend on serde, toml", "nothing depends on gone"] {
            assert!(wrong.iter().any(|wrong| wrong.contains(said)), "{said}: {wrong:?}");
        }
        let elsewhere = "[dependencies]\ntoml = \"1\"\n";
        let wrong =
            dependencies(&tree(&[("docs/decisions/0014-dependencies.md", decision), ("d/Cargo.toml", elsewhere)]));
        assert!(wrong.iter().any(|wrong| wrong.contains("toml has no row for d")), "{wrong:?}");
    }

    #[test]
    fn commands_are_told() {
        let wrong = unmentioned(&tree(&[("README.md", "`./x run` and `./x measure run`, `./x build-task`")]));
        let is_wrong = |name: &str| wrong.contains(&format!("no document mentions `{name}`"));
        assert!(!is_wrong("./x run") && !is_wrong("./x measure run") && !is_wrong("./x measure"), "{wrong:?}");
        assert!(is_wrong("./x build") && is_wrong("./x measure report"), "{wrong:?}");
    }

    #[test]
    fn who_forbids_unsafe_is_named() {
        let forbids = "#![forbid(unsafe_code)]\n";
        let files = [
            ("docs/safety.md", "Forbidden in `a`, `b` and `c/src/lib.rs`.\n\nElsewhere `d`.\n"),
            ("a/Cargo.toml", ""),
            ("a/src/main.rs", forbids),
            ("a/src/lib.rs", forbids),
            ("b/Cargo.toml", ""),
            ("b/src/lib.rs", ""),
            ("c/Cargo.toml", ""),
            ("c/src/main.rs", ""),
            ("c/src/lib.rs", forbids),
            ("d/Cargo.toml", ""),
            ("d/src/lib.rs", forbids),
        ];
        let wrong = forbidding(&tree(&files));
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert!(wrong[0].contains("d forbids") && wrong[1].contains("b does not forbid"), "{wrong:?}");
    }

    #[test]
    fn folders_and_options_are_told() {
        let map = "| `tests/` | `kit/` and `life/` |\n| `abi/` | numbers |\n";
        let files = [("ARCHITECTURE.md", map), ("tests/kit/Cargo.toml", ""), ("abi/Cargo.toml", ""), ("rt/lib.rs", "")];
        assert_eq!(folders(&tree(&files)), ["ARCHITECTURE.md: rt/ is not in the table of folders"]);
        let document = "## Options of the kernel's command line\n| `log=com1` | x |\n| `until=ended` | x |\n## More\n| `not=one` |";
        let wrong = options(&tree(&[
            ("docs/boot.md", document),
            ("kernel/src/a.rs", "if word == b\"log=com1\" { m.option(\"trace\") }"),
        ]));
        assert_eq!(
            wrong,
            ["docs/boot.md: nothing reads the option until=", "docs/boot.md: the option trace= has no row"]
        );
    }
}
