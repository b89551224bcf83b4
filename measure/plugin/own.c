/*
 * How late a task was in instructions of its own processor, where several emulated processors take
 * turns: virtual time passes for all of them while one executes. QEMU 9.1 and later, which tell
 * registers; the processor that they tell may be the wrong one while processors take turns, so it
 * is known by its registers.
 *
 * Arguments: out=FILE, kernel=FIRST-LAST, the kernel's virtual addresses, and task=FIRST-LAST,
 * those of the tasks' code. A task executes the marker `Late` in user mode with the time in RAX, in
 * instructions, since it was to be released. What its processor executed since is what was executed
 * in the kernel with its own pointer in GS, or with no pointer of another processor, and in the
 * task. When the machine ends, FILE gets a line for each processor, in the order in which their
 * first tasks were released:
 *
 *     own SAMPLES SUM LONGEST LATE LONGEST_LATE    LATE is the virtual time of the longest
 */
#include "plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#if INTERFACE_VERSION < 3
#error "registers are told from version 3 of the interface on"
#endif

__attribute__((visibility("default"))) int qemu_plugin_version = INTERFACE_VERSION;

/* GLib's arrays, and the interface's registers, as QEMU 10.0 has them. */
typedef struct {
    void *data;
    unsigned int length;
} array;
typedef struct {
    void *handle;
    const char *name;
    const char *feature;
} register_descriptor;
array *g_byte_array_new(void);
array *g_byte_array_set_size(array *bytes, unsigned int size);
array *qemu_plugin_get_registers(void);
int qemu_plugin_read_register(void *handle, array *bytes);

static const uint8_t marker[] = {0x0f, 0x1f, 0x80, 'L', 'a', 't', 'e'};
/* Blocks of the kernel and of tasks that are remembered: more than any latency has. */
enum { MOST_BLOCKS = 1 << 14 };

static FILE *output;
static struct counter counter;
static struct {
    uint64_t first, last;
} kernel, task;
static void *gs_base, *k_gs_base, *rax;
static array *bytes;

static struct block {
    uint64_t from, upto;
    uint64_t gs, other_gs;
    bool is_kernel;
} blocks[MOST_BLOCKS];
static uint64_t remembered;
static struct block *open_block;

static struct {
    uint64_t pointer;
    uint64_t samples, sum, longest, late, longest_late;
} processors[MOST_PROCESSORS];
static size_t known;

static uint64_t read_register(void *handle)
{
    uint64_t value = 0;

    g_byte_array_set_size(bytes, 0);
    if (qemu_plugin_read_register(handle, bytes) >= (int)sizeof value)
        memcpy(&value, bytes->data, sizeof value);
    return value;
}

static void close_block(void)
{
    if (open_block != NULL)
        open_block->upto = counter_value(&counter);
    open_block = NULL;
}

static void at_other_block(unsigned int processor, void *data)
{
    (void)processor;
    (void)data;
    close_block();
}

static void at_own_block(unsigned int processor, void *is_kernel)
{
    (void)processor;
    close_block();
    open_block = &blocks[remembered++ % MOST_BLOCKS];
    open_block->from = counter_value(&counter);
    open_block->gs = read_register(gs_base);
    open_block->other_gs = read_register(k_gs_base);
    open_block->is_kernel = is_kernel != NULL;
}

static bool is_of_another(const struct block *block, uint64_t pointer)
{
    if (block->gs == pointer || block->other_gs == pointer)
        return false;
    if (!block->is_kernel)
        return true;
    for (size_t i = 0; i < known; i++)
        if (block->gs == processors[i].pointer || block->other_gs == processors[i].pointer)
            return true;
    return false;
}

