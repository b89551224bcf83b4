//! Module parameters: parses `name=value other=1,2,3`, and the types that `MODULE_PARM` declares.

/// What is wrong with a task's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// An argument has no `=`.
    NoValue,
    /// A value is not a number, or does not fit.
    Number,
    /// There are fewer or more values than the parameter takes.
    Count,
    /// The declaration in the program has an unknown type.
    Type,
    /// A text is longer than the array of characters that it is for.
    Length,
}

/// Kind of a parameter's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number, signed or not.
    Number {
        /// 1, 2, 4 or 8.
        bytes: usize,
        /// Only numbers from 0 on are accepted.
        unsigned: bool,
    },
    /// A pointer to text.
    Text,
    /// Text in an array of characters, each with this many bytes.
    Characters(usize),
}

impl Kind {
    /// Bytes from one value to the next in an array.
    #[must_use]
    pub fn stride(self) -> usize {
        match self {
            Kind::Number { bytes, .. } => bytes,
            Kind::Text => size_of::<usize>(),
            Kind::Characters(bytes) => bytes,
        }
    }
}

/// Type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// Fewest values.
    pub least: usize,
    /// Most values.
    pub most: usize,
    /// Their kind.
    pub kind: Kind,
}

impl Type {
    /// Parses the type of `MODULE_PARM`, such as `"1-4i"`, or of `module_param`, such as `"=int"`.
    pub fn parse(text: &str) -> Result<Type, Problem> {
        if let Some(word) = text.strip_prefix('=') {
            return Ok(Type { least: 1, most: 1, kind: spelled_out(word)? });
        }
        let (least, rest) = leading_number(text);
        let (most, rest) = match rest.strip_prefix('-') {
            Some(rest) => leading_number(rest),
            None => (least, rest),
        };
        let (least, most) = (least.unwrap_or(1), most.unwrap_or(1));
        let kind = letter(rest)?;
        if least > most || most == 0 { Err(Problem::Type) } else { Ok(Type { least, most, kind }) }
    }

    /// Adapts the type to a variable of `bytes` bytes; `None` if that cannot hold all values.
    ///
    /// Programs for 32-bit machines mix the letters for `int` and `long`: the variable's size
    /// decides, if it is a valid number size for each value.
    #[must_use]
    pub fn for_variable(self, bytes: usize) -> Option<Type> {
        let mut adapted = self;
        if let Kind::Number { unsigned, .. } = self.kind
            && bytes.is_multiple_of(self.most)
            && let bytes @ (1 | 2 | 4 | 8) = bytes / self.most
        {
            adapted.kind = Kind::Number { bytes, unsigned };
        }
        let needed = adapted.kind.stride().checked_mul(self.most)?;
        (needed <= bytes).then_some(adapted)
    }
}

fn leading_number(text: &str) -> (Option<usize>, &str) {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = text.split_at(digits);
    (number.parse().ok(), rest)
}

fn letter(text: &str) -> Result<Kind, Problem> {
    let number = |bytes| Kind::Number { bytes, unsigned: false };
    Ok(match text {
        "b" => number(1),
        "h" => number(2),
        "i" => number(4),
        "l" => number(8),
        "s" => Kind::Text,
        _ => match text.strip_prefix('c').map(leading_number) {
            Some((Some(bytes), "")) if bytes > 0 => Kind::Characters(bytes),
            _ => return Err(Problem::Type),
        },
    })
}

fn spelled_out(word: &str) -> Result<Kind, Problem> {
    let (bytes, unsigned) = match word {
        "byte" => (1, true),
        "short" => (2, false),
        "ushort" => (2, true),
        "int" => (4, false),
        "uint" => (4, true),
        "bool" => (4, false),
        "long" => (8, false),
        "ulong" => (8, true),
        "charp" => return Ok(Kind::Text),
        _ => return Err(Problem::Type),
    };
    Ok(Kind::Number { bytes, unsigned })
}

/// Parses a number for a variable of `bytes` bytes: decimal, `0x` or octal as in C. For signed
/// variables, negative numbers are accepted, and numbers that only fit without a sign as well, as
/// long as their bits fit.
pub fn number(text: &str, bytes: usize, unsigned: bool) -> Result<u64, Problem> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (digits, radix) = match digits {
        d if d.starts_with("0x") || d.starts_with("0X") => (&d[2..], 16),
        d if d.len() > 1 && d.starts_with('0') => (&d[1..], 8),
        d => (d, 10),
    };
    if digits.starts_with('+') {
        return Err(Problem::Number);
    }
    let magnitude = u64::from_str_radix(digits, radix).map_err(|_| Problem::Number)?;
    let bits = bytes as u32 * 8;
    let limit = if negative { 1 << (bits - 1) } else { u64::MAX >> (64 - bits) };
    if magnitude > limit || negative && unsigned {
        return Err(Problem::Number);
    }
    Ok(if negative { magnitude.wrapping_neg() } else { magnitude })
}

/// An argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument<'a> {
    /// Its name.
    pub name: &'a str,
    /// What follows the `=`, without quotes around it.
    pub value: &'a str,
}

impl Argument<'_> {
    /// The values of the argument, one by one.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.value.split(',')
    }
}

/// Parses the arguments one by one. They are separated by blanks, except within double quotes.
pub fn arguments(text: &str) -> impl Iterator<Item = Result<Argument<'_>, Problem>> {
    let mut rest = text;
    core::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let mut quoted = false;
        let end = rest.find(|c: char| {
            quoted ^= c == '"';
            c.is_ascii_whitespace() && !quoted
        });
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(word.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or(Problem::NoValue).map(|(name, value)| {
            let unquoted = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
            Argument { name, value: unquoted.unwrap_or(value) }
        }))
    })
}
