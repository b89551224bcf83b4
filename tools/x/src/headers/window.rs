//! What real-time tasks and Linux share: numbers and structures.

use super::constants::define;
use super::layouts::structure;
use super::text::Header;
use pillion_abi::{channel, dual as dual_mode};
use std::mem::offset_of;

/// All of it.
pub fn write(out: &mut Header) {
    define!(out, "The window: name, version and sizes.", "CHANNEL_", channel,
        MAGIC VERSION TASKS FIFOS THREADS MBUFFS MBUFF_NAME LOG_SIZE IOCTL_SIZE);
    define!(out, "How many threads of Linux processes can be in primary mode, on how many processors.", "DUAL_", dual_mode,
        SLOTS PROCESSORS);
    calls(out);
    states(out);
    out.group("Layouts.");
    directory(out);
    status(out);
    share(out);
    psc(out);
    dual(out);
}

fn calls(out: &mut Header) {
    define!(out, "The CPUID leaf that says where the window is.", "CPUID_", channel::cpuid, LEAF);
    define!(out, "Calls by VMMCALL.", "HYPERCALL_", channel::hypercall, HELLO KICK COMMAND);
    define!(out, "Commands to the resource manager.", "COMMAND_", channel::command,
        REFRESH LOAD UNLOAD MBUFF_HOLD MBUFF_RELEASE);
    define!(out, "Kinds of requests.", "REQUEST_", channel::request, READ WRITE IOCTL);
}

fn states(out: &mut Header) {
    define!(out, "States of a task.", "TASK_", channel::task_state, NONE STOPPED STARTING RUNNING STOPPING FAULTED);
    define!(out, "States of a thread.", "THREAD_", channel::thread_state,
        FREE READY PERIODIC SLEEPING BLOCKED SUSPENDED ENDED);
    define!(out, "What a thread is for.", "MODE_", channel::thread_mode, REAL_TIME LINUX INTERRUPT);
    define!(out, "Flags of a FIFO.", "FIFO_", channel::fifo_flag, HANDLER IOCTL);
    define!(out, "Bits of the second word of events.", "EVENT_", channel::event, LOG PENDED);
}

fn directory(out: &mut Header) {
    structure!(out, "fault_report", channel::FaultReport,
        vector: "uint64_t", error: "uint64_t", address: "uint64_t", rip: "uint64_t", rsp: "uint64_t", thread: "uint64_t",);
    structure!(out, "task_entry", channel::TaskEntry,
        name: "uint8_t" "[32]", state: "uint32_t", result: "int32_t", starts: "uint32_t", threads: "uint32_t",
        status: "uint64_t", share: "uint64_t", share_size: "uint64_t", fault: "struct pillion_fault_report",
        busy: "uint64_t", cpu: "uint64_t",);
    structure!(out, "mbuff", channel::Mbuff,
        name: "uint8_t" "[PILLION_CHANNEL_MBUFF_NAME]", offset: "uint64_t", size: "uint64_t", task_count: "uint32_t",
        linux_count: "uint32_t",);
    structure!(out, "directory", channel::Directory,
        magic: "uint64_t", version: "uint32_t", task_count: "uint32_t", size: "uint64_t", tsc_hz: "uint64_t",
        usage: "uint64_t", command: "uint64_t", pool: "uint64_t", pool_size: "uint64_t", psc: "uint64_t", dual: "uint64_t",
        dual_size: "uint64_t", dual_group: "uint8_t" "[32]", dual_levels: "uint32_t" "[2]",
        dual_ceiling: "uint32_t", dual_shield_ms: "uint32_t",
        dual_slots: "uint8_t" "[PILLION_DUAL_SLOTS]", dual_apics: "uint32_t" "[PILLION_DUAL_PROCESSORS]", generation: "uint64_t",
        fifo_owner: "uint8_t" "[PILLION_CHANNEL_FIFOS]", tasks: "struct pillion_task_entry" "[PILLION_CHANNEL_TASKS]",
        mbuffs: "struct pillion_mbuff" "[PILLION_CHANNEL_MBUFFS]",);
    structure!(out, "thread_usage", channel::ThreadUsage, ticks: "uint64_t", exhausted: "uint64_t", cpu: "uint64_t",);
    structure!(out, "usage", channel::Usage,
        threads: "struct pillion_thread_usage" "[PILLION_CHANNEL_TASKS][PILLION_CHANNEL_THREADS]",);
}

