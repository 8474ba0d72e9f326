//! A kernel as a list of operations on vectors, and its assembly: which value is in which of the sixteen registers.

use std::collections::HashMap;
use std::fmt::Write;

/// The registers of a vector unit.
const REGISTERS: usize = 16;

/// The bytes of a vector of four doubles.
const VECTOR: usize = 32;

/// The bytes from a limb to the next: two vectors hold a limb of eight lanes.
const LIMB: usize = 2 * VECTOR;

/// The operand of a kernel in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// A limb of the result.
    Result(usize),
    /// A limb of the first factor.
    First(usize),
    /// A limb of the second factor.
    Second(usize),
    /// A limb of the factors of a second product.
    Third(usize),
    Fourth(usize),
    /// A vector of the memory for intermediate values.
    Scratch(usize),
    /// A constant, by its index in the list of constants.
    Constant(usize),
}

/// A value of a program: an operand that is loaded if needed, or the result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Value(usize);

/// An operand: a value, or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Value(Value),
    Memory(Memory),
}

impl From<Value> for Operand {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<Memory> for Operand {
    fn from(memory: Memory) -> Self {
        Self::Memory(memory)
    }
}

/// An operation with its result.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The first operand plus, minus or times the second.
    Two(&'static str, Value, Value, Operand),
    /// A product with one rounding: plus the third operand, or subtracted from it.
    Fused(&'static str, Value, Value, Operand, Operand),
    Store(Value, Memory),
}

/// A kernel.
#[derive(Debug, Default)]
pub(super) struct Program {
    steps: Vec<Step>,
    /// The memory of values that are loaded and not computed.
    loaded: HashMap<Value, Memory>,
    values: usize,
    constants: Vec<f64>,
}

impl Program {
    fn new_value(&mut self) -> Value {
        self.values += 1;
        Value(self.values)
    }

    /// Returns a constant, the same in all lanes.
    pub(super) fn constant(&mut self, number: f64) -> Memory {
        let known = self.constants.iter().position(|constant| constant.to_bits() == number.to_bits());
        Memory::Constant(known.unwrap_or_else(|| {
            self.constants.push(number);
            self.constants.len() - 1
        }))
    }

    /// Returns memory as a value, which is loaded at its first use.
    pub(super) fn load(&mut self, memory: Memory) -> Value {
        let value = self.new_value();
        self.loaded.insert(value, memory);
        value
    }

    fn two(&mut self, name: &'static str, a: Value, b: impl Into<Operand>) -> Value {
        let value = self.new_value();
        self.steps.push(Step::Two(name, value, a, b.into()));
        value
    }

    pub(super) fn add(&mut self, a: Value, b: impl Into<Operand>) -> Value {
        self.two("vaddpd", a, b)
    }

    pub(super) fn subtract(&mut self, a: Value, b: impl Into<Operand>) -> Value {
        self.two("vsubpd", a, b)
    }

    pub(super) fn multiply(&mut self, a: Value, b: impl Into<Operand>) -> Value {
        self.two("vmulpd", a, b)
    }

    /// Computes `a b + c`.
    pub(super) fn times_plus(&mut self, a: Value, b: impl Into<Operand>, c: impl Into<Operand>) -> Value {
        let value = self.new_value();
        self.steps.push(Step::Fused("vfmadd231pd", value, a, b.into(), c.into()));
        value
    }

    /// Computes `c - a b`.
    pub(super) fn minus_times(&mut self, a: Value, b: impl Into<Operand>, c: impl Into<Operand>) -> Value {
        let value = self.new_value();
        self.steps.push(Step::Fused("vfnmadd231pd", value, a, b.into(), c.into()));
        value
    }

    pub(super) fn store(&mut self, value: Value, memory: Memory) {
        self.steps.push(Step::Store(value, memory));
    }

    /// Returns the assembly of a function that runs the program for both vectors of eight lanes.
    pub(super) fn assembly(&self, name: &str) -> String {
        let mut body = Allocation::new(self, name);
        for at in 0..self.steps.len() {
            body.step(at);
        }
        let mut text = format!(
            "# Made by `cargo xtask fields`: docs/math/fma-fields.md.\n\
             # rdi and at the end rax: the result; rsi, rdx, and r8, r9: the factors; rcx: memory for {} vectors.\n\
             \tmov %rdi, %rax\n\tmov $2, %r10d\n1:\n",
            body.slots
        );
        text.push_str(&body.text);
        // The other four lanes of each limb follow the first.
        text.push_str("\tadd $32, %rdi\n\tadd $32, %rsi\n\tadd $32, %rdx\n");
        text.push_str("\tadd $32, %r8\n\tadd $32, %r9\n\tdec %r10d\n\tjnz 1b\n\tret\n");
        text.push_str("\t.p2align 5\n");
        for (at, constant) in self.constants.iter().enumerate() {
            let _infallible =
                writeln!(text, ".L{name}_{at}:\n\t.quad {0:#x}, {0:#x}, {0:#x}, {0:#x}", constant.to_bits());
        }
        text
    }
}

/// The registers while the program is written.
struct Allocation<'a> {
    program: &'a Program,
    name: &'a str,
    text: String,
    /// The steps that read each value, in order.
    uses: HashMap<Value, Vec<usize>>,
    registers: HashMap<Value, usize>,
    free: Vec<usize>,
    spilled: HashMap<Value, Memory>,
    /// The vectors of scratch memory.
    slots: usize,
}

impl<'a> Allocation<'a> {
    fn new(program: &'a Program, name: &'a str) -> Self {
        let mut uses: HashMap<Value, Vec<usize>> = HashMap::new();
        let mut slots = 0;
        for (at, step) in program.steps.iter().enumerate() {
            if let Step::Store(_, Memory::Scratch(slot)) = step {
                slots = slots.max(slot + 1);
            }
            for value in sources(step) {
                uses.entry(value).or_default().push(at);
            }
        }
        let free = (0..REGISTERS).rev().collect();
        let (registers, spilled) = (HashMap::new(), HashMap::new());
        Self { program, name, text: String::new(), uses, registers, free, spilled, slots }
    }

