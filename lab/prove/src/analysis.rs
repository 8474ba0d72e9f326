//! The meaning of every word of a kernel.

use std::collections::HashMap;

use num_bigint::BigInt;
use oarlock_lanes::prove::{Id, Instruction};
use thiserror::Error;

use crate::dyadic::Dyadic;
use crate::interval::Interval;
use crate::polynomial::{DyadicPolynomial, Variable};

/// The bits of a factor, and of each half of a product.
const FACTOR_BITS: u32 = 52;

/// The replacements of a variable by what it is congruent to, in one test for divisibility: a digit of Montgomery's
/// reduction is a multiple of a low part of a column.
const REPLACEMENTS: usize = 3;

/// A reason why a kernel is not proved.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProofError {
    /// A word does not hold what the instruction needs.
    #[error(
        "instruction {at}, {instruction}: its operand may be anything in {interval}, and is taken modulo 2^64"
    )]
    Overflow {
        /// The number of the instruction.
        at: Id,
        /// Its operation and its operands.
        instruction: String,
        /// The values of the operand.
        interval: String,
    },
    /// The rules say nothing about the instruction, or about its operands.
    #[error("instruction {at}, {instruction}: no rule says what it computes from these operands")]
    Unknown {
        /// The number of the instruction.
        at: Id,
        /// Its operation and its operands.
        instruction: String,
    },
    /// The kernel relies on something that does not hold for every input.
    #[error("instruction {at}: the kernel claims that {what}, which is not proved")]
    Claim {
        /// The number of the instruction.
        at: Id,
        /// The assertion, as the kernel words it.
        what: String,
    },
    /// The result is not what the statement says.
    #[error("the result is not congruent to {expected}")]
    Identity {
        /// The number that the statement names.
        expected: String,
    },
    /// The result is out of the bounds of the statement.
    #[error("{what} may be anything in {found}, and the statement says {stated}")]
    Bound {
        /// A limb, or the value.
        what: String,
        /// The proved values.
        found: String,
        /// The stated values.
        stated: String,
    },
    /// The statement does not fit the kernel.
    #[error("the statement has other inputs or limbs than the kernel")]
    Shape,
    /// The bounds of the statement contradict each other.
    #[error("no input is within the bounds of the statement")]
    NoInput,
    /// No kernel has this name.
    #[error("no kernel is called \"{0}\"")]
    NoKernel(String),
}

/// A word as an integer whose residue modulo 2^64 it is.
#[derive(Clone, Debug)]
pub struct Word {
    /// The integer over the inputs and the fresh variables.
    pub polynomial: DyadicPolynomial,
    /// Its values.
    pub interval: Interval,
    /// The variable of the high half, if this is the low half of one product.
    high_half: Option<Variable>,
}

#[derive(Clone, Debug)]
enum InstructionValue {
    Word(Word),
    Mask,
    Nothing,
}

#[derive(Clone, Debug)]
struct VariableInfo {
    interval: Interval,
    /// The polynomial of others for which the variable stands, if it does.
    definition: Option<DyadicPolynomial>,
    /// An integer polynomial that is congruent to it modulo a power of two.
    residue: Option<(DyadicPolynomial, u32)>,
}

/// The choices of one case, and the number of alternatives of each.
#[derive(Clone, Debug, Default)]
pub struct Cases {
    choices: Vec<(usize, usize)>,
    used: usize,
}

impl Cases {
    /// Moves on to the next case. Returns false after the last one.
    pub fn advance(&mut self) -> bool {
        self.choices.truncate(self.used);
        self.used = 0;
        while let Some((choice, alternatives)) = self.choices.pop() {
            if choice + 1 < alternatives {
                self.choices.push((choice + 1, alternatives));
                return true;
            }
        }
        false
    }

    fn choose(&mut self, alternatives: usize) -> usize {
        if self.used == self.choices.len() {
            self.choices.push((0, alternatives));
        }
        self.used += 1;
        self.choices[self.used - 1].0
    }
}

