//! The command line for RTLinux programs.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of `x build-task`.
#[derive(Args, Clone)]
#[command(after_help = "EXAMPLES
  ./x build-task my-task.c                      build/tasks/my-task.task, for `./x run --task my-task`
  ./x build-task main.c filter.cc -o control    several sources, C and C++, and a name
  ./x build-task old.c -D SPEED=3 -I include    with a definition and a folder of headers

Sources are compiled as kernel modules were: with __KERNEL__, MODULE and __RTL__ defined. C is compiled as gnu89, with warnings
for what was usual then.")]
pub struct BuildTaskArguments {
    /// Sources: C (.c) or C++ (.cc, .cpp, .cxx, .C)
    #[arg(required = true, value_name = "FILE")]
    pub sources: Vec<PathBuf>,
    /// The task's name [default: that of the first source]
    #[arg(short, long = "output", value_name = "NAME")]
    pub output: Option<String>,
    /// Language standard; it applies to C and C++ alike if they are mixed
    #[arg(long, value_name = "STANDARD")]
    pub std: Option<String>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub definitions: Vec<String>,
    /// Search a folder for headers
    #[arg(short = 'I', value_name = "FOLDER")]
    pub includes: Vec<PathBuf>,
    /// Pass a further argument to the compiler
    #[arg(long = "cc-arg", value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub extra: Vec<String>,
    /// Describe what was built as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `x new`.
#[derive(Args, Clone)]
pub struct NewArguments {
    /// Kind of program
    #[arg(value_name = "KIND")]
    pub kind: Kind,
    /// Its name; a folder of that name is created here
    pub name: String,
}

/// Kinds of programs that `x new` can start.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Kind {
    /// A real-time program with RTLinux's interface, in C
    Rtlinux,
}
