//! Parameters that are named before their variable, as in `MODULE_PARM(speed, "i"); int speed;`.
//! Linux 2.4's macro only turned the name into a string; Pillion's needs the variable. In such a
//! source, the parameters move to the end after preprocessing, where all variables are known.

/// Makes the macros mark what may move (`rt/include/linux/module.h`).
pub const MARKED: &str = "-DPILLION_MARK_PARAMETERS";
const BEGIN: &str = "pillion_parameter_begin";
const END: &str = "pillion_parameter_end";

/// Whether the order may be the only reason why the compiler rejected a source.
pub fn may_be_cause(said: &str) -> bool {
    let unknown = ["undeclared here (not in a function)", "was not declared in this scope"];
    said.lines().any(|line| line.contains("error:") && unknown.iter().any(|text| line.contains(text)))
}

/// The preprocessed source with its marked parameters at the end. `None` if it has none.
pub fn at_the_end(source: &str) -> Option<String> {
    let (mut rest, mut stays, mut moved) = (source, String::with_capacity(source.len()), String::new());
    while let Some((before, behind)) = rest.split_once(BEGIN) {
        let (parameter, after) = behind.split_once(END)?;
        stays += before;
        moved = moved + parameter.trim() + "\n";
        rest = after;
    }
    (!moved.is_empty()).then(|| stays + rest + "\n" + &moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_move_behind_their_variables() {
        let source = "pillion_parameter_begin P a; pillion_parameter_end;\nint a;\npillion_parameter_begin P b; pillion_parameter_end;\nint b;";
        assert_eq!(at_the_end(source).unwrap(), ";\nint a;\n;\nint b;\nP a;\nP b;\n");
        assert_eq!(at_the_end("int a;"), None);
    }

    #[test]
    fn tells_the_order_from_other_mistakes() {
        assert!(may_be_cause("a.c:3:13: error: 'early' undeclared here (not in a function)"));
        assert!(may_be_cause("a.cc:3:13: error: 'early' was not declared in this scope"));
        assert!(!may_be_cause("a.c:3:1: error: 'early' undeclared (first use in this function)"));
        assert!(!may_be_cause("a.c:3:1: error: expected ';'"));
    }
}