/// A reason why the analysis of a case ends before the last instruction.
#[derive(Debug)]
pub enum Stop {
    /// No input leads to this case.
    Impossible,
    /// The kernel is not proved.
    Error(ProofError),
}

impl From<ProofError> for Stop {
    fn from(error: ProofError) -> Self {
        Self::Error(error)
    }
}

/// The analysis of a kernel in one case.
#[derive(Debug)]
pub struct Analysis<'a> {
    instructions: &'a [Instruction],
    values: Vec<InstructionValue>,
    variables: Vec<VariableInfo>,
    splits: HashMap<(DyadicPolynomial, u32), [(DyadicPolynomial, Interval); 2]>,
    products: HashMap<[DyadicPolynomial; 2], (DyadicPolynomial, Interval)>,
    /// The low halves of products that are factors, by the variables of their high halves.
    lows: HashMap<Variable, DyadicPolynomial>,
    /// Polynomials of inputs and free variables with a smaller interval than their variables have.
    facts: Vec<(DyadicPolynomial, Interval)>,
    decided: HashMap<Id, bool>,
    cases: &'a mut Cases,
    /// True if carries of two possible values are cases.
    splits_carries: bool,
}

impl<'a> Analysis<'a> {
    /// Begins the analysis in one of the cases.
    pub fn new(instructions: &'a [Instruction], cases: &'a mut Cases, splits_carries: bool) -> Self {
        cases.used = 0;
        Self {
            instructions,
            values: vec![InstructionValue::Nothing; instructions.len()],
            variables: Vec::new(),
            splits: HashMap::new(),
            products: HashMap::new(),
            lows: HashMap::new(),
            facts: Vec::new(),
            decided: HashMap::new(),
            cases,
            splits_carries,
        }
    }

    /// Says what an input is. Returns it as a variable.
    pub fn set_input(&mut self, at: Id, interval: Interval) -> DyadicPolynomial {
        let polynomial =
            self.fresh(VariableInfo { interval: interval.clone(), definition: None, residue: None });
        self.values[at] =
            InstructionValue::Word(Word { polynomial: polynomial.clone(), interval, high_half: None });
        polynomial
    }

    /// Returns the low bits of a word, which are known to be in an interval.
    ///
    /// # Errors
    /// The case cannot occur.
    pub fn low_bits(&mut self, at: Id, bits: u32, interval: &Interval) -> Result<DyadicPolynomial, Stop> {
        let word = self.word(at).cloned().ok_or(ProofError::Shape)?;
        let [(low, known), _] = self.split(&word, bits)?;
        if let Some(variable) = low.as_variable() {
            self.variables[variable].interval = known.common(interval);
            let key = (word.polynomial, bits);
            if let Some([(_, of_part), _]) = self.splits.get_mut(&key) {
                *of_part = known.common(interval);
            }
        }
        Ok(low)
    }

    /// Notes the values of a polynomial.
    pub fn add_fact(&mut self, polynomial: &DyadicPolynomial, interval: Interval) {
        let expanded = self.expanded(polynomial);
        self.facts.push((expanded, interval));
    }

    /// Analyses all instructions.
    ///
    /// # Errors
    /// The case cannot occur, or an instruction is not proved.
    pub fn run(&mut self) -> Result<(), Stop> {
        for at in 0..self.instructions.len() {
            let value = self.value(at)?;
            if !matches!(self.instructions[at], Instruction::Input) {
                self.values[at] = value;
            }
        }
        Ok(())
    }

    /// Returns the word that an instruction computes.
    pub fn word(&self, at: Id) -> Option<&Word> {
        match self.values.get(at)? {
            InstructionValue::Word(word) => Some(word),
            InstructionValue::Mask | InstructionValue::Nothing => None,
        }
    }

    fn unknown(&self, at: Id) -> ProofError {
        ProofError::Unknown { at, instruction: format!("{:?}", self.instructions[at]) }
    }

    fn operand(&self, at: Id, operand: Id) -> Result<Word, ProofError> {
        self.word(operand).cloned().ok_or_else(|| self.unknown(at))
    }

