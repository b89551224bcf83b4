//! Numbers for people: thin separators, few digits, suitable units.

/// The space between groups of three digits, and before a unit; lines do not break there.
const THIN: char = '\u{202f}';
/// Units of time, each with its length in ns, the longest first.
const TIMES: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];
/// Units of memory in bytes, the largest first.
const SIZES: [(&str, f64); 4] = [("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1024.0), ("bytes", 1.0)];
/// Units of frequency in 1/s, the largest first.
const FREQUENCIES: [(&str, f64); 3] = [("MHz", 1e6), ("kHz", 1e3), ("Hz", 1.0)];
/// A unit is used for values from this many of it on: `9 800 ns` is easier to compare with its
/// neighbours than `9.8 µs`.
const ENOUGH: f64 = 10.0;

/// A unit suitable for a magnitude.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Its name as written; empty for plain numbers.
    pub name: String,
    /// The divisor of values in the data's unit.
    pub divisor: f64,
}

impl Unit {
    /// The unit for values of up to `most`, given in `unit`.
    pub fn fitting(unit: &str, most: f64) -> Unit {
        let (family, length): (&[(&str, f64)], f64) = match unit {
            "ns" => (&TIMES, 1.0),
            "us" => (&TIMES, 1e3),
            "ms" => (&TIMES, 1e6),
            "s" => (&TIMES, 1e9),
            "bytes" => (&SIZES, 1.0),
            "Hz" => (&FREQUENCIES, 1.0),
            _ => return Unit { name: written(unit), divisor: 1.0 },
        };
        let fits = |(_, size): &&(&str, f64)| most.abs() * length >= size * ENOUGH;
        let (name, size) = family.iter().find(fits).unwrap_or(&family[family.len() - 1]);
        Unit { name: (*name).into(), divisor: size / length }
    }
}

/// A unit in its usual spelling.
fn written(unit: &str) -> String {
    match unit {
        "1" => String::new(),
        "us" => "µs".into(),
        other => other.into(),
    }
}

/// A number in the unit of its data, without conversion: `250 418 ns`.
pub fn exact(value: f64, unit: &str) -> String {
    with_unit(&plain(value), &written(unit))
}

/// A number in a suitable unit, to four digits: `250.4 µs`.
pub fn quantity(value: f64, unit: &str) -> String {
    let unit = Unit::fitting(unit, value);
    with_unit(&rounded(value / unit.divisor, 4), &unit.name)
}

/// A number followed by its unit.
pub fn with_unit(number: &str, unit: &str) -> String {
    match unit {
        "" => number.into(),
        unit => format!("{number}{THIN}{unit}"),
    }
}

/// A number as exact as a reader may want it.
pub fn plain(value: f64) -> String {
    rounded(value, if value.abs() < 1.0 { 3 } else { 6 })
}

/// A number with that many significant digits; digits before the point are never dropped.
pub fn rounded(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".into();
    }
    let before = value.abs().log10().floor() as i32 + 1;
    if !(-5..=15).contains(&before) {
        return power(value);
    }
    let text = fixed(value, (digits - before).clamp(0, 9) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// A number with that many decimals, and with its digits in groups of three.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let negative = value < 0.0 && text.chars().any(|digit| ('1'..='9').contains(&digit));
    format!("{}{}{rest}", if negative { "−" } else { "" }, grouped(whole))
}

fn grouped(digits: &str) -> String {
    let group = |at: usize| at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 3;
    digits.char_indices().flat_map(|(at, digit)| group(at).then_some(THIN).into_iter().chain([digit])).collect()
}

/// `3.2 × 10¹⁸`; a power of ten alone is `10¹⁸`.
pub fn power(value: f64) -> String {
    let text = format!("{value:.1e}").replace('-', "−");
    let (factor, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised: String = exponent.chars().map(raised).collect();
    match factor {
        "1.0" => format!("10{raised}"),
        factor => format!("{}{THIN}×{THIN}10{raised}", factor.trim_end_matches(".0")),
    }
}

fn raised(digit: char) -> char {
    match digit {
        '−' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => digit.to_digit(10).and_then(|digit| char::from_u32(0x2070 + digit)).unwrap_or(digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with ordinary spaces, for tests.
    fn spaced(text: &str) -> String {
        text.replace(THIN, " ")
    }

    #[test]
    fn digits_stand_in_groups() {
        let cases = [
            (0.0, "0"),
            (999.0, "999"),
            (1000.0, "1 000"),
            (250_418.0, "250 418"),
            (-1234.5, "−1 234.5"),
            (0.75, "0.75"),
        ];
        for (value, text) in cases {
            assert_eq!(spaced(&plain(value)), text);
        }
        assert_eq!((fixed(-0.04, 1), fixed(2.0, 2)), ("0.0".into(), "2.00".into()));
    }

    #[test]
    fn units_fit() {
        let cases = [
            (921.0, "ns", "921 ns"),
            (9_800.0, "ns", "9 800 ns"),
            (250_418.0, "ns", "250.4 µs"),
            (0.011, "s", "11 ms"),
            (0.75, "us", "750 ns"),
            (12.0, "1", "12"),
            (65536.0, "bytes", "64 KiB"),
            (3.5, "%", "3.5 %"),
        ];
        for (value, unit, text) in cases {
            assert_eq!(spaced(&quantity(value, unit)), text);
        }
        assert_eq!(spaced(&exact(250_418.0, "ns")), "250 418 ns");
        assert_eq!(spaced(&exact(8.0, "us")), "8 µs");
    }

    #[test]
    fn what_is_beyond_reading_is_a_power() {
        assert_eq!(power(1e18), "10¹⁸");
        assert_eq!(spaced(&plain(3.2e-9)), "3.2 × 10⁻⁹");
        assert_eq!(plain(f64::NAN), "0");
        assert_eq!(spaced(&plain(f64::MAX)), "1.8 × 10³⁰⁸");
    }
}
