//! From the text to a [`System`]: everything about single values. `check` handles what concerns
//! several values, or the machine.
use crate::{
    After, Budget, Interrupt, Lines, Linux, PciFunction, PortRange, Problem, Processors, System, Task, Then, limit,
    remedy, sections,
};
use alloc::{format, string::String, vec, vec::Vec};
use core::{fmt::Display, ops::RangeInclusive};
use toml::Spanned;

/// Default priority of a task with a skin: that of its interrupt handlers.
const SKIN_CEILING: u8 = 212;

/// Reads a system file.
///
/// Text that nests as deeply as the TOML reader allows takes 96 to 128 KiB of stack in a release
/// build; give the caller 256 KiB.
///
/// # Errors
/// Everything that is wrong with single values, in the order of the lines; or only the first syntax
/// error or unknown key.
pub fn parse(text: &str) -> Result<System, Vec<Problem>> {
    if text.len() > limit::FILE {
        let message = format!("the file has {} bytes, more than {}", text.len(), limit::FILE);
        return Err(vec![Problem::new(1, message, remedy::FILE)]);
    }
    let mut reader = Reader { text, problems: Vec::new() };
    let file: sections::File = toml::from_str(text).map_err(|e| vec![reader.no_file(&e)])?;
    let system = reader.system(file);
    reader.problems.sort_by_key(|p| p.line);
    if reader.problems.is_empty() { Ok(system) } else { Err(reader.problems) }
}

