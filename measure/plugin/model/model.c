/*
 * A plug-in of the emulator: models caches and TLBs while a program measures, and writes what was
 * charged between its markers. Arguments and output: ../README.md.
 *
 * Until the program marks its beginning, the plug-in only looks for that marker and for those that
 * pass the entry points of the program's kernel, so that Linux boots as fast as without a model.
 * Then a reset drops all hooks and translations; the emulator does it a few instructions after the
 * request, always the same ones. There is no reset at the end: it would free callbacks for memory
 * accesses that the emulator may still call, and QEMU 7.2 then sometimes aborts. The hooks stay,
 * and find that the program is done.
 */
#include "parameter.h"
#include "watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

__attribute__((visibility("default"))) int qemu_plugin_version = INTERFACE_VERSION;

/* The first responses and pieces of work, which find the caches in an untypical state. */
enum { SKIP = 20 };

static FILE *output;
static plugin_id own;
static bool begun;

static void at_end(plugin_id id, void *data)
{
	(void)id;
	(void)data;
	if (!begun)
		fputs("invalid no program said that it begins to measure\n", output);
	spans_tell(&watch.spans, output);
	fclose(output);
}

static void wait_for_end(plugin_id id)
{
	qemu_plugin_register_atexit_cb(id, at_end, NULL);
}

static void begin(plugin_id id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, watch_block);
	wait_for_end(id);
}

static void at_begin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	begun = true;
	qemu_plugin_reset(own, begin);
}

/* Takes what a program passes before it begins: the entry points of its kernel. */
static void at_told(unsigned int cpu, void *data)
{
	enum event event = (enum event)(uintptr_t)data;

	(void)cpu;
	if (event != EVENT_ENTRY)
		spans_bit(&watch.spans, event);
	else if (!watch_entry(spans_number(&watch.spans)))
		fputs("invalid there are more entries of kernels than the model takes\n", output);
}

static void look_for_begin(plugin_id id, struct qemu_plugin_tb *block)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		uint8_t bytes[LONGEST];
		enum event event = event_of(bytes, instruction_bytes(instruction, bytes));

		if (event == EVENT_BEGIN)
			qemu_plugin_register_vcpu_insn_exec_cb(instruction, at_begin, CALLBACK_NO_REGISTERS, NULL);
		else if (event == EVENT_ZERO || event == EVENT_ONE || event == EVENT_ENTRY)
			qemu_plugin_register_vcpu_insn_exec_cb(instruction, at_told, CALLBACK_NO_REGISTERS,
							       (void *)(uintptr_t)event);
	}
}

static bool take_begin(const char *when)
{
	begun = strcmp(when, "power-on") == 0;
	return begun || strcmp(when, "marker") == 0;
}

static bool take_argument(struct parameters *parameters, const char *argument)
{
	uint64_t entry;

	if (strncmp(argument, "out=", 4) == 0) {
		output = fopen(argument + 4, "w");
		return output;
	}
	if (strncmp(argument, "begin=", 6) == 0)
		return take_begin(argument + 6);
	if (strncmp(argument, "skip=", 5) == 0)
		return sscanf(argument + 5, "%" SCNu64, &watch.spans.skip) == 1;
	if (strncmp(argument, "entry=", 6) == 0)
		return sscanf(argument + 6, "%" SCNx64, &entry) == 1 && watch_entry(entry);
	if (strncmp(argument, "small=", 6) == 0)
		return sscanf(argument + 6, "%" SCNx64 "-%" SCNx64, &watch.small_first, &watch.small_last) == 2;
	return parameters_take(parameters, argument);
}

/* Returns what is wrong with the arguments, or NULL. */
static const char *configure(int count, char **arguments)
{
	struct parameters *parameters = parameters_new();
	const char *problem;

	if (!parameters)
		return "no memory";
	for (int i = 0; i < count; i++)
		if (!take_argument(parameters, arguments[i])) {
			parameters_free(parameters);
			return arguments[i];
		}
	problem = output ? parameters_make(parameters, &watch.machine) : "out=FILE is missing or cannot be written";
	parameters_free(parameters);
	return problem;
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *information, int count,
							       char **arguments)
{
	const char *problem;

	(void)information;
	own = id;
	counter_new(&watch.executed);
	spans_init(&watch.spans, SKIP);
	problem = configure(count, arguments);
	if (problem) {
		fprintf(stderr, "model: bad argument: %s\n", problem);
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, begun ? watch_block : look_for_begin);
	wait_for_end(id);
	return 0;
}
