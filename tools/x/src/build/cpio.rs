//! Archives as Linux unpacks them at boot ("newc"); the same contents give the same bytes.

use std::collections::BTreeMap;

/// What is at a path in the archive.
pub enum Node {
    /// A folder.
    Folder,
    /// A file: its bytes, and whether it is executable.
    File(Vec<u8>, bool),
    /// A symbolic link.
    Link(String),
    /// A character device: major and minor number.
    Device(u32, u32),
}

/// The contents of an archive, by path.
#[derive(Default)]
pub struct Tree {
    nodes: BTreeMap<String, Node>,
}

impl Tree {
    /// Adds a node, and the folders above it.
    pub fn add(&mut self, path: &str, node: Node) {
        for (end, _) in path.match_indices('/') {
            self.nodes.entry(path[..end].to_owned()).or_insert(Node::Folder);
        }
        self.nodes.insert(path.to_owned(), node);
    }

    /// The archive.
    pub fn archive(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, (path, node)) in self.nodes.iter().enumerate() {
            entry(&mut out, number as u32 + 1, path, node);
        }
        record(&mut out, [0, 0, 1, 0, 0], "TRAILER!!!", &[]);
        out.resize(out.len().next_multiple_of(512), 0);
        out
    }
}

fn entry(out: &mut Vec<u8>, number: u32, path: &str, node: &Node) {
    match node {
        Node::Folder => record(out, [number, 0o040_755, 2, 0, 0], path, &[]),
        Node::File(data, program) => {
            let mode = if *program { 0o100_755 } else { 0o100_644 };
            record(out, [number, mode, 1, 0, 0], path, data);
        }
        Node::Link(target) => record(out, [number, 0o120_777, 1, 0, 0], path, target.as_bytes()),
        Node::Device(major, minor) => record(out, [number, 0o020_600, 1, *major, *minor], path, &[]),
    }
}

/// Writes a record; `numbers` are inode, mode, links, and the device's major and minor. Owner and
/// time are zero.
fn record(out: &mut Vec<u8>, numbers: [u32; 5], path: &str, data: &[u8]) {
    let [inode, mode, links, major, minor] = numbers;
    let name_size = path.len() as u32 + 1;
    let fields = [inode, mode, 0, 0, links, 0, data.len() as u32, 0, 0, major, minor, name_size, 0];
    out.extend_from_slice(b"070701");
    for field in fields {
        out.extend_from_slice(format!("{field:08x}").as_bytes());
    }
    out.extend_from_slice(path.as_bytes());
    out.push(0);
    pad(out);
    out.extend_from_slice(data);
    pad(out);
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::default();
        tree.add("b/c", Node::File(b"hello".to_vec(), true));
        tree.add("a", Node::Link("dev".into()));
        tree.add("dev/console", Node::Device(5, 1));
        tree
    }

    #[test]
    fn same_contents_same_bytes_on_boundaries() {
        let bytes = tree().archive();
        assert_eq!(bytes, tree().archive());
        assert_eq!(bytes.len() % 512, 0);
        assert!(bytes.starts_with(b"070701"));
    }

    #[test]
    fn folders_come_before_what_they_hold() {
        let text = String::from_utf8(tree().archive()).unwrap();
        let at = |name: &str| text.find(&format!("{name}\0")).unwrap();
        assert!(at("dev") < at("dev/console"));
        assert!(at("b") < at("b/c"));
    }
}