    fn value(&mut self, at: Id) -> Result<InstructionValue, Stop> {
        use Instruction as I;
        let one = Dyadic::integer(1);
        Ok(match self.instructions[at] {
            I::Input => InstructionValue::Nothing,
            I::Constant(word) => constant(&Dyadic::integer(word)),
            I::Add(a, b) => self.sum(at, a, &one, b)?,
            I::Sub(a, b) => self.sum(at, a, &-&one, b)?,
            I::And(a, b) => self.and(at, a, b)?,
            I::Or(a, b) => self.or(at, a, b)?,
            I::ShiftLeft(a, bits) => self.shifted(at, a, bits)?,
            I::ShiftRight(a, bits) => self.logical(at, a, bits)?,
            I::ShiftRightSigned(a, bits) => {
                let a = self.operand(at, a)?;
                if !self.tight(&a).is_within(&Interval::signed(63)) {
                    return Err(self.overflow(at, &a).into());
                }
                let [_, high] = self.split(&a, bits)?;
                word(high)
            }
            I::ShiftLeftBy(a, count) | I::ShiftRightBy(a, count) => {
                let count = self.constant(count).and_then(|count| u32::try_from(count).ok());
                let count = count.ok_or_else(|| self.unknown(at))?;
                if count >= 64 {
                    return Ok(constant(&Dyadic::zero()));
                }
                let is_left = matches!(self.instructions[at], I::ShiftLeftBy(..));
                if is_left { self.shifted(at, a, count)? } else { self.logical(at, a, count)? }
            }
            I::MultiplyLow { sum, factors } => {
                let sum = self.operand(at, sum)?;
                let [low, high] = self.multiplied(at, factors)?;
                let is_low_half = sum.polynomial == DyadicPolynomial::default();
                InstructionValue::Word(Word {
                    polynomial: sum.polynomial.plus(&one, &low.0),
                    interval: sum.interval.plus(&low.1),
                    high_half: high.0.as_variable().filter(|_| is_low_half),
                })
            }
            I::MultiplyHigh { sum, factors } => {
                let sum = self.operand(at, sum)?;
                let [_, high] = self.multiplied(at, factors)?;
                word((sum.polynomial.plus(&one, &high.0), sum.interval.plus(&high.1)))
            }
            I::Select { mask, words: [no, yes] } => {
                let chosen = if self.decide(at, mask)? { yes } else { no };
                InstructionValue::Word(self.operand(at, chosen)?)
            }
            I::IsEqual(..) | I::IsBelow(..) | I::HasAny(..) => InstructionValue::Mask,
            I::MaskNot(..) | I::MaskAnd(..) | I::MaskOr(..) | I::MaskXor(..) => InstructionValue::Mask,
            I::Claim(mask, what) => {
                if self.known(mask) != Some(true) {
                    return Err(ProofError::Claim { at, what: what.to_owned() }.into());
                }
                InstructionValue::Nothing
            }
            I::Xor(..) | I::Not(..) | I::AndNot(..) => return Err(self.unknown(at).into()),
        })
    }

    fn sum(&self, at: Id, a: Id, factor: &Dyadic, b: Id) -> Result<InstructionValue, ProofError> {
        let (a, b) = (self.operand(at, a)?, self.operand(at, b)?);
        Ok(word((a.polynomial.plus(factor, &b.polynomial), a.interval.plus(&b.interval.times(factor)))))
    }

    fn shifted(&self, at: Id, a: Id, bits: u32) -> Result<InstructionValue, ProofError> {
        let (a, power) = (self.operand(at, a)?, Dyadic::power(bits.into()));
        Ok(word((a.polynomial.times(&power), a.interval.times(&power))))
    }

    fn constant(&self, at: Id) -> Option<u64> {
        match self.instructions.get(at)? {
            Instruction::Constant(word) => Some(*word),
            _ => None,
        }
    }

