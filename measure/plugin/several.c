/*
 * Counts exactly the instructions that each of several emulated processors executes, and says at
 * which of them an event finds it. Under -icount one thread runs the processors in turn, and the
 * clock is the same for all: what it says of a path across processors is mostly the length of a
 * turn.
 *
 * Arguments: out=FILE, any number of at=NAME:ADDRESS, and kernel=FIRST-LAST (hexadecimal virtual
 * addresses). FILE gets a line whenever a processor executes a marker, a no-operation that no
 * compiler generates (in 16-bit code with an address-size prefix), the instruction at such an
 * address, or the one behind VMRUN; and one for each processor when the machine ends:
 *
 *     Mark PROCESSOR COUNT    the next series begins
 *     From PROCESSOR COUNT    a piece of work begins
 *     Upto PROCESSOR COUNT    it ends
 *     Resp PROCESSOR COUNT    first instruction of the response to an interrupt
 *     exit PROCESSOR COUNT    a guest was left
 *     NAME PROCESSOR COUNT    the instruction at that address
 *     end PROCESSOR COUNT
 *
 * COUNT is of that processor alone. Only differences between counts of one processor mean
 * something: whether the instruction of the event is counted depends on the version of QEMU.
 *
 * Before each Mark, and at the end, there is a line for each processor with the longest stretch of
 * its instructions in the kernel with interrupts off, since the last Mark, and where that began:
 *
 *     off PROCESSOR LENGTH ADDRESS
 *
 * A stretch ends with an instruction that leaves the kernel or lets interrupts in; the next one
 * begins with the next block of code in the kernel, be it one instruction before CLI.
 */
#include "plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_ADDRESSES = 8, NAME_LENGTH = 4, LONGEST_NAME = 15 };

/* nop dword ptr [rax + "Mark"] and the like: three bytes, then the marker's name. */
static const uint8_t no_operation[] = {0x0f, 0x1f, 0x80};
enum { ADDRESS_SIZE = 0x67 };
static char markers[][NAME_LENGTH + 1] = {"Mark", "From", "Upto", "Resp"};

__attribute__((visibility("default"))) int qemu_plugin_version = INTERFACE_VERSION;

static FILE *output;
static struct counter counter;
static unsigned int processors;
static size_t addresses;
static struct {
    char name[LONGEST_NAME + 1];
    uint64_t address;
} at[MOST_ADDRESSES];

/* The kernel's addresses, and each processor's stretches with interrupts off in it. */
static uint64_t kernel_first, kernel_last;
static struct {
    bool is_off;
    uint64_t since, since_address;
    uint64_t longest, longest_address;
} stretch[MOST_PROCESSORS];

/* STI, HLT, IRETQ, SYSRETQ, VMRUN. */
static const uint8_t vmrun[] = {0x0f, 0x01, 0xd8};
static const struct {
    size_t size;
    uint8_t bytes[3];
} ends_stretch[] = {{1, {0xfb}}, {1, {0xf4}}, {2, {0x48, 0xcf}}, {3, {0x48, 0x0f, 0x07}}, {3, {0x0f, 0x01, 0xd8}}};

static bool is_kernel(uint64_t address)
{
    return kernel_first <= address && address <= kernel_last && kernel_last != 0;
}

static void begin_stretch(unsigned int processor, void *address)
{
    if (processor >= MOST_PROCESSORS || stretch[processor].is_off)
        return;
    stretch[processor].is_off = true;
    stretch[processor].since = counter_value_of(&counter, processor);
    stretch[processor].since_address = (uintptr_t)address;
}

static void end_stretch(unsigned int processor, void *data)
{
    (void)data;
    if (processor >= MOST_PROCESSORS || !stretch[processor].is_off)
        return;
    uint64_t length = counter_value_of(&counter, processor) - stretch[processor].since;
    stretch[processor].is_off = false;
    if (length > stretch[processor].longest) {
        stretch[processor].longest = length;
        stretch[processor].longest_address = stretch[processor].since_address;
    }
}

