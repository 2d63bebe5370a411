//! Arithmetic on a line of text: decimals, `+ - * /`, signs and parentheses.

use crate::money::round2;
use crate::refusal::{Refusal, Stop, refused};

/// The value of the expression, rounded to two digits, as the shortest text of that double, always
/// with a fraction.
pub fn calculate(expression: &str) -> Result<String, Stop> {
    if !expression.chars().all(|c| "0123456789+-*/(). ".contains(c)) {
        return Err(refused(
            "invalid-characters",
            "Invalid characters in expression",
        ));
    }
    let mut parser = Parser {
        rest: expression.as_bytes(),
        depth: 0,
    };
    let value = parser.sum().and_then(|value| match parser.peek() {
        None => Ok(value),
        Some(_) => Err("an operator is missing"),
    });
    match value.map(round2) {
        // Two digits after the point leave no room for a negative exponent.
        Ok(value) if value.is_finite() => Ok(format!("{value:?}").replace('e', "e+")),
        Ok(_) => Err(invalid("the result is too large")),
        Err(problem) => Err(invalid(problem)),
    }
}

fn invalid(problem: &str) -> Stop {
    Stop::Refused(Refusal {
        code: "invalid-expression",
        error: format!("Invalid expression: {problem}"),
    })
}

/// Levels of parentheses and signs, which take stack.
const MAX_DEPTH: u32 = 100;

struct Parser<'a> {
    rest: &'a [u8],
    depth: u32,
}

type Parsed = Result<f64, &'static str>;

impl Parser<'_> {
    fn sum(&mut self) -> Parsed {
        let mut value = self.product()?;
        while let Some(operator @ (b'+' | b'-')) = self.peek() {
            self.advance();
            let right = self.product()?;
            value = if operator == b'+' {
                value + right
            } else {
                value - right
            };
        }
        Ok(value)
    }

    fn product(&mut self) -> Parsed {
        let mut value = self.signed()?;
        while let Some(operator @ (b'*' | b'/')) = self.peek() {
            self.advance();
            let right = self.signed()?;
            value = match operator {
                b'*' => value * right,
                _ if right == 0.0 => return Err("division by zero"),
                _ => value / right,
            };
        }
        Ok(value)
    }

    fn signed(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("it is nested too deeply");
        }
        let value = match self.peek() {
            Some(b'-') => {
                self.advance();
                self.signed().map(|value| -value)
            }
            Some(b'+') => {
                self.advance();
                self.signed()
            }
            Some(b'(') => {
                self.advance();
                self.parenthesised()
            }
            _ => self.number(),
        };
        self.depth -= 1;
        value
    }

    fn parenthesised(&mut self) -> Parsed {
        let value = self.sum()?;
        match self.peek() {
            Some(b')') => {
                self.advance();
                Ok(value)
            }
            _ => Err("a parenthesis is not closed"),
        }
    }

    fn number(&mut self) -> Parsed {
        let is_part = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
        let length = self.rest.iter().take_while(is_part).count();
        let (number, rest) = self.rest.split_at(length);
        self.rest = rest;
        // `12`, `1.5`, `.5` and `2.` are numbers here and there.
        str::from_utf8(number)
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or("a number is missing")
    }

    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    fn advance(&mut self) {
        self.rest = &self.rest[1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(expression: &str) -> &'static str {
        match calculate(expression) {
            Err(Stop::Refused(refusal)) => refusal.code,
            other => panic!("{expression}: {other:?}"),
        }
    }

    #[test]
    fn expressions_have_the_value_that_everyone_expects() {
        for (expression, value) in [
            ("155.33 - 147.05 + 268.77 - 235.13", "41.92"),
            ("135.24 - 153.23", "-17.99"),
            ("3131.1 + 4777.75 + 367.38", "8276.23"),
            ("2 + 3", "5.0"),
            ("2 + 3 * 4", "14.0"),
            ("(2 + 3) * 4", "20.0"),
            ("10 - 4 - 3", "3.0"),
            ("8 / 4 / 2", "1.0"),
            ("-2 * -(3 + +1)", "8.0"),
            ("- -1", "1.0"),
            (".5 + 2.", "2.5"),
            (" 1 ", "1.0"),
            ("1 / 3", "0.33"),
            ("0 - 0.001", "-0.0"),
            ("100000000 * 100000000", "1e+16"),
        ] {
            assert_eq!(calculate(expression), Ok(value.to_owned()), "{expression}");
        }
    }

    #[test]
    fn other_characters_are_refused_before_anything_else() {
        for expression in ["2 ^ 3", "1e5", "x", "1,5", "1\n", "(\u{663})"] {
            assert_eq!(code(expression), "invalid-characters", "{expression}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for expression in [
            "",
            " ",
            "1 +",
            "* 2",
            "1 2",
            "(1",
            "1)",
            "()",
            ".",
            "1..2",
            "1.2.3",
            "1 / 0",
            "1 / (2 - 2)",
            "2 ** 3",
            "7 // 2",
        ] {
            assert_eq!(code(expression), "invalid-expression", "{expression}");
        }
        let huge = "9".repeat(400);
        assert_eq!(code(&huge), "invalid-expression");
        let deep = |levels| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
        assert!(calculate(&deep(99)).is_ok());
        assert_eq!(code(&deep(10_000)), "invalid-expression");
        assert_eq!(code(&"-".repeat(10_000)), "invalid-expression");
    }
}