    fn line(&mut self, instruction: &str) {
        let _infallible = writeln!(self.text, "\t{instruction}");
    }

    fn address(&self, memory: Memory) -> String {
        match memory {
            Memory::Result(limb) => format!("{}(%rdi)", LIMB * limb),
            Memory::First(limb) => format!("{}(%rsi)", LIMB * limb),
            Memory::Second(limb) => format!("{}(%rdx)", LIMB * limb),
            Memory::Third(limb) => format!("{}(%r8)", LIMB * limb),
            Memory::Fourth(limb) => format!("{}(%r9)", LIMB * limb),
            Memory::Scratch(slot) => format!("{}(%rcx)", VECTOR * slot),
            Memory::Constant(at) => format!(".L{}_{at}(%rip)", self.name),
        }
    }

    /// Returns the next step from `at` on that reads a value.
    fn next_use(&self, value: Value, at: usize) -> Option<usize> {
        self.uses.get(&value)?.iter().copied().find(|step| *step >= at)
    }

    /// Returns the memory that holds a value.
    fn memory_of(&self, value: Value) -> Option<Memory> {
        self.program.loaded.get(&value).or_else(|| self.spilled.get(&value)).copied()
    }

    /// Returns a free register. If there is none, the value that is needed last leaves its register.
    fn allocate(&mut self, at: usize, keep: &[Value]) -> usize {
        if let Some(register) = self.free.pop() {
            return register;
        }
        let distance = |value: &Value| self.next_use(*value, at).unwrap_or(usize::MAX);
        let candidates = self.registers.keys().filter(|value| !keep.contains(value));
        // By number too, so that equal distances give the same assembly every time.
        let Some(last) = candidates.max_by_key(|value| (distance(value), value.0)).copied() else {
            unreachable!("a step has fewer operands than there are registers")
        };
        let register = self.registers.remove(&last).unwrap_or_default();
        if self.next_use(last, at).is_some() && self.memory_of(last).is_none() {
            let slot = Memory::Scratch(self.slots);
            self.slots += 1;
            self.spilled.insert(last, slot);
            self.line(&format!("vmovapd %ymm{register}, {}", self.address(slot)));
        }
        register
    }