    /// A mask of low bits keeps the residue modulo a power of two, for every integer.
    fn and(&mut self, at: Id, a: Id, b: Id) -> Result<InstructionValue, Stop> {
        let (a, mask) = match (self.constant(a), self.constant(b)) {
            (_, Some(mask)) => (self.operand(at, a)?, mask),
            (Some(mask), None) => (self.operand(at, b)?, mask),
            (None, None) => return Err(self.unknown(at).into()),
        };
        if mask & mask.wrapping_add(1) != 0 {
            return Err(self.unknown(at).into());
        }
        let [low, _] = self.split(&a, mask.count_ones())?;
        Ok(word(low))
    }

    /// Words without a common bit: one is a multiple of a power of two that is above the other.
    fn or(&self, at: Id, a: Id, b: Id) -> Result<InstructionValue, ProofError> {
        let (a, b) = (self.operand(at, a)?, self.operand(at, b)?);
        let are_apart = |upper: &Word, lower: &Word| match upper.polynomial.twos() {
            None => true,
            Some(twos) => lower.interval.is_within(&Interval::below(&Dyadic::power(twos))),
        };
        if !are_apart(&a, &b) && !are_apart(&b, &a) {
            return Err(self.unknown(at));
        }
        Ok(word((a.polynomial.plus(&Dyadic::integer(1), &b.polynomial), a.interval.plus(&b.interval))))
    }

    /// Shifts to the right. A word that was shifted to the left before lost its upper bits, and that is what it is for.
    fn logical(&mut self, at: Id, a: Id, bits: u32) -> Result<InstructionValue, Stop> {
        let a = self.operand(at, a)?;
        if self.tight(&a).is_within(&Interval::bits(64)) {
            let [_, high] = self.split(&a, bits)?;
            return Ok(word(high));
        }
        let zeros = a.polynomial.twos().and_then(|twos| u32::try_from(twos).ok()).unwrap_or(0).min(63);
        if zeros == 0 {
            return Err(self.overflow(at, &a).into());
        }
        let down = Dyadic::power(-i64::from(zeros));
        let whole = Word {
            polynomial: a.polynomial.times(&down),
            interval: a.interval.times(&down),
            high_half: None,
        };
        let [(polynomial, interval), _] = self.split(&whole, 64 - zeros)?;
        if bits <= zeros {
            let up = Dyadic::power((zeros - bits).into());
            return Ok(word((polynomial.times(&up), interval.times(&up))));
        }
        let [_, high] = self.split(&Word { polynomial, interval, high_half: None }, bits - zeros)?;
        Ok(word(high))
    }

    fn overflow(&self, at: Id, operand: &Word) -> ProofError {
        let interval = self.tight(operand).to_string();
        ProofError::Overflow { at, instruction: format!("{:?}", self.instructions[at]), interval }
    }

    fn fresh(&mut self, info: VariableInfo) -> DyadicPolynomial {
        self.variables.push(info);
        DyadicPolynomial::variable(self.variables.len() - 1)
    }

    /// Returns a variable that stands for a polynomial.
    fn named(&mut self, polynomial: &DyadicPolynomial, interval: &Interval) -> DyadicPolynomial {
        if polynomial.as_constant().is_some() || polynomial.as_variable().is_some() {
            return polynomial.clone();
        }
        let is_integer = polynomial.twos().is_none_or(|twos| twos >= 0);
        self.fresh(VariableInfo {
            interval: interval.clone(),
            definition: Some(polynomial.clone()),
            residue: is_integer.then(|| (polynomial.clone(), 64)),
        })
    }

