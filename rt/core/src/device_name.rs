//! Device names: `/dev/NAME` and a number.

/// The device that a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device<'a> {
    /// The name without the number.
    pub name: &'a [u8],
    /// The number; 0 if the path has none.
    pub minor: u32,
}

/// Parses a path. `None` if it is not a device's, or the number does not fit.
#[must_use]
pub fn parse(path: &[u8]) -> Option<Device<'_>> {
    let name = path.strip_prefix(b"/dev/")?;
    let letters = name.iter().rposition(|c| !c.is_ascii_digit())? + 1;
    let (name, digits) = name.split_at(letters);
    let minor = digits.iter().try_fold(0u32, |n, d| n.checked_mul(10)?.checked_add(u32::from(d - b'0')))?;
    Some(Device { name, minor })
}