    /// Returns the register of a value, which is loaded if it has none.
    fn register(&mut self, value: Value, at: usize, keep: &[Value]) -> usize {
        if let Some(register) = self.registers.get(&value) {
            return *register;
        }
        let register = self.allocate(at, keep);
        if let Some(memory) = self.memory_of(value) {
            self.line(&format!("vmovapd {}, %ymm{register}", self.address(memory)));
        }
        self.registers.insert(value, register);
        register
    }

    /// Frees the registers of values that no later step reads.
    fn release(&mut self, values: &[Value], at: usize) {
        for value in values {
            if self.next_use(*value, at + 1).is_none()
                && let Some(register) = self.registers.remove(value)
            {
                self.free.push(register);
            }
        }
    }

    /// Returns an operand as the instruction names it: memory if the value is in memory and this is its last use.
    fn operand(&mut self, operand: Operand, at: usize, keep: &[Value]) -> String {
        let value = match operand {
            Operand::Memory(memory) => return self.address(memory),
            Operand::Value(value) => value,
        };
        match self.memory_of(value) {
            Some(memory)
                if !self.registers.contains_key(&value) && self.next_use(value, at + 1).is_none() =>
            {
                self.address(memory)
            }
            _ => format!("%ymm{}", self.register(value, at, keep)),
        }
    }

    fn step(&mut self, at: usize) {
        let step = self.program.steps[at];
        let read = sources(&step);
        match step {
            Step::Store(value, memory) => {
                let register = self.register(value, at, &read);
                let address = self.address(memory);
                self.line(&format!("vmovapd %ymm{register}, {address}"));
                self.release(&read, at);
            }
            Step::Two(name, result, a, b) => {
                let a = self.register(a, at, &read);
                let b = self.operand(b, at, &read);
                self.release(&read, at);
                let register = self.allocate(at, &read);
                self.line(&format!("{name} {b}, %ymm{a}, %ymm{register}"));
                self.registers.insert(result, register);
            }
            Step::Fused(name, result, a, b, c) => {
                let a = self.register(a, at, &read);
                let b = self.operand(b, at, &read);
                let register = self.accumulator(c, at, &read);
                self.line(&format!("{name} {b}, %ymm{a}, %ymm{register}"));
                self.registers.insert(result, register);
                self.release(&read, at);
            }
        }
    }

    /// Returns a register with the third operand of a fused step, which the step overwrites.
    fn accumulator(&mut self, operand: Operand, at: usize, keep: &[Value]) -> usize {
        if let Operand::Value(value) = operand {
            let is_last = self.next_use(value, at + 1).is_none();
            if is_last && let Some(register) = self.registers.remove(&value) {
                return register;
            }
            if let Some(source) = self.registers.get(&value).copied() {
                let register = self.allocate(at, keep);
                self.line(&format!("vmovapd %ymm{source}, %ymm{register}"));
                return register;
            }
        }
        let register = self.allocate(at, keep);
        let memory = match operand {
            Operand::Memory(memory) => Some(memory),
            Operand::Value(value) => self.memory_of(value),
        };
        if let Some(memory) = memory {
            self.line(&format!("vmovapd {}, %ymm{register}", self.address(memory)));
        }
        register
    }
}

/// Returns the values that a step reads.
fn sources(step: &Step) -> Vec<Value> {
    let of = |operand: &Operand| match operand {
        Operand::Value(value) => Some(*value),
        Operand::Memory(_) => None,
    };
    match step {
        Step::Store(value, _) => vec![*value],
        Step::Two(_, _, a, b) => [Some(*a), of(b)].into_iter().flatten().collect(),
        Step::Fused(_, _, a, b, c) => [Some(*a), of(b), of(c)].into_iter().flatten().collect(),
    }
}