    /// Returns `x mod 2^bits` and the quotient of x by 2^bits, rounded down, of the integer x.
    fn split(&mut self, word: &Word, bits: u32) -> Result<[(DyadicPolynomial, Interval); 2], Stop> {
        let (polynomial, interval) = (&word.polynomial, self.tight(word));
        if interval.is_empty() {
            return Err(Stop::Impossible);
        }
        let quotients = interval.quotients(bits);
        let power = Dyadic::power(bits.into());
        if let Some(quotient) = quotients.only() {
            return Ok(known_quotient(polynomial, &interval, &power, quotient));
        }
        let key = (polynomial.clone(), bits);
        if let Some(parts) = self.splits.get(&key) {
            return Ok(parts.clone());
        }
        if self.splits_carries
            && let Some(few) = quotients.few()
        {
            let chosen = Dyadic::integer(few[self.cases.choose(few.len())].clone());
            let start = &chosen * &power;
            let case = Interval::new(start.clone(), &(&start + &power) - &Dyadic::integer(1));
            self.add_fact(polynomial, case.clone());
            let parts = known_quotient(polynomial, &interval.common(&case), &power, &chosen);
            self.splits.insert(key, parts.clone());
            return Ok(parts);
        }
        let (low, low_interval) = if self.is_divisible(polynomial, bits) {
            (DyadicPolynomial::default(), Interval::point(Dyadic::zero()))
        } else {
            let interval = Interval::bits(bits);
            // A wider low part of the same integer has the same low bits.
            let wider = self.splits.iter().filter(|((other, more), _)| other == polynomial && *more > bits);
            let wider = wider.map(|((_, more), [low, _])| (*more, low.clone())).min_by_key(|(more, _)| *more);
            if let Some((_, (polynomial, interval))) = wider {
                let [low, _] = self.split(&Word { polynomial, interval, high_half: None }, bits)?;
                low
            } else {
                let residue = Some((polynomial.clone(), bits));
                (self.fresh(VariableInfo { interval: interval.clone(), definition: None, residue }), interval)
            }
        };
        let high = polynomial.plus(&Dyadic::integer(-1), &low).times(&Dyadic::power(-i64::from(bits)));
        let high = self.named(&high, &quotients);
        let parts = [(low, low_interval), (high, quotients)];
        self.splits.insert(key, parts.clone());
        Ok(parts)
    }

    /// Returns true if it is shown that a power of two divides the integer.
    fn is_divisible(&self, polynomial: &DyadicPolynomial, bits: u32) -> bool {
        let mut rest = polynomial.modulo_power(bits);
        for _ in 0..REPLACEMENTS {
            if rest == DyadicPolynomial::default() {
                return true;
            }
            let residue = |variable: Variable| self.variables[variable].residue.as_ref();
            let known =
                rest.variables().filter(|variable| residue(*variable).is_some_and(|known| known.1 >= bits));
            let Some(newest) = known.max() else { return false };
            let Some((congruent, _)) = residue(newest) else { return false };
            rest = rest.replaced(newest, congruent).modulo_power(bits);
        }
        rest == DyadicPolynomial::default()
    }

    /// Returns a word as a factor: its low bits as one variable, or a constant.
    fn factor(&mut self, at: Id, operand: Id) -> Result<(DyadicPolynomial, Interval), Stop> {
        let operand = self.operand(at, operand)?;
        let [(polynomial, interval), _] = self.split(&operand, FACTOR_BITS)?;
        let Some(high) = operand.high_half else { return Ok((self.named(&polynomial, &interval), interval)) };
        if let Some(low) = self.lows.get(&high) {
            return Ok((low.clone(), interval));
        }
        // The low half becomes the free variable, because its values are known best, and the high half follows from it.
        let residue = Some((polynomial.clone(), 64));
        let low = self.fresh(VariableInfo { interval: interval.clone(), definition: None, residue });
        let power = Dyadic::power(FACTOR_BITS.into());
        let product = polynomial.plus(&power, &DyadicPolynomial::variable(high));
        let quotient =
            product.plus(&-&Dyadic::integer(1), &low).times(&Dyadic::power(-i64::from(FACTOR_BITS)));
        self.variables[high].definition = Some(quotient);
        self.lows.insert(high, low.clone());
        Ok((low, interval))
    }