fn status(out: &mut Header) {
    structure!(out, "thread_entry", channel::ThreadEntry,
        state: "uint32_t", mode: "uint32_t", priority: "uint32_t", level: "uint32_t", period_ns: "uint64_t",
        releases: "uint64_t", overruns: "uint64_t", entry: "uint64_t", latency_max_ns: "uint64_t", reserved: "uint64_t",);
    structure!(out, "fifo_entry", channel::FifoEntry,
        size: "uint32_t", generation: "uint32_t", flags: "uint32_t", read_from: "uint32_t", to_linux: "uint64_t",
        to_task: "uint64_t", damaged: "uint64_t", control: "uint64_t", reserved: "uint64_t" "[2]",);
    structure!(out, "status", channel::Status,
        threads: "struct pillion_thread_entry" "[PILLION_CHANNEL_THREADS]",
        fifos: "struct pillion_fifo_entry" "[PILLION_CHANNEL_FIFOS]", log_written: "uint64_t",
        reserved: "uint64_t" "[7]", log: "uint8_t" "[PILLION_CHANNEL_LOG_SIZE]",);
}

fn share(out: &mut Header) {
    structure!(out, "fifo_control", channel::FifoControl,
        to_linux_written: "uint64_t", to_task_read: "uint64_t", answer: "uint64_t", result: "int64_t",
        reserved: "uint64_t" "[4]", to_linux_read: "uint64_t", to_task_written: "uint64_t", request: "uint64_t",
        argument: "uint64_t", request_kind: "uint32_t", command: "uint32_t", want_data: "uint32_t",
        want_room: "uint32_t", opens: "uint32_t", taking: "uint32_t", putting: "uint32_t", entered: "uint32_t",);
    define!(out, "Who uses a FIFO on Linux's side.", "FIFO_USER_", channel::user, LINUX RUNNER);
    structure!(out, "share", channel::Share,
        events: "uint64_t" "[2]", pended: "uint64_t" "[4]", kicks: "uint64_t", reserved: "uint64_t" "[9]",
        fifos: "struct pillion_fifo_control" "[PILLION_CHANNEL_FIFOS]", ioctl: "uint8_t" "[PILLION_CHANNEL_IOCTL_SIZE]",);
    structure!(out, "command", channel::Command,
        number: "uint32_t", reserved: "uint32_t", size: "uint64_t", text: "uint8_t" "[1024]",);
}

fn psc(out: &mut Header) {
    define!(out, "Handlers of Linux processes at real-time priority: commands, flags, states, ends, VMMCALLs.",
        "PSC_", channel::psc,
        SLOTS START STOP ONESHOT LINE IDLE ACTIVE FAULTED NO_MEMORY TOO_LONG REFUSED DONE RING);
    out.define_text("PSC_TASK", channel::psc::TASK);
    structure!(out, "psc_slot", channel::PscSlot,
        request: "uint64_t", command: "uint32_t", flags: "uint32_t", entry: "uint64_t", stack: "uint64_t",
        arguments: "uint64_t" "[2]", cr3: "uint64_t", cr4: "uint64_t", fs_base: "uint64_t", period_ns: "uint64_t",
        line: "uint64_t", reserved: "uint64_t" "[4]", answer: "uint64_t", result: "int64_t", state: "uint32_t",
        vector: "uint32_t", address: "uint64_t", rip: "uint64_t", runs: "uint64_t", overruns: "uint64_t",
        latency_max_ns: "uint64_t", reserved2: "uint64_t" "[9]",);
    structure!(out, "psc_fifo", channel::PscFifo,
        request: "uint64_t", number: "uint32_t", size: "uint32_t", answer: "uint64_t", result: "int64_t",
        reserved: "uint64_t" "[4]",);
    structure!(out, "psc", channel::Psc,
        slots: "struct pillion_psc_slot" "[PILLION_PSC_SLOTS]", fifo: "struct pillion_psc_fifo",);
}

