/*
 * The part of the emulator's plug-in interface that the plug-ins use: version 1 (QEMU 7.2 to 8.2)
 * or 3 (QEMU 9.1 and later), chosen at compile time, because each QEMU refuses plug-ins of the
 * other version. Debian 12 has no package with the interface's own header.
 */
#ifndef PILLION_PLUGIN_H
#define PILLION_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined INTERFACE_VERSION || (INTERFACE_VERSION != 1 && INTERFACE_VERSION != 3)
#error "-DINTERFACE_VERSION=1 is for QEMU 7.2 to 8.2, -DINTERFACE_VERSION=3 for QEMU 9.1 and later"
#endif

/*
 * The only operation that can be done inline, the flags for callbacks that read no registers, or
 * read them (from version 2 on), and the flag for memory accesses of both kinds.
 */
enum inline_operation { INLINE_ADD_U64 };
enum callback_flags { CALLBACK_NO_REGISTERS, CALLBACK_READS_REGISTERS };
enum accesses { ACCESSES_ALL = 3 };

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

typedef uint64_t plugin_id;
typedef uint32_t access_info;
typedef void (*translated)(plugin_id id, struct qemu_plugin_tb *block);
typedef void (*executed)(unsigned int cpu, void *data);
typedef void (*accessed)(unsigned int cpu, access_info info, uint64_t address, void *data);
typedef void (*initialised)(plugin_id id, unsigned int cpu);
typedef void (*ended)(plugin_id id, void *data);
typedef void (*reset)(plugin_id id);

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, translated callback);
void qemu_plugin_register_vcpu_init_cb(plugin_id id, initialised callback);
void qemu_plugin_register_atexit_cb(plugin_id id, ended callback, void *data);
/*
 * Drops all callbacks and translations, then calls back, so that others may be registered. It may
 * be requested while an instruction is executed, but not while a block is translated; it takes
 * effect before the next block. QEMU 7.2 keeps a lock of its own afterwards, which does no harm
 * while one thread runs all processors. It may only be used while no memory access is watched: QEMU
 * 7.2 frees those callbacks and may call them once more, which aborts it ("qemu_plugin_vcpu_mem_cb:
 * code should not be reached").
 */
void qemu_plugin_reset(plugin_id id, reset callback);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
/* The address of the instruction in the emulator's own memory. */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *instruction);

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, executed callback, enum callback_flags flags,
                                          void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction, executed callback,
                                            enum callback_flags flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction, accessed callback,
                                      enum callback_flags flags, enum accesses accesses, void *data);

bool qemu_plugin_mem_is_store(access_info info);
/* Valid until the callback returns. */
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(access_info info, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *address);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *address);

/* The longest instruction of the architecture, in bytes. */
enum { LONGEST = 15 };

/* As many as Pillion's kernel runs on. */
enum { MOST_PROCESSORS = 8 };

/*
 * Below is what differs between the versions:
 *
 *     struct counter                 executed instructions add to it without a call
 *     counter_new(counter)           makes it, at zero
 *     counter_add(counter, i)        instruction i will add one to it, each time before it is executed
 *     counter_value(counter)         what was added on all processors
 *     counter_divide(counter, block) this block, like all others, will tell whose turn it is
 *     counter_value_of(counter, p)   what was added on processor p, below MOST_PROCESSORS, if all
 *                                    blocks tell
 *     instruction_bytes(i, bytes)    copies the instruction, returns its length
 */
#if INTERFACE_VERSION == 1

const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction, enum inline_operation operation,
                                                void *counter, uint64_t amount);

/*
 * One number for all processors. One thread of the emulator's runs them in turn, so what was added
 * since the last change of turns was added by the processor that had the turn.
 */
struct counter {
    uint64_t value;
    /* The last one is of those that are too many. */
    uint64_t of[MOST_PROCESSORS + 1];
    uint64_t divided;
    unsigned int turn;
};

static inline void counter_new(struct counter *counter)
{
    memset(counter, 0, sizeof *counter);
}