    /// Returns the low and the high half of a product.
    fn multiplied(&mut self, at: Id, factors: [Id; 2]) -> Result<[(DyadicPolynomial, Interval); 2], Stop> {
        let [a, b] = [self.factor(at, factors[0])?, self.factor(at, factors[1])?];
        let (product, interval) = (a.0.product(&b.0), a.1.product(&b.1));
        let highs = interval.quotients(FACTOR_BITS);
        let power = Dyadic::power(FACTOR_BITS.into());
        if let Some(quotient) = highs.only() {
            return Ok(known_quotient(&product, &interval, &power, quotient));
        }
        let mut key = [a.0, b.0];
        key.sort_by_key(|factor| factor.variables().max());
        let high = match self.products.get(&key) {
            Some(high) => high.clone(),
            None => {
                let info = VariableInfo { interval: highs.clone(), definition: None, residue: None };
                let high = (self.fresh(info), highs);
                self.products.insert(key, high.clone());
                high
            }
        };
        let low = product.plus(&-&power, &high.0);
        Ok([(low, Interval::bits(FACTOR_BITS)), high])
    }

    /// Returns the polynomial without variables that stand for others.
    pub fn expanded(&self, polynomial: &DyadicPolynomial) -> DyadicPolynomial {
        let mut expanded = polynomial.clone();
        loop {
            let defined =
                expanded.variables().filter(|variable| self.variables[*variable].definition.is_some());
            let Some(newest) = defined.max() else { return expanded };
            let Some(definition) = &self.variables[newest].definition else { return expanded };
            expanded = expanded.replaced(newest, definition);
        }
    }

    /// Returns the values of a word as far as they are known.
    pub fn tight(&self, word: &Word) -> Interval {
        let bounds = self.bounds(&word.polynomial);
        // The word is an integer.
        let bounds = Interval::new(
            -&Dyadic::integer((-&bounds.low).rounded_down()),
            Dyadic::integer(bounds.high.rounded_down()),
        );
        word.interval.common(&bounds)
    }

    /// Returns the values of a polynomial: by those of its variables, and with the help of one or two facts.
    pub fn bounds(&self, polynomial: &DyadicPolynomial) -> Interval {
        self.bounds_by(&self.expanded(polynomial), 2)
    }

    fn bounds_by(&self, expanded: &DyadicPolynomial, facts: usize) -> Interval {
        let mut bounds = Interval::point(Dyadic::zero());
        for (monomial, coefficient) in expanded.terms() {
            let values = monomial.iter().map(|variable| &self.variables[*variable].interval);
            let start = Interval::point(Dyadic::integer(1));
            let term = values.fold(start, |product, interval| product.product(interval));
            bounds = bounds.plus(&term.times(coefficient));
        }
        if facts == 0 {
            return bounds;
        }
        for (fact, interval) in &self.facts {
            let Some((leading, of_fact)) = fact.leading(expanded) else { continue };
            let factor = expanded.coefficient(leading).and_then(|here| here.divided(of_fact));
            let Some(factor) = factor else { continue };
            let rest = expanded.plus(&-&factor, fact);
            bounds = bounds.common(&self.bounds_by(&rest, facts - 1).plus(&interval.times(&factor)));
        }
        bounds
    }

    /// Returns the bit of a mask, as a case if it is not known.
    fn decide(&mut self, at: Id, mask: Id) -> Result<bool, Stop> {
        use Instruction as I;
        if let Some(known) = self.known(mask) {
            return Ok(known);
        }
        let decided = match self.instructions[mask] {
            I::MaskNot(a) => return Ok(!self.decide(at, a)?),
            I::MaskAnd(a, b) => return Ok(self.decide(at, a)? && self.decide(at, b)?),
            I::MaskOr(a, b) => return Ok(self.decide(at, a)? || self.decide(at, b)?),
            I::MaskXor(a, b) => return Ok(self.decide(at, a)? != self.decide(at, b)?),
            _ => self.cases.choose(2) == 1,
        };
        let (word, case) = self.condition(mask, decided).ok_or_else(|| self.unknown(at))?;
        let word = self.operand(at, word)?;
        if self.tight(&word).common(&case).is_empty() {
            return Err(Stop::Impossible);
        }
        self.add_fact(&word.polynomial, case.clone());
        if let Some(number) = case.only() {
            self.set_quotient(&word.polynomial, number);
        }
        self.decided.insert(mask, decided);
        Ok(decided)
    }

