#include "watch.h"

#include "code.h"
#include "space.h"

#include <stdlib.h>

/* An instruction that may be the first of a line, or is an event. */
struct point {
	uint64_t address, physical;
	enum event event;
};

struct watch watch = {.small_first = 1};

/* The instruction after VMRUN, which is the first after an exit. */
static uint64_t behind_vmrun;
/* The last line that was fetched. */
#define NO_LINE (~(uint64_t)0)
static uint64_t last_line = NO_LINE;

/*
 * In a large page, virtual and physical address agree in the offset within the page; in small pages
 * this happens once in 512 times.
 */
static bool in_large_page(uint64_t address, uint64_t physical)
{
	return !((address ^ physical) & 0x1ff000) && !(watch.small_first <= address && address <= watch.small_last);
}

/* Updates the machine's number of executed instructions. */
static void catch_up(void)
{
	watch.machine.instructions = counter_value(&watch.executed);
}

static void fetch(const struct point *point)
{
	bool kernel = point->address >> 63;

	if (!watch.machine.guest) {
		if (kernel != watch.spans.in_kernel)
			spans_mode(&watch.spans, &watch.machine, kernel);
		if (!kernel && watch.machine.tags == TAGS_SPACE)
			machine_space(&watch.machine, space_at(point->physical));
	}
	machine_fetch(&watch.machine, point->address, point->physical, in_large_page(point->address, point->physical));
}

static void at_line(unsigned int cpu, void *data)
{
	const struct point *point = data;
	uint64_t line = point->address >> watch.machine.caches[L1_CODE].line_shift;

	(void)cpu;
	if (watch.done || line == last_line)
		return;
	last_line = line;
	catch_up();
	fetch(point);
}

/* The event may change the translation of its own line, so the line is fetched again. */
static void at_event(unsigned int cpu, void *data)
{
	const struct point *point = data;

	(void)cpu;
	if (watch.done)
		return;
	catch_up();
	last_line = NO_LINE;
	if (!watch.machine.guest)
		spans_before(&watch.spans, &watch.machine, point->event);
	if (point->event == EVENT_CR3 && !watch.machine.guest)
		space_changes();
	fetch(point);
	machine_event(&watch.machine, point->event);
	spans_marker(&watch.spans, &watch.machine, point->event);
	watch.done = point->event == EVENT_DONE;
}

/* The kernel's first instruction for an interrupt is executed. */
static void at_entry(unsigned int cpu, void *data)
{
	struct happened taken;

	if (watch.done)
		return;
	catch_up();
	taken = spans_taken(&watch.spans, &watch.machine);
	machine_event(&watch.machine, EVENT_INTERRUPT);
	at_event(cpu, data);
	spans_entered(&watch.spans, &watch.machine, &taken);
}

/* The first instruction after a guest exit is executed; it may be an event itself. */
static void at_exit(unsigned int cpu, void *data)
{
	if (!watch.done && watch.machine.guest) {
		catch_up();
		spans_before(&watch.spans, &watch.machine, EVENT_VMEXIT);
		machine_event(&watch.machine, EVENT_VMEXIT);
	}
	at_event(cpu, data);
}

static void at_access(unsigned int cpu, access_info info, uint64_t address, void *data)
{
	const struct qemu_plugin_hwaddr *where;
	uint64_t physical;

	(void)cpu;
	(void)data;
	if (watch.done)
		return;
	where = qemu_plugin_get_hwaddr(info, address);
	if (!where)
		return;
	if (qemu_plugin_hwaddr_is_io(where)) {
		machine_uncached(&watch.machine);
		return;
	}
	physical = qemu_plugin_hwaddr_phys_addr(where);
	machine_data(&watch.machine, address, physical, in_large_page(address, physical), qemu_plugin_mem_is_store(info));
}

bool watch_entry(uint64_t address)
{
	if (watch.entry_count == MOST_ENTRIES)
		return false;
	watch.entries[watch.entry_count++] = address;
	return true;
}

static bool is_entry(uint64_t address)
{
	for (size_t i = 0; i < watch.entry_count; i++)
		if (watch.entries[i] == address)
			return true;
	return false;
}

/* The callback for an instruction that is more than a part of its line. */
static executed callback_for(uint64_t address, enum event event)
{
	if (is_entry(address))
		return at_entry;
	if (address == behind_vmrun)
		return at_exit;
	return event == EVENT_NONE ? NULL : at_event;
}

/* Registers a callback. Points live while the emulator may execute its translations: to the end. */
static void tell_of(struct qemu_plugin_insn *instruction, executed callback, enum event event)
{
	uint64_t address = qemu_plugin_insn_vaddr(instruction);
	struct point *point = malloc(sizeof *point);

	if (!point)
		abort();
	*point = (struct point){address, code_physical(address, qemu_plugin_insn_haddr(instruction)), event};
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, callback, CALLBACK_NO_REGISTERS, point);
}

static void at_instruction(struct qemu_plugin_insn *instruction, uint64_t *line)
{
	uint64_t address = qemu_plugin_insn_vaddr(instruction);
	uint64_t its_line = address >> watch.machine.caches[L1_CODE].line_shift;
	uint8_t bytes[LONGEST];
	size_t size = instruction_bytes(instruction, bytes);
	enum event event = event_of(bytes, size);
	executed callback = callback_for(address, event);

	if (event == EVENT_VMRUN)
		behind_vmrun = address + size;
	if (callback)
		tell_of(instruction, callback, event);
	else if (its_line != *line)
		tell_of(instruction, at_line, EVENT_NONE);
	*line = callback ? NO_LINE : its_line;
	counter_add(&watch.executed, instruction);
	qemu_plugin_register_vcpu_mem_cb(instruction, at_access, CALLBACK_NO_REGISTERS, ACCESSES_ALL, NULL);
}

void watch_block(plugin_id id, struct qemu_plugin_tb *block)
{
	uint64_t line = NO_LINE;

	(void)id;
	if (watch.done)
		return;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++)
		at_instruction(qemu_plugin_tb_get_insn(block, i), &line);
}
