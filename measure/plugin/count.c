/*
 * Counts exactly the instructions that the emulated processor executes: those that fault and are
 * executed again count twice, as they do on the machine; time spent sleeping does not count.
 *
 * Arguments: out=FILE, and any number of range=FIRST-LAST (hexadecimal virtual addresses) to count
 * separately. FILE gets a line whenever the guest executes a marker, a no-op that no compiler
 * generates, and one at the end:
 *
 *     Mark TOTAL RANGE1 RANGE2 ..     the program that writes a note begins
 *     Step TOTAL RANGE1 RANGE2 ..     a piece of work begins or ends
 *     end TOTAL RANGE1 RANGE2 ..
 */
#include "plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANGES = 8 };

/* nop dword ptr [rax + "Mark"] and the like: three bytes, then the marker's name. */
static const uint8_t no_operation[] = {0x0f, 0x1f, 0x80};
enum { NAME_LENGTH = 4 };
static char names[][NAME_LENGTH + 1] = {"Mark", "Step"};

__attribute__((visibility("default"))) int qemu_plugin_version = INTERFACE_VERSION;

static FILE *output;
static size_t ranges;
static struct {
    uint64_t first, last;
} range[MOST_RANGES];
/* The last counter is for addresses in no range. */
static struct counter counter[MOST_RANGES + 1];

static struct counter *counter_of(uint64_t address)
{
    for (size_t i = 0; i < ranges; i++)
        if (range[i].first <= address && address <= range[i].last)
            return &counter[i];
    return &counter[MOST_RANGES];
}

static void report(const char *event)
{
    uint64_t total = counter_value(&counter[MOST_RANGES]);
    for (size_t i = 0; i < ranges; i++)
        total += counter_value(&counter[i]);
    fprintf(output, "%s %" PRIu64, event, total);
    for (size_t i = 0; i < ranges; i++)
        fprintf(output, " %" PRIu64, counter_value(&counter[i]));
    fputc('\n', output);
    fflush(output);
}

static void at_marker(unsigned int cpu, void *name)
{
    (void)cpu;
    report(name);
}

static void at_end(plugin_id id, void *data)
{
    (void)id;
    (void)data;
    report("end");
}

/* The name of the marker, if the instruction is one. */
static char *marker(const struct qemu_plugin_insn *instruction)
{
    uint8_t bytes[LONGEST];
    if (instruction_bytes(instruction, bytes) != sizeof no_operation + NAME_LENGTH ||
        memcmp(bytes, no_operation, sizeof no_operation) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (memcmp(bytes + sizeof no_operation, names[i], NAME_LENGTH) == 0)
            return names[i];
    return NULL;
}

static void at_translation(plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        counter_add(counter_of(qemu_plugin_insn_vaddr(instruction)), instruction);
        char *name = marker(instruction);
        if (name != NULL)
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, at_marker, CALLBACK_NO_REGISTERS, name);
    }
}

static int take_argument(const char *argument)
{
    if (strncmp(argument, "out=", 4) == 0) {
        output = fopen(argument + 4, "w");
        return output != NULL;
    }
    if (ranges == MOST_RANGES)
        return 0;
    return sscanf(argument, "range=%" SCNx64 "-%" SCNx64, &range[ranges].first, &range[ranges].last) == 2 && ++ranges;
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *machine, int count,
                                                               char **arguments)
{
    (void)machine;
    for (int i = 0; i < count; i++)
        if (!take_argument(arguments[i])) {
            fprintf(stderr, "count: bad argument %s\n", arguments[i]);
            return 1;
        }
    if (output == NULL) {
        fprintf(stderr, "count: out=FILE is missing\n");
        return 1;
    }
    for (size_t i = 0; i <= MOST_RANGES; i++)
        counter_new(&counter[i]);
    qemu_plugin_register_vcpu_tb_trans_cb(id, at_translation);
    qemu_plugin_register_atexit_cb(id, at_end, NULL);
    return 0;
}