    /// Notes that a quotient is known now. So the low part, which was free, follows from the whole.
    fn set_quotient(&mut self, quotient: &DyadicPolynomial, number: &Dyadic) {
        let whole = self.splits.iter().find(|(_, [_, (high, _)])| high == quotient);
        let Some(((whole, bits), [(low, _), _])) = whole else { return };
        let (Some(low), Some(quotient)) = (low.as_variable(), quotient.as_variable()) else { return };
        let start = DyadicPolynomial::constant(number * &Dyadic::power(i64::from(*bits)));
        self.variables[low].definition = Some(whole.plus(&-&Dyadic::integer(1), &start));
        self.variables[quotient].definition = Some(DyadicPolynomial::constant(number.clone()));
    }

    /// Returns the word on which a mask depends, and its values if the mask is as given.
    fn condition(&self, mask: Id, is_set: bool) -> Option<(Id, Interval)> {
        use Instruction as I;
        let lowest = -&Dyadic::power(64);
        let highest = Dyadic::power(64);
        let before = |end: u64| &Dyadic::integer(end) - &Dyadic::integer(1);
        match self.instructions[mask] {
            // The sign of a word.
            I::HasAny(a, bit) if self.constant(bit)? == 1 << 63 => {
                self.tight(self.word(a)?).is_within(&Interval::signed(63)).then(|| match is_set {
                    true => (a, Interval::new(lowest, before(0))),
                    false => (a, Interval::new(Dyadic::zero(), highest)),
                })
            }
            // A borrow, which is 0 or -1, or a carry, which is 0 or 1.
            I::HasAny(a, bit) if self.constant(bit)? == 1 => {
                let few = self.tight(self.word(a)?).few()?;
                let is_odd = |value: &&BigInt| value.bit(0) == is_set;
                let value = Dyadic::integer(few.iter().find(is_odd)?.clone());
                Some((a, Interval::point(value)))
            }
            I::IsBelow(a, end) => {
                let end = self.constant(end)?;
                self.tight(self.word(a)?).is_within(&Interval::bits(64)).then(|| match is_set {
                    true => (a, Interval::new(Dyadic::zero(), before(end))),
                    false => (a, Interval::new(Dyadic::integer(end), highest)),
                })
            }
            _ => None,
        }
    }

    /// Returns the bit of a mask, if every input of this case has the same.
    fn known(&self, mask: Id) -> Option<bool> {
        use Instruction as I;
        if let Some(decided) = self.decided.get(&mask) {
            return Some(*decided);
        }
        match self.instructions[mask] {
            I::MaskNot(a) => Some(!self.known(a)?),
            I::MaskAnd(a, b) => Some(self.known(a)? & self.known(b)?),
            I::MaskOr(a, b) => Some(self.known(a)? | self.known(b)?),
            I::MaskXor(a, b) => Some(self.known(a)? ^ self.known(b)?),
            _ => {
                let (word, if_set) = self.condition(mask, true)?;
                let values = self.tight(self.word(word)?);
                if values.is_within(&if_set) {
                    Some(true)
                } else if values.common(&if_set).is_empty() {
                    Some(false)
                } else {
                    None
                }
            }
        }
    }
}

fn word((polynomial, interval): (DyadicPolynomial, Interval)) -> InstructionValue {
    InstructionValue::Word(Word { polynomial, interval, high_half: None })
}

fn constant(number: &Dyadic) -> InstructionValue {
    word((DyadicPolynomial::constant(number.clone()), Interval::point(number.clone())))
}

/// Returns the parts of an integer whose quotient is the same for all values.
fn known_quotient(
    polynomial: &DyadicPolynomial,
    interval: &Interval,
    power: &Dyadic,
    quotient: &Dyadic,
) -> [(DyadicPolynomial, Interval); 2] {
    let start = -&(quotient * power);
    let low = polynomial.plus(&start, &DyadicPolynomial::constant(Dyadic::integer(1)));
    let high = DyadicPolynomial::constant(quotient.clone());
    [(low, interval.plus(&Interval::point(start))), (high, Interval::point(quotient.clone()))]
}