fn dual(out: &mut Header) {
    define!(out, "Threads of Linux processes in primary mode: the VMMCALL, a system call, sizes.", "DUAL_", dual_mode,
        SIGNAL CALM WAIT URGENCY TAKEN ASK ASKED FIRST_SIGNAL MAIN LIFE_CALL VECTOR_BYTES VVAR_FIRST VVAR_BYTES MEMORIES SIGNAL_TIMERS);
    out.define_text("DUAL_TASK", dual_mode::TASK);
    define!(out, "Whether Linux lives.", "DUAL_LIFE_", dual_mode::life, LIVES PANICKED ENDED);
    define!(out, "Who owns a slot.", "DUAL_STATE_", dual_mode::state, LINUX OFFERED PRIMARY RETURNED);
    define!(out, "Why a thread was given back.", "DUAL_REASON_", dual_mode::reason,
        RECALL CALL EXCEPTION INSTRUCTION REFUSED WATCHDOG ANSWERED INVERSION);
    define!(out, "Flags of an offer.", "DUAL_FLAG_", dual_mode::flag, ONCE NAMED WARNS TIMED);
    define!(out, "System calls of primary mode's own.", "DUAL_SERVICE_", dual_mode::service,
        FIRST END NOTHING CREATE DESTROY SEMAPHORE_WAIT SEMAPHORE_POST SEMAPHORE_VALUE MUTEX_LOCK MUTEX_UNLOCK
        CONDITION_WAIT CONDITION_WAKE FLAGS_WAIT FLAGS_SET FLAGS_CLEAR PERIOD_SET PERIOD_WAIT THREAD_ENDS
        OPEN CLOSE UNLINK QUEUE_SEND QUEUE_RECEIVE QUEUE_STATE MUTEX_CEILING MUTEX_CONSISTENT QUEUE_CLOCK QUEUE_PRIORITY QUEUE_RESULT QUEUE_COUNT
        FOREVER TRY ANY);
    define!(out, "Objects with names.", "DUAL_NAME_", dual_mode::name, SIZE GROUPS CREATE EXCLUSIVE);
    define!(out, "The word of a mutex.", "DUAL_WORD_", dual_mode::word, THREAD CLAIMED);
    define!(out, "Objects.", "DUAL_OBJECT_", dual_mode::object,
        SEMAPHORE MUTEX CONDITION FLAGS QUEUE QUEUE_SIZE CEILING_MAX INHERIT RECURSIVE CHECKED ROBUST TAKEN);
    define!(out, "How Linux continues it.", "DUAL_RESUME_", dual_mode::resume, AT ABSOLUTE RELATIVE);
    structure!(out, "dual_conversion", dual_mode::Conversion,
        valid: "uint32_t", mult: "uint32_t", shift: "uint32_t", raw_mult: "uint32_t", tsc_base: "uint64_t",
        base_ns: "uint64_t", fraction: "uint64_t", raw_base_ns: "uint64_t", raw_fraction: "uint64_t",
        to_realtime_ns: "int64_t", to_boottime_ns: "int64_t", to_tai_ns: "int64_t",);
    structure!(out, "dual_clocks", dual_mode::Clocks,
        sequence: "uint64_t", reserved: "uint64_t" "[7]", copies: "struct pillion_dual_conversion" "[2]",);
    structure!(out, "dual_vvar", dual_mode::Vvar,
        page: "uint64_t", replaced: "uint64_t", copies: "uint8_t" "[2][PILLION_DUAL_VVAR_BYTES]",);
    structure!(out, "dual_registers", dual_mode::Registers,
        gpr: "uint64_t" "[16]", rip: "uint64_t", rflags: "uint64_t", fs_base: "uint64_t", gs_base: "uint64_t",);
    structure!(out, "dual_naming", dual_mode::Naming,
        name: "uint8_t" "[PILLION_DUAL_NAME_SIZE]", kind: "uint32_t", flags: "uint32_t", mode: "uint32_t",
        object_flags: "uint32_t", value: "uint64_t", user: "uint32_t", group: "uint32_t", privileged: "uint32_t",
        group_count: "uint32_t", groups: "uint32_t" "[PILLION_DUAL_NAME_GROUPS]",);
    structure!(out, "dual_signal_timer", dual_mode::SignalTimer,
        id: "uint32_t", signal: "uint32_t", value: "uint64_t", clock: "uint64_t", first: "uint64_t",
        interval: "uint64_t", taken: "uint64_t", overrun: "uint64_t",);
    structure!(out, "dual_slot", dual_mode::Slot,
        state: "uint32_t", offer: "uint32_t", recall: "uint32_t", priority: "uint32_t",
        registers: "struct pillion_dual_registers", cr3: "uint64_t", cr4: "uint64_t", xcr0: "uint64_t",
        thread: "uint32_t", process: "uint32_t", name: "char" "[16]", memory: "uint32_t", flags: "uint32_t",
        reason: "uint32_t", resume: "uint32_t", number: "uint64_t", address: "uint64_t", code: "uint64_t",
        wake_ns: "uint64_t", calls: "uint64_t", waits: "uint64_t", latency_max: "uint64_t", ticks: "uint64_t",
        exhausted: "uint64_t", overruns: "uint64_t", waiting: "uint64_t", waits_at_death: "uint64_t",
        naming: "struct pillion_dual_naming", descriptors: "uint64_t", signals: "uint64_t",
        timers: "struct pillion_dual_signal_timer" "[PILLION_DUAL_SIGNAL_TIMERS]", timer_count: "uint64_t",
        time: "uint64_t" "[2]", processor: "uint64_t", reserved: "uint64_t" "[381]",
        vectors: "uint8_t" "[PILLION_DUAL_VECTOR_BYTES]",);
    define!(out, "Private futexes.", "DUAL_FUTEX_", dual_mode::futex, BUCKETS HASH SHIFT POSTS EVENT);
    define!(out, "What the thread of a runner does at one.", "DUAL_FUTEX_", dual_mode::futex::state,
        IDLE ARRIVING AGAIN WAITING WOKEN ONE);
    structure!(out, "dual_futex_waiter", dual_mode::FutexWaiter,
        state: "uint64_t", address: "uint64_t", since: "uint64_t", bitset: "uint32_t", urgency: "uint32_t",);
    structure!(out, "dual_futexes", dual_mode::Futexes,
        waiters: "uint32_t", anywhere: "uint32_t", busy: "uint32_t", reserved: "uint32_t",
        waits: "uint32_t" "[PILLION_DUAL_FUTEX_BUCKETS]", owned: "uint32_t" "[PILLION_DUAL_FUTEX_BUCKETS]",
        posts: "uint64_t" "[PILLION_DUAL_FUTEX_POSTS]",);
    define!(out, "Files that both sides read and write.", "DUAL_FILE_", dual_mode::file, SET FIFOS READ WRITE COUNT_MAX TAKEN FREE BY_LINUX BY_TASK);
    define!(out, "What such a file is.", "DUAL_FILE_", dual_mode::file::kind, NONE EVENT SEMAPHORE TIMER);
    structure!(out, "dual_timer_setting", dual_mode::TimerSetting,
        clock: "uint64_t", first: "uint64_t", interval: "uint64_t", flags: "uint64_t",);
    structure!(out, "dual_file", dual_mode::File,
        kind: "uint32_t", polled: "uint32_t", key: "uint64_t", value: "uint64_t", posted: "uint64_t",
        clock: "uint64_t", changing: "uint32_t", reserved: "uint32_t" "[5]",
        settings: "struct pillion_dual_timer_setting" "[2]",);
    structure!(out, "dual_descriptors", dual_mode::Descriptors,
        direct_map: "uint64_t", files: "uint64_t", count: "uint32_t", fdtable_count: "uint32_t",
        fdtable_files: "uint32_t", file_flags: "uint32_t", file_mode: "uint32_t", file_operations: "uint32_t",
        file_data: "uint32_t", reserved: "uint32_t", fifos: "uint64_t", queue_operations: "uint64_t",
        queues: "uint64_t",);
    structure!(out, "dual_open_fifo", dual_mode::OpenFifo,
        number: "uint32_t", generation: "uint32_t", task: "uint32_t", mode: "uint32_t", key: "uint64_t",
        turn: "uint64_t",);
    define!(out, "Message queues of both sides.", "DUAL_QUEUE_", dual_mode::queue,
        MESSAGES SIZE QUEUES PRIORITIES NUMBERS FIRST);
    structure!(out, "dual_queue_message", dual_mode::Message,
        order: "uint64_t", length: "uint32_t", reserved: "uint32_t",);
    structure!(out, "dual_queue", dual_mode::Queue,
        lock: "uint32_t", number: "uint32_t", most: "uint32_t", size: "uint32_t", polled: "uint32_t",
        notifies: "uint32_t", posted: "uint64_t", next: "uint64_t", texts: "uint64_t", reserved: "uint64_t" "[2]",
        messages: "struct pillion_dual_queue_message" "[PILLION_DUAL_QUEUE_MESSAGES]",);
    structure!(out, "dual_processor", dual_mode::Processor,
        events: "uint64_t", urgency: "uint32_t", shield: "uint32_t", reserved: "uint64_t" "[6]",);
    structure!(out, "dual", dual_mode::Dual,
        vector: "uint32_t", life: "uint32_t", memories_gone: "uint32_t", reserved: "uint32_t" "[13]",
        processors: "struct pillion_dual_processor" "[PILLION_DUAL_PROCESSORS]", clocks: "struct pillion_dual_clocks",
        memories: "uint64_t" "[PILLION_DUAL_MEMORIES]", posted: "uint64_t",
        futex_waiters: "struct pillion_dual_futex_waiter" "[PILLION_DUAL_SLOTS]", file_waits: "struct pillion_dual_futexes",
        descriptors: "struct pillion_dual_descriptors", vvar: "struct pillion_dual_vvar",
        ceilings: "uint8_t" "[PILLION_DUAL_MEMORIES]", reserved2: "uint64_t" "[44]",
        futexes: "struct pillion_dual_futexes" "[PILLION_DUAL_MEMORIES]",);
}
