//! Parameters of modules.

use pillion_rt_core::parameters::{Argument, Kind, Problem, Type, arguments, number};

fn kind(bytes: usize) -> Kind {
    Kind::Number { bytes, unsigned: false }
}

#[test]
fn types_of_module_parm() {
    let one = |kind| Ok(Type { least: 1, most: 1, kind });
    assert_eq!(Type::parse("i"), one(kind(4)));
    assert_eq!(Type::parse("b"), one(kind(1)));
    assert_eq!(Type::parse("h"), one(kind(2)));
    assert_eq!(Type::parse("l"), one(kind(8)));
    assert_eq!(Type::parse("s"), one(Kind::Text));
    assert_eq!(Type::parse("c20"), one(Kind::Characters(20)));
    assert_eq!(Type::parse("1-4i"), Ok(Type { least: 1, most: 4, kind: kind(4) }));
    assert_eq!(Type::parse("3s"), Ok(Type { least: 3, most: 3, kind: Kind::Text }));
    for wrong in ["", "x", "4-1i", "0i", "c", "c0", "ii", "1-", "-2147483649i5"] {
        assert_eq!(Type::parse(wrong), Err(Problem::Type), "{wrong}");
    }
}

#[test]
fn types_of_module_param() {
    assert_eq!(Type::parse("=int").unwrap().kind, kind(4));
    assert_eq!(Type::parse("=ulong").unwrap().kind, Kind::Number { bytes: 8, unsigned: true });
    assert_eq!(Type::parse("=charp").unwrap().kind, Kind::Text);
    assert_eq!(Type::parse("=float"), Err(Problem::Type));
}

#[test]
fn variables_decide_how_wide_numbers_are() {
    let four = Type::parse("1-4i").unwrap();
    assert_eq!(four.for_variable(16).unwrap().kind, kind(4));
    assert_eq!(four.for_variable(32).unwrap().kind, kind(8));
    assert_eq!(four.for_variable(20).unwrap().kind, kind(4));
    assert_eq!(four.for_variable(15), None);
    let long = Type::parse("l").unwrap();
    assert_eq!(long.for_variable(4).unwrap().kind, kind(4));
    assert_eq!(long.for_variable(7), None);
    assert_eq!(Type::parse("s").unwrap().for_variable(4), None);
    assert_eq!(Type::parse("2c8").unwrap().for_variable(15), None);
    assert!(Type::parse("2c8").unwrap().for_variable(16).is_some());
    assert_eq!(Type::parse("18446744073709551615l").unwrap().for_variable(8), None);
}

#[test]
fn numbers_fit_their_variables() {
    assert_eq!(number("12", 4, false), Ok(12));
    assert_eq!(number("0x1F", 1, false), Ok(31));
    assert_eq!(number("017", 2, false), Ok(15));
    assert_eq!(number("0", 4, false), Ok(0));
    assert_eq!(number("-1", 4, false), Ok(u64::MAX));
    assert_eq!(number("-128", 1, false), Ok(-128i64 as u64));
    assert_eq!(number("255", 1, false), Ok(255));
    assert_eq!(number("0xffffffff", 4, false), Ok(0xffff_ffff));
    assert_eq!(number("18446744073709551615", 8, false), Ok(u64::MAX));
    for (text, bytes) in [
        ("", 4),
        ("-", 4),
        ("x", 4),
        ("1 ", 4),
        ("256", 1),
        ("-129", 1),
        ("4294967296", 4),
        ("0x", 4),
        ("+1", 4),
        ("08", 4),
        ("--1", 4),
        ("0x+1", 4),
    ] {
        assert_eq!(number(text, bytes, false), Err(Problem::Number), "{text}");
    }
    assert_eq!(number("-1", 4, true), Err(Problem::Number));
}

#[test]
fn arguments_are_words() {
    let all: Vec<_> = arguments(" period=100  gains=1,2,3 name=\"a b\" empty=").map(Result::unwrap).collect();
    let expected = [("period", "100"), ("gains", "1,2,3"), ("name", "a b"), ("empty", "")];
    assert_eq!(all, expected.map(|(name, value)| Argument { name, value }));
    assert_eq!(all[1].values().collect::<Vec<_>>(), ["1", "2", "3"]);
    assert_eq!(arguments("").count(), 0);
}

#[test]
fn arguments_without_values_are_wrong() {
    assert_eq!(arguments("a=1 b").last(), Some(Err(Problem::NoValue)));
    assert_eq!(arguments("=1").last(), Some(Err(Problem::NoValue)));
}