static void at_late(unsigned int processor, void *data)
{
    uint64_t pointer = read_register(k_gs_base), late = read_register(rax), own = 0;
    uint64_t now = counter_value(&counter), since = late < now ? now - late : 0;
    size_t at = 0;

    (void)processor;
    (void)data;
    while (at < known && processors[at].pointer != pointer)
        at++;
    if (at == MOST_PROCESSORS)
        return;
    if (at == known)
        processors[known++].pointer = pointer;
    for (uint64_t i = remembered; i-- > 0 && remembered - i <= MOST_BLOCKS;) {
        const struct block *block = &blocks[i % MOST_BLOCKS];
        uint64_t upto = block == open_block ? now : block->upto;

        if (upto <= since)
            break;
        if (!is_of_another(block, pointer))
            own += upto - (block->from > since ? block->from : since);
    }
    processors[at].samples++;
    processors[at].sum += own;
    if (own > processors[at].longest) {
        processors[at].longest = own;
        processors[at].late = late;
    }
    if (late > processors[at].longest_late)
        processors[at].longest_late = late;
}

static void at_translation(plugin_id id, struct qemu_plugin_tb *block)
{
    uint64_t address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0));
    bool is_kernel = kernel.first <= address && address <= kernel.last;
    bool is_task = task.first <= address && address <= task.last;
    static int in_kernel;

    (void)id;
    if (is_kernel || is_task)
        qemu_plugin_register_vcpu_tb_exec_cb(block, at_own_block, CALLBACK_READS_REGISTERS,
                                             is_kernel ? &in_kernel : NULL);
    else
        qemu_plugin_register_vcpu_tb_exec_cb(block, at_other_block, CALLBACK_NO_REGISTERS, NULL);
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        uint8_t code[LONGEST];

        counter_add(&counter, instruction);
        if (is_task && instruction_bytes(instruction, code) == sizeof marker &&
            memcmp(code, marker, sizeof marker) == 0)
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, at_late, CALLBACK_READS_REGISTERS, NULL);
    }
}

static void at_begin(plugin_id id, unsigned int processor)
{
    (void)id;
    if (processor != 0)
        return;
    bytes = g_byte_array_new();
    array *registers = qemu_plugin_get_registers();
    const register_descriptor *all = registers->data;
    for (unsigned int i = 0; i < registers->length; i++) {
        if (strcmp(all[i].name, "gs_base") == 0)
            gs_base = all[i].handle;
        if (strcmp(all[i].name, "k_gs_base") == 0)
            k_gs_base = all[i].handle;
        if (strcmp(all[i].name, "rax") == 0)
            rax = all[i].handle;
    }
    if (gs_base == NULL || k_gs_base == NULL || rax == NULL) {
        fprintf(stderr, "own: the emulator does not tell gs_base, k_gs_base and rax\n");
        exit(1);
    }
}

static void at_end(plugin_id id, void *data)
{
    (void)id;
    (void)data;
    for (size_t i = 0; i < known; i++)
        fprintf(output, "own %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", processors[i].samples,
                processors[i].sum, processors[i].longest, processors[i].late, processors[i].longest_late);
    fflush(output);
}

static int take_argument(const char *argument)
{
    if (strncmp(argument, "out=", 4) == 0) {
        output = fopen(argument + 4, "w");
        return output != NULL;
    }
    return sscanf(argument, "kernel=%" SCNx64 "-%" SCNx64, &kernel.first, &kernel.last) == 2 ||
           sscanf(argument, "task=%" SCNx64 "-%" SCNx64, &task.first, &task.last) == 2;
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *machine, int count,
                                                               char **arguments)
{
    (void)machine;
    for (int i = 0; i < count; i++)
        if (!take_argument(arguments[i])) {
            fprintf(stderr, "own: bad argument %s\n", arguments[i]);
            return 1;
        }
    if (output == NULL) {
        fprintf(stderr, "own: out=FILE is missing\n");
        return 1;
    }
    counter_new(&counter);
    qemu_plugin_register_vcpu_init_cb(id, at_begin);
    qemu_plugin_register_vcpu_tb_trans_cb(id, at_translation);
    qemu_plugin_register_atexit_cb(id, at_end, NULL);
    return 0;
}
