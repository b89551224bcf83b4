//! The steps that an actor is to make, as words of a command line.

/// `seed=N from=N to=N classes=MASK only=N,N,..`: the steps of a seed from one number up to but not
/// including another, of these classes; of these, only those in the list, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders<'a> {
    /// The seed.
    pub seed: u64,
    /// Number of the first step.
    pub from: u32,
    /// Number after the last step.
    pub to: u32,
    /// The bits of the wanted classes.
    pub classes: u32,
    only: Option<&'a str>,
}

impl<'a> Orders<'a> {
    /// All steps of a seed.
    pub const fn new(seed: u64) -> Orders<'a> {
        Orders { seed, from: 0, to: u32::MAX, classes: u32::MAX, only: None }
    }

    /// Parses a line; what the line omits is not restricted.
    pub fn parse(line: &'a str) -> Orders<'a> {
        let mut orders = Orders::new(0);
        for (name, value) in line.split_ascii_whitespace().filter_map(|word| word.split_once('=')) {
            match name {
                "seed" => orders.seed = value.parse().unwrap_or(0),
                "from" => orders.from = value.parse().unwrap_or(0),
                "to" => orders.to = value.parse().unwrap_or(u32::MAX),
                "classes" => orders.classes = value.parse().unwrap_or(u32::MAX),
                "only" => orders.only = Some(value),
                _ => {}
            }
        }
        orders
    }

    /// Returns whether the step with this number is to be made, provided that its class is.
    pub fn wants(&self, number: u32) -> bool {
        let listed = |list: &str| list.split(',').any(|entry| entry.parse() == Ok(number));
        (self.from..self.to).contains(&number) && self.only.is_none_or(listed)
    }
}