static void report_stretches(void)
{
    if (kernel_last == 0)
        return;
    for (unsigned int processor = 0; processor < processors && processor < MOST_PROCESSORS; processor++) {
        fprintf(output, "off %u %" PRIu64 " %" PRIx64 "\n", processor, stretch[processor].longest,
                stretch[processor].longest_address);
        stretch[processor].longest = 0;
    }
}

static void report(unsigned int processor, void *name)
{
    if (processor < MOST_PROCESSORS)
        fprintf(output, "%s %u %" PRIu64 "\n", (char *)name, processor, counter_value_of(&counter, processor));
}

static void next_series(unsigned int processor, void *name)
{
    report_stretches();
    report(processor, name);
}

static void at_begin(plugin_id id, unsigned int processor)
{
    (void)id;
    if (processor >= processors)
        processors = processor + 1;
}

static void at_end(plugin_id id, void *data)
{
    (void)id;
    (void)data;
    report_stretches();
    for (unsigned int processor = 0; processor < processors; processor++)
        report(processor, "end");
    fflush(output);
}

/* The name of the event, if the instruction is one. */
static char *event(uint64_t address, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < addresses; i++)
        if (at[i].address == address)
            return at[i].name;
    if (size != 0 && bytes[0] == ADDRESS_SIZE) {
        bytes++;
        size--;
    }
    if (size != sizeof no_operation + NAME_LENGTH || memcmp(bytes, no_operation, sizeof no_operation) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++)
        if (memcmp(bytes + sizeof no_operation, markers[i], NAME_LENGTH) == 0)
            return markers[i];
    return NULL;
}

static bool ends_stretches(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof ends_stretch / sizeof ends_stretch[0]; i++)
        if (size == ends_stretch[i].size && memcmp(bytes, ends_stretch[i].bytes, size) == 0)
            return true;
    return false;
}

static void at_translation(plugin_id id, struct qemu_plugin_tb *block)
{
    /* VMRUN ends a block; what comes behind it is translated once that was executed. */
    static char left_guest[] = "exit";
    static uint64_t behind_vmrun;
    uint8_t bytes[LONGEST];

    (void)id;
    counter_divide(&counter, block);
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        uint64_t address = qemu_plugin_insn_vaddr(instruction);
        size_t size = instruction_bytes(instruction, bytes);
        char *name = event(address, bytes, size);

        if (i == 0 && is_kernel(address))
            qemu_plugin_register_vcpu_tb_exec_cb(block, begin_stretch, CALLBACK_NO_REGISTERS, (void *)(uintptr_t)address);
        counter_add(&counter, instruction);
        if (is_kernel(address) && ends_stretches(bytes, size))
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, end_stretch, CALLBACK_NO_REGISTERS, NULL);
        if (address == behind_vmrun)
            name = left_guest;
        if (size == sizeof vmrun && memcmp(bytes, vmrun, size) == 0)
            behind_vmrun = address + size;
        if (name == markers[0])
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, next_series, CALLBACK_NO_REGISTERS, name);
        else if (name != NULL)
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, report, CALLBACK_NO_REGISTERS, name);
    }
}

static int take_argument(const char *argument)
{
    if (strncmp(argument, "out=", 4) == 0) {
        output = fopen(argument + 4, "w");
        return output != NULL;
    }
    if (strncmp(argument, "kernel=", 7) == 0)
        return sscanf(argument, "kernel=%" SCNx64 "-%" SCNx64, &kernel_first, &kernel_last) == 2;
    if (addresses == MOST_ADDRESSES)
        return 0;
    return sscanf(argument, "at=%15[^:]:%" SCNx64, at[addresses].name, &at[addresses].address) == 2 && ++addresses;
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *machine, int count,
                                                               char **arguments)
{
    (void)machine;
    for (int i = 0; i < count; i++)
        if (!take_argument(arguments[i])) {
            fprintf(stderr, "several: bad argument %s\n", arguments[i]);
            return 1;
        }
    if (output == NULL) {
        fprintf(stderr, "several: out=FILE is missing\n");
        return 1;
    }
    counter_new(&counter);
    qemu_plugin_register_vcpu_init_cb(id, at_begin);
    qemu_plugin_register_vcpu_tb_trans_cb(id, at_translation);
    qemu_plugin_register_atexit_cb(id, at_end, NULL);
    return 0;
}