/* Gives what was added since the last time to the processor whose turn it was. */
static inline void counter_change_turns(unsigned int processor, void *data)
{
    struct counter *counter = data;
    unsigned int turn = processor < MOST_PROCESSORS ? processor : MOST_PROCESSORS;

    if (turn == counter->turn)
        return;
    counter->of[counter->turn] += counter->value - counter->divided;
    counter->divided = counter->value;
    counter->turn = turn;
}

static inline void counter_divide(struct counter *counter, struct qemu_plugin_tb *block)
{
    qemu_plugin_register_vcpu_tb_exec_cb(block, counter_change_turns, CALLBACK_NO_REGISTERS, counter);
}

static inline uint64_t counter_value_of(const struct counter *counter, unsigned int processor)
{
    uint64_t undivided = processor == counter->turn ? counter->value - counter->divided : 0;
    return counter->of[processor] + undivided;
}

static inline void counter_add(struct counter *counter, struct qemu_plugin_insn *instruction)
{
    qemu_plugin_register_vcpu_insn_exec_inline(instruction, INLINE_ADD_U64, &counter->value, 1);
}

static inline uint64_t counter_value(const struct counter *counter)
{
    return counter->value;
}

static inline size_t instruction_bytes(const struct qemu_plugin_insn *instruction, uint8_t bytes[LONGEST])
{
    size_t size = qemu_plugin_insn_size(instruction);

    memcpy(bytes, qemu_plugin_insn_data(instruction), size);
    return size;
}

#else

size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction, void *bytes, size_t most);

static inline size_t instruction_bytes(const struct qemu_plugin_insn *instruction, uint8_t bytes[LONGEST])
{
    return qemu_plugin_insn_data(instruction, bytes, LONGEST);
}

#ifdef TOTAL_ONLY

/*
 * One number for all processors, and a call for each instruction. While processors take turns, QEMU
 * 10.0 takes the processor that code was translated for as a constant, for that of whoever executes
 * it, and code that adds to a number of each processor overwrites that constant.
 */
struct counter {
    uint64_t value;
};

static inline void counter_new(struct counter *counter)
{
    counter->value = 0;
}

static inline void counter_one_more(unsigned int processor, void *data)
{
    struct counter *counter = data;

    (void)processor;
    counter->value++;
}

static inline void counter_add(struct counter *counter, struct qemu_plugin_insn *instruction)
{
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, counter_one_more, CALLBACK_NO_REGISTERS, counter);
}

static inline uint64_t counter_value(const struct counter *counter)
{
    return counter->value;
}

#else

struct qemu_plugin_scoreboard;

/* A value for each processor, and its offset in the elements of an array. */
struct qemu_plugin_u64 {
    struct qemu_plugin_scoreboard *array;
    size_t offset;
};

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
uint64_t qemu_plugin_u64_sum(struct qemu_plugin_u64 number);
uint64_t qemu_plugin_u64_get(struct qemu_plugin_u64 number, unsigned int processor);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *instruction,
                                                         enum inline_operation operation,
                                                         struct qemu_plugin_u64 number, uint64_t amount);

struct counter {
    struct qemu_plugin_u64 number;
};

static inline void counter_new(struct counter *counter)
{
    counter->number = (struct qemu_plugin_u64){qemu_plugin_scoreboard_new(sizeof(uint64_t)), 0};
}

static inline void counter_add(struct counter *counter, struct qemu_plugin_insn *instruction)
{
    qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, INLINE_ADD_U64, counter->number, 1);
}

static inline uint64_t counter_value(const struct counter *counter)
{
    return qemu_plugin_u64_sum(counter->number);
}

static inline void counter_divide(struct counter *counter, struct qemu_plugin_tb *block)
{
    (void)counter;
    (void)block;
}

static inline uint64_t counter_value_of(const struct counter *counter, unsigned int processor)
{
    return qemu_plugin_u64_get(counter->number, processor);
}

#endif

#endif

#endif
