//! What `apt-cache show` prints.

/// An available package.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Stanza {
    /// Name.
    pub package: String,
    /// Version.
    pub version: String,
    /// Names of its dependencies; the first of alternatives.
    pub depends: Vec<String>,
}

/// The packages that the text describes.
pub fn parse(text: &str) -> Vec<Stanza> {
    text.split("\n\n").map(one).filter(|stanza| !stanza.package.is_empty()).collect()
}

fn one(text: &str) -> Stanza {
    let mut stanza = Stanza::default();
    for line in text.lines() {
        match line.split_once(": ") {
            Some(("Package", value)) => stanza.package = value.into(),
            Some(("Version", value)) => stanza.version = value.into(),
            Some(("Depends" | "Pre-Depends", value)) => stanza.depends.extend(value.split(", ").filter_map(name)),
            _ => {}
        }
    }
    stanza
}

/// The package name in `libc6:any (>= 2.36) | other`.
fn name(dependency: &str) -> Option<String> {
    let end = dependency.find([' ', ':', '|']).unwrap_or(dependency.len());
    Some(dependency[..end].to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_versions_and_dependencies() {
        let text = "Package: a\nVersion: 1:2-3\nPre-Depends: dpkg (>= 1)\nDepends: libb (= 2) | libc, libd:any\n\n\
                    Package: e\nVersion: 4\nDescription: Depends: no\n";
        let stanzas = parse(text);
        assert_eq!(stanzas.len(), 2);
        assert_eq!(stanzas[0].version, "1:2-3");
        assert_eq!(stanzas[0].depends, ["dpkg", "libb", "libd"]);
        assert_eq!(stanzas[1], Stanza { package: "e".into(), version: "4".into(), depends: vec![] });
    }
}