/// Collects problems while it reads.
pub(crate) struct Reader<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn no_file(&self, error: &toml::de::Error) -> Problem {
        let line = error.span().map_or(1, |span| self.line(span.start));
        let message = error.message().trim().replace('\n', ", ").replace("a sequence", "a list");
        let key = error.span().and_then(|span| self.key(span.start)).map(|key| format!("{key}: ")).unwrap_or_default();
        Problem::new(line, key + &message, remedy::FORMAT)
    }

    /// The key on the line of a value that begins at `offset`, if it has one there.
    fn key(&self, offset: usize) -> Option<&str> {
        let line = self.text.get(..offset)?.rsplit('\n').next()?;
        let (before, between) = line.rsplit_once('=')?;
        // Behind a brace it is a key, which has no value yet.
        if between.contains(['{', '}']) {
            return None;
        }
        before.trim_end().rsplit([' ', '{', ',']).next().filter(|key| !key.is_empty())
    }

    /// Number of the line that contains the byte at `offset`.
    fn line(&self, offset: usize) -> u32 {
        let before = self.text.as_bytes().iter().take(offset).filter(|&&b| b == b'\n').count();
        u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
    }

    pub(crate) fn line_of<T>(&self, value: &Spanned<T>) -> u32 {
        self.line(value.span().start)
    }

    pub(crate) fn line_or<T>(&self, value: Option<&Spanned<T>>, otherwise: u32) -> u32 {
        value.map_or(otherwise, |v| self.line_of(v))
    }

    pub(crate) fn problem(&mut self, line: u32, message: String, remedy: &str) {
        self.problems.push(Problem::new(line, message, remedy));
    }

    fn system(&mut self, file: sections::File) -> System {
        if file.task.is_empty() && file.linux.is_none() {
            self.problem(self.line_of(&file.system), "the system has neither a task nor Linux".into(), remedy::NOTHING);
        }
        let most = limit::TASKS - usize::from(file.dual.is_some());
        if let Some(extra) = file.task.get(most) {
            self.problem(self.line_of(extra), format!("more than {most} tasks"), remedy::FEWER);
        }
        let mut tasks: Vec<Task> = file.task.into_iter().take(most).map(|t| self.task(t)).collect();
        tasks.extend(file.dual.map(|dual| self.dual(dual)));
        let processors_at = self.line_or(file.system.get_ref().cpus.as_ref(), self.line_of(&file.system));
        let header = file.system.into_inner();
        System {
            name: self.name(header.name),
            processors: self.processors(header.cpus),
            processors_at,
            tasks,
            linux: file.linux.map(|l| self.linux(l)),
            channels: self.channels(file.channels),
        }
    }

    fn task(&mut self, task: Spanned<sections::Task>) -> Task {
        let section = self.line_of(&task);
        let task = task.into_inner();
        let period = task.period_us.as_ref().or(task.period_ns.as_ref());
        let budget = task.budget_us.as_ref().or(task.budget_ns.as_ref());
        let lines = Lines {
            section,
            name: self.line_of(&task.name),
            image: self.line_or(task.image.as_ref(), self.line_of(&task.name)),
            initrd: section,
            priority: self.line_or(task.priority.as_ref(), section),
            processors: self.line_or(task.cpus.as_ref(), self.line_or(task.cpu.as_ref(), section)),
            period: self.line_or(period, section),
            budget: self.line_or(budget, section),
            memory: self.line_or(task.memory_kib.as_ref(), section),
            command_line: section,
        };
        let skin = self.skin(&task);
        let (cpu, processors) = self.places(&task);
        let name = self.name(task.name);
        let period = self.duration("period", task.period_us, task.period_ns, &limit::PERIOD_NS);
        let budget = self.duration("budget", task.budget_us, task.budget_ns, &limit::BUDGET_NS);
        let (memory_kib, memory_limit, arguments) = if skin.is_some() {
            (1024, &limit::SKIN_MEMORY_KIB, limit::SKIN_ARGUMENTS)
        } else {
            (256, &limit::MEMORY_KIB, limit::ARGUMENTS)
        };
        Task {
            image: self.image(task.image, &name),
            priority: self.priority(task.priority, skin.is_some(), section),
            cpu,
            processors,
            unlimited: self.unlimited(task.budget, budget.is_some()),
            time: self.time(&format!("task {name}"), period, budget, lines),
            memory_bytes: self.memory("memory_kib", task.memory_kib, Some(memory_kib), memory_limit, 4).unwrap_or(0)
                << 10,
            arguments: self.string("arguments", task.arguments, arguments),
            skin,
            fpu: task.fpu,
            interrupts: task.interrupts.into_iter().map(|i| self.interrupt(i)).collect(),
            ports: task.ports.into_iter().filter_map(|p| self.ports(p)).collect(),
            may_end_system: task.may_end_system,
            may_start_linux: task.may_start_linux,
            devices: task.devices.into_iter().filter_map(|d| self.device(d)).collect(),
            name,
            lines,
        }
    }

    /// Whether a task must have no budget at all.
    pub(crate) fn unlimited(&mut self, budget: Option<Spanned<String>>, is_given: bool) -> bool {
        let Some(budget) = budget else { return false };
        let line = self.line_of(&budget);
        if budget.get_ref() != "unlimited" {
            self.problem(line, format!("budget is {:?}", budget.get_ref()), remedy::UNLIMITED);
        } else if is_given {
            self.problem(line, "both a budget and budget = \"unlimited\" are given".into(), remedy::UNLIMITED);
        }
        true
    }

    fn linux(&mut self, linux: Spanned<sections::Linux>) -> Linux {
        let section = self.line_of(&linux);
        let linux = linux.into_inner();
        let period = linux.period_us.as_ref().or(linux.period_ns.as_ref());
        let budget = linux.budget_us.as_ref().or(linux.budget_ns.as_ref());
        let lines = Lines {
            section,
            name: section,
            image: self.line_or(linux.kernel.as_ref(), section),
            initrd: self.line_or(linux.initrd.as_ref(), section),
            priority: self.line_or(linux.priority.as_ref(), section),
            processors: self.line_or(linux.cpus.as_ref(), section),
            period: self.line_or(period, section),
            budget: self.line_or(budget, section),
            memory: self.line_or(linux.memory_mib.as_ref(), section),
            command_line: self.line_or(linux.command_line.as_ref(), section),
        };
        let period = self.duration("period", linux.period_us, linux.period_ns, &limit::PERIOD_NS);
        let budget = self.duration("budget", linux.budget_us, linux.budget_ns, &limit::BUDGET_NS);
        let processors = self.processors(linux.cpus);
        Linux {
            kernel: self.image(linux.kernel, "vmlinuz"),
            initrd: self.image(linux.initrd, "initrd"),
            command_line: self.string("command_line", linux.command_line, limit::COMMAND_LINE),
            memory_bytes: self.memory("memory_mib", linux.memory_mib, None, &limit::MEMORY_MIB, 2).map(|m| m << 20),
            priority: self.number("priority", linux.priority, 1, &limit::LINUX_PRIORITY),
            processors: processors.unwrap_or(Processors::FIRST),
            is_placed: processors.is_some(),
            time: self.time("Linux", period, budget, lines),
            restart_limit: self.number("restart_limit", linux.restart_limit, 5, &limit::RESTARTS),
            restart_backoff_ms: self.number("restart_backoff_ms", linux.restart_backoff_ms, 200, &limit::BACKOFF_MS),
            after: After {
                poweroff: self.then("after_poweroff", linux.after_poweroff, Then::Off),
                crash: self.then("after_crash", linux.after_crash, Then::Restart),
                limit: self.after_limit(linux.after_limit),
            },
            lines,
        }
    }

    /// What follows an end of Linux.
    fn then(&mut self, key: &str, value: Option<Spanned<String>>, default: Then) -> Then {
        let Some(value) = value else { return default };
        match value.get_ref().as_str() {
            "restart" => Then::Restart,
            "off" => Then::Off,
            "end" => Then::End,
            other => {
                self.problem(self.line_of(&value), format!("{key} is {other:?}"), remedy::AFTER);
                default
            }
        }
    }

    /// What follows at the restart limit: Linux stays off or the system ends.
    fn after_limit(&mut self, value: Option<Spanned<String>>) -> Then {
        let line = self.line_or(value.as_ref(), 1);
        let then = self.then("after_limit", value, Then::Off);
        if then == Then::Restart {
            self.problem(line, "after_limit is \"restart\"".into(), remedy::AFTER);
        }
        then
    }

    /// A task's priority, which has a default for a task with a skin.
    fn priority(&mut self, priority: Option<Spanned<i64>>, has_skin: bool, section: u32) -> u8 {
        if priority.is_none() && !has_skin {
            self.problem(section, "missing field `priority`".into(), remedy::FORMAT);
        }
        self.number("priority", priority, SKIN_CEILING, &limit::PRIORITY)
    }

    /// A number within its limits, or the default.
    pub(crate) fn number<T: TryFrom<i64> + Default>(
        &mut self,
        key: &str,
        value: Option<Spanned<i64>>,
        default: T,
        limits: &RangeInclusive<i64>,
    ) -> T {
        let Some(value) = value else { return default };
        if !limits.contains(value.get_ref()) {
            self.out_of_limits(self.line_of(&value), key, value.get_ref(), limits);
        }
        T::try_from(value.into_inner()).unwrap_or_default()
    }

    pub(crate) fn out_of_limits(&mut self, line: u32, key: &str, value: impl Display, limits: &RangeInclusive<i64>) {
        let message = format!("{key} is {value}, outside {} to {}", limits.start(), limits.end());
        self.problem(line, message, remedy::RANGE);
    }

    /// A duration in nanoseconds; 0 and an absent one are `None`.
    pub(crate) fn duration(
        &mut self,
        key: &str,
        us: Option<Spanned<i64>>,
        ns: Option<Spanned<i64>>,
        limits: &RangeInclusive<i64>,
    ) -> Option<u64> {
        if let (Some(us), Some(_)) = (&us, &ns) {
            self.problem(self.line_of(us), format!("{key}_us and {key}_ns are both given"), remedy::ONE_UNIT);
        }
        let (value, factor) = us.map(|v| (v, 1_000)).or(ns.map(|v| (v, 1)))?;
        let nanoseconds = i128::from(*value.get_ref()) * factor;
        if nanoseconds == 0 {
            return None;
        }
        let within = i64::try_from(nanoseconds).ok().filter(|n| limits.contains(n));
        if within.is_none() {
            self.out_of_limits(self.line_of(&value), &format!("{key} in nanoseconds"), nanoseconds, limits);
        }
        Some(within.map_or(1, i64::unsigned_abs))
    }

    /// Period and budget together.
    pub(crate) fn time(
        &mut self,
        whose: &str,
        period: Option<u64>,
        budget: Option<u64>,
        lines: Lines,
    ) -> Option<Budget> {
        match (period, budget) {
            (Some(period_ns), Some(budget_ns)) => Some(Budget { budget_ns, period_ns }),
            (None, None) => None,
            (Some(_), None) => {
                self.problem(lines.period, format!("{whose} has a period without a budget"), remedy::BOTH);
                None
            }
            (None, Some(_)) => {
                self.problem(lines.budget, format!("{whose} has a budget without a period"), remedy::BOTH);
                None
            }
        }
    }

    /// A size that is a multiple of `unit`.
    pub(crate) fn memory(
        &mut self,
        key: &str,
        value: Option<Spanned<i64>>,
        default: Option<u64>,
        limits: &RangeInclusive<i64>,
        unit: u64,
    ) -> Option<u64> {
        let line = self.line_or(value.as_ref(), 0);
        let Some(value) = value else { return default };
        let size: u64 = self.number(key, Some(value), 0, limits);
        let good = size.is_multiple_of(unit);
        if !good {
            self.problem(line, format!("{key} is {size}, not a multiple of {unit}"), remedy::PAGES);
        }
        // A size outside the limits is already reported; it only must not overflow later.
        Some(size.min(limits.end().unsigned_abs()))
    }

    pub(crate) fn name(&mut self, name: Spanned<String>) -> String {
        let text = name.get_ref();
        let good = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        if text.is_empty() || text.len() > limit::NAME || !text.bytes().all(good) {
            self.problem(self.line_of(&name), format!("the name {text:?} is not allowed"), remedy::NAME);
        }
        name.into_inner()
    }

    fn image(&mut self, image: Option<Spanned<String>>, default: &str) -> String {
        let Some(image) = image else { return default.into() };
        let text = image.get_ref();
        if text.is_empty() || text.len() > limit::IMAGE || !text.bytes().all(|b| b.is_ascii_graphic()) {
            self.problem(self.line_of(&image), format!("the file name {text:?} is not allowed"), remedy::IMAGE);
        }
        image.into_inner()
    }

    fn string(&mut self, key: &str, value: Option<Spanned<String>>, longest: usize) -> String {
        let Some(value) = value else { return String::new() };
        let line = self.line_of(&value);
        let text = value.into_inner();
        if text.len() > longest {
            self.problem(line, format!("{key} has {} bytes, more than {longest}", text.len()), remedy::TEXT);
        }
        if text.chars().any(char::is_control) {
            self.problem(line, format!("{key} contains control characters"), remedy::TEXT);
        }
        text
    }

    fn interrupt(&mut self, interrupt: Spanned<sections::Interrupt>) -> Interrupt {
        let at = self.line_of(&interrupt);
        let sections::Interrupt { line, level, low } = interrupt.into_inner();
        Interrupt { line: self.number("line", Some(line), 0, &limit::LINE), level, low, at }
    }

    fn ports(&mut self, ports: Spanned<sections::Ports>) -> Option<PortRange> {
        let at = self.line_of(&ports);
        let sections::Ports { first, count } = ports.into_inner();
        let last = first.checked_add(count).and_then(|end| end.checked_sub(1)).filter(|_| count >= 1);
        let range = u16::try_from(first).ok().zip(last.and_then(|l| u16::try_from(l).ok()));
        if range.is_none() {
            self.problem(at, format!("{count} ports from {first:#x} on do not exist"), remedy::PORTS);
        }
        range.map(|(first, last)| PortRange { first, last, at })
    }

    fn device(&mut self, device: Spanned<String>) -> Option<PciFunction> {
        let at = self.line_of(&device);
        let function = PciFunction::parse(device.get_ref(), at);
        if function.is_none() {
            self.problem(at, format!("{:?} is not a PCI function", device.get_ref()), remedy::DEVICE);
        }
        function
    }
}
