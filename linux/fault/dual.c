// SPDX-License-Identifier: GPL-2.0-only
/*
 * Offers the task of dual mode threads that no module would offer: wild registers, calls with wild
 * arguments, page tables, clocks, futexes, files, queues and names that change all the time.
 * Whatever Linux states, the task goes on: when this has ended, it serves good threads.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/io.h>
#include <asm/processor.h>
#include <asm/special_insns.h>
#include <asm/tsc.h>

#include "fault.h"
#include "pillion_channel.h"

#define OFFERS 30000
#define SLOTS 8
#define USER_BYTES (2 * PAGE_SIZE)

static struct {
	struct pillion_dual *head;
	struct pillion_dual_slot *slots;
	/* Memory of this process; a page of Linux's kernel with a descriptor table, and files. */
	unsigned long user;
	u64 *table;
	struct pillion_dual_file *files;
	/* A page of queues, and memory for the texts of one. */
	struct pillion_dual_queue *queues;
	u8 *texts;
} dual;

#define QUEUES (PAGE_SIZE / sizeof(struct pillion_dual_queue))
/* Messages of whatever size that `texts` has room for. */
#define MESSAGES 16
#define TEXTS_BYTES (MESSAGES * PILLION_DUAL_QUEUE_SIZE)
/* Of files that are queues. */
#define QUEUE_OPERATIONS 0x1234567890

static long hypercall(u64 number, u64 argument)
{
	long result;

	asm volatile("vmmcall" : "=a" (result) : "a" (number), "b" (argument) : "memory");
	return result;
}

static u32 below(u32 end)
{
	return get_random_u32() % end;
}

/* A value that may mean something. */
static u64 wild(void)
{
	static const u64 edges[] = { 0, 1, 7, 8, 9, 64, -1, -2, 1ull << 31, 1ull << 32, 1ull << 63, (1ull << 47) - 8, 1ull << 62 };

	switch (below(6)) {
	case 0:
		return get_random_u64();
	case 1:
		return edges[below(ARRAY_SIZE(edges))];
	case 2:
		return dual.user + below(USER_BYTES);
	case 3:
		return below(64);
	case 4:
		return ktime_get_ns() + below(1000000);
	default:
		return dual.user + (below(USER_BYTES) & ~63u);
	}
}

static u64 wild_call(void)
{
	static const u32 calls[] = { 0, 1, 24, 35, 39, 96, 128, 186, 201, 202, 225, 228, 230, 242, 243, 309, PILLION_DUAL_LIFE_CALL };

	return below(3) ? PILLION_DUAL_SERVICE_FIRST + below(PILLION_DUAL_SERVICE_END) : calls[below(ARRAY_SIZE(calls))];
}

static void fill(void *at, size_t bytes)
{
	u64 *words = at;

	for (; bytes >= sizeof(*words); bytes -= sizeof(*words))
		*words++ = wild();
}

static void change_clocks(void)
{
	unsigned int i, shift = below(70);

	for (i = 0; i < 2; i++) {
		struct pillion_dual_conversion *copy = &dual.head->clocks.copies[i];

		if (below(2))
			fill(copy, sizeof(*copy));
		copy->valid = 1;
		copy->shift = shift;
	}
	dual.head->clocks.sequence = wild();
}

/* Where texts may be written, they are in memory that is nobody else's. */
static void change_queues(void)
{
	unsigned int i, j;

	fill(dual.queues, PAGE_SIZE);
	for (i = 0; i < QUEUES; i++) {
		struct pillion_dual_queue *queue = &dual.queues[i];
		bool is_sane = below(4);

		queue->lock = below(4);
		queue->number = below(40);
		queue->most = is_sane ? below(MESSAGES + 1) : get_random_u32();
		queue->size = is_sane ? below(PILLION_DUAL_QUEUE_SIZE + 1) : get_random_u32();
		/* Beyond Linux's memory, wholly or in part, or memory that can be spared. */
		queue->texts = !is_sane || below(4) ? (u64)dual.texts : below(2) ? wild() : ~0ull - below(8192);
		queue->notifies = below(2);
		for (j = 0; j < PILLION_DUAL_QUEUE_MESSAGES; j++)
			queue->messages[j].order = below(2) ? 0 : get_random_u64();
	}
}

static void change_head(void)
{
	struct pillion_dual *head = dual.head;
	/* The task is on the first of them. */
	struct pillion_dual_processor *told = &head->processors[below(2) ? 0 : below(PILLION_DUAL_PROCESSORS)];
	unsigned int i;

	switch (below(10)) {
	case 8:
		change_queues();
		break;
	case 0:
		change_clocks();
		break;
	case 7:
		/* Its main thread maps memory. */
		head->vvar.page = below(3) ? wild() : (u64)below(512 << 8) << PAGE_SHIFT;
		hypercall(PILLION_DUAL_SIGNAL, PILLION_DUAL_MAIN);
		break;
	case 1:
		head->memories[below(PILLION_DUAL_MEMORIES)] = below(3);
		head->memories_gone++;
		break;
	case 2:
		fill(&head->futexes[below(PILLION_DUAL_MEMORIES)], sizeof(head->futexes[0]));
		break;
	case 3:
		for (i = 0; i < PILLION_DUAL_SLOTS; i++) {
			fill(&head->futex_waiters[i], sizeof(head->futex_waiters[i]));
			head->futex_waiters[i].state = head->futex_waiters[i].state / 8 * 8 + below(8);
			head->futex_waiters[i].address = below(2) ? dual.user + 64 * below(4) : 4 * below(200);
			head->futex_waiters[i].bitset = -1;
		}
		head->file_waits.waiters = get_random_u32();
		break;
	case 4:
		fill(dual.files, PAGE_SIZE);
		for (i = 0; i < PAGE_SIZE / sizeof(*dual.files); i++) {
			dual.files[i].key = dual.table[16 + i % 8];
			dual.files[i].kind = below(5);
			dual.files[i].clock = below(12);
		}
		break;
	case 5:
		fill(&head->file_waits, sizeof(head->file_waits));
		break;
	case 6:
		head->descriptors.count = below(100);
		head->descriptors.file_flags = below(64) * 4;
		head->descriptors.files = below(4) ? (u64)dual.files : dual.user;
		told->urgency = get_random_u32();
		told->shield = get_random_u32();
		/* Others harm Linux. */
		head->vector = below(4) ? 0xf2 : below(2) ? below(32) : 256 + below(32);
		break;
	default:
		head->posted = wild();
		told->events = wild();
		head->life = below(4);
	}
}

/* A call about a queue, with a text behind the code. */
static void use_queue(u64 *gpr)
{
	gpr[7] = below(32);
	gpr[6] = dual.user + PAGE_SIZE + below(64);
	gpr[2] = below(9000);
	gpr[10] = below(4) ? below(40000) : wild();
	gpr[8] = below(2) ? 0 : dual.user + PAGE_SIZE;
}

static void offer(unsigned int number)
{
	struct pillion_dual_slot *slot = &dual.slots[number];
	unsigned int i;

	fill(&slot->registers, sizeof(slot->registers));
	slot->registers.gpr[0] = wild_call();
	if (slot->registers.gpr[0] == 242 || slot->registers.gpr[0] == 243)
		use_queue(slot->registers.gpr);
	slot->registers.rip = dual.user + below(64);
	slot->registers.fs_base &= (1ull << 47) - 1;
	slot->registers.gs_base &= (1ull << 47) - 1;
	/* A handle that may be one. */
	if (below(2))
		slot->registers.gpr[2] = below(16) | below(4) << 8;
	slot->cr3 = below(20) ? __pa(current->mm->pgd) : below(2) ? virt_to_phys(dual.files) : ~0ull;
	slot->cr4 = below(20) ? __read_cr4() : wild();
	slot->xcr0 = below(20) ? 7 : wild();
	slot->thread = below(40);
	slot->process = below(4);
	slot->memory = below(20) ? below(6) : get_random_u32();
	slot->flags = below(4);
	slot->priority = below(10) ? below(100) : get_random_u32();
	fill(&slot->naming, sizeof(slot->naming));
	memset(slot->naming.name, 0, sizeof(slot->naming.name));
	slot->naming.name[0] = 'a' + below(3);
	slot->naming.name[1] = below(10) ? 0 : '/';
	slot->naming.kind = below(7);
	slot->naming.flags = below(4);
	slot->naming.privileged = below(2);
	slot->naming.object_flags = below(8);
	if (below(2))
		slot->naming.value = below(3) + (u64)below(100) * PILLION_DUAL_OBJECT_QUEUE_SIZE;
	slot->descriptors = below(10) ? virt_to_phys(dual.table) : wild();
	slot->processor = below(4) ? below(8) : get_random_u64();
	slot->signals = wild();
	slot->timer_count = below(12);
	fill(slot->timers, sizeof(slot->timers));
	for (i = 0; i < PILLION_DUAL_SIGNAL_TIMERS; i++) {
		slot->timers[i].signal = below(70);
		slot->timers[i].clock = below(3);
	}
	if (!below(8))
		fill(slot->vectors, 1024);
	slot->offer++;
	smp_store_release(&slot->state, PILLION_DUAL_STATE_OFFERED);
	hypercall(PILLION_DUAL_SIGNAL, (PILLION_DUAL_FIRST_SIGNAL + number) | (below(8) ? 0 : PILLION_DUAL_CALM));
}

/* Says that something was taken from a process, and does not wait, or waits for nobody. */
static void take(void)
{
	hypercall(PILLION_DUAL_TAKEN, (below(10) ? below(8) : get_random_u32()) | (below(3) ? PILLION_DUAL_ASK : 0));
}

/* Asks for a thread. */
static void recall(unsigned int number)
{
	struct pillion_dual_slot *slot = &dual.slots[number];

	WRITE_ONCE(slot->recall, slot->offer);
	hypercall(PILLION_DUAL_SIGNAL, PILLION_DUAL_FIRST_SIGNAL + number);
}

struct pillion_dual *dual_window(void)
{
	u32 version, gsi, base, pages;
	u8 *window;

	cpuid(PILLION_CPUID_LEAF, &version, &gsi, &base, &pages);
	if (version != PILLION_CHANNEL_VERSION)
		return NULL;
	window = memremap((u64)base << PAGE_SHIFT, (u64)pages << PAGE_SHIFT, MEMREMAP_WB);
	return window ? (void *)(window + ((struct pillion_directory *)window)->dual) : NULL;
}

static bool prepare(void)
{
	unsigned int i;

	dual.head = dual_window();
	if (!dual.head)
		return false;
	dual.slots = (void *)(dual.head + 1);
	dual.user = vm_mmap(NULL, 0, USER_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, 0);
	dual.table = (void *)get_zeroed_page(GFP_KERNEL);
	dual.files = (void *)get_zeroed_page(GFP_KERNEL);
	dual.queues = (void *)get_zeroed_page(GFP_KERNEL);
	dual.texts = alloc_pages_exact(TEXTS_BYTES, GFP_KERNEL | __GFP_ZERO);
	if (IS_ERR_VALUE(dual.user) || !dual.table || !dual.files || !dual.queues || !dual.texts)
		return false;
	/* SYSCALL, again and again. */
	for (i = 0; i < 96; i++) {
		static const u8 code[] = { 0x0f, 0x05 };

		if (copy_to_user((void __user *)(dual.user + 2 * i), code, 2))
			return false;
	}
	if (put_user(0xfeebu, (u16 __user *)(dual.user + 192)) || put_user(0, (int __user *)(dual.user + PAGE_SIZE)))
		return false;
	/* The table, its array from the eighth word on, and files. */
	dual.table[0] = (u64)&dual.table[1];
	dual.table[1] = 32;
	dual.table[2] = (u64)&dual.table[8];
	for (i = 8; i < 40; i++)
		dual.table[i] = (u64)&dual.table[64 + 8 * (i % 8)];
	/* Some of the files are queues. */
	for (i = 0; i < 8; i += 2) {
		dual.table[64 + 8 * i + 1] = QUEUE_OPERATIONS;
		dual.table[64 + 8 * i + 2] = (u64)&dual.queues[i / 2 % QUEUES];
		dual.table[64 + 8 * i + 3] = PILLION_DUAL_FILE_READ | PILLION_DUAL_FILE_WRITE;
	}
	return true;
}

int fault_dual(void)
{
	struct pillion_dual *before = vmalloc(sizeof(*before));
	unsigned int i, count, answered = 0, lost = 0;

	if (!before || !prepare()) {
		note("dual cannot begin");
		vfree(before);
		return -ENODEV;
	}
	memcpy(before, dual.head, sizeof(*before));
	dual.head->descriptors.direct_map = PAGE_OFFSET;
	dual.head->descriptors.fdtable_count = 0;
	dual.head->descriptors.fdtable_files = 8;
	dual.head->descriptors.file_operations = 8;
	dual.head->descriptors.file_data = 16;
	dual.head->descriptors.file_mode = 24;
	dual.head->descriptors.queues = (u64)dual.queues;
	dual.head->descriptors.fifos = (u64)dual.queues;
	dual.head->descriptors.queue_operations = QUEUE_OPERATIONS;
	for (count = 0; count < OFFERS; count++) {
		unsigned int number = below(SLOTS);
		u32 state = READ_ONCE(dual.slots[number].state);

		change_head();
		if (state == PILLION_DUAL_STATE_PRIMARY || state == PILLION_DUAL_STATE_OFFERED)
			recall(number);
		else
			offer(number);
		take();
		answered += READ_ONCE(dual.slots[number].state) == PILLION_DUAL_STATE_RETURNED;
		if (count % 256 == 0)
			usleep_range(200, 300);
	}
	for (i = 0; i < SLOTS; i++) {
		for (count = 0; count < 1000 && READ_ONCE(dual.slots[i].state) == PILLION_DUAL_STATE_PRIMARY; count++) {
			recall(i);
			usleep_range(200, 300);
		}
		lost += READ_ONCE(dual.slots[i].state) == PILLION_DUAL_STATE_PRIMARY;
	}
	memcpy(dual.head, before, sizeof(*before));
	/* Linux itself loads what its threads get back. */
	for (i = 0; i < SLOTS; i++) {
		memset(dual.slots[i].vectors, 0, sizeof(dual.slots[i].vectors));
		WRITE_ONCE(dual.slots[i].state, PILLION_DUAL_STATE_LINUX);
	}
	vfree(before);
	hypercall(PILLION_DUAL_URGENCY, 0);
	hypercall(PILLION_DUAL_SIGNAL, PILLION_DUAL_MAIN);
	note("dual done, %u came back at once, %u never", answered, lost);
	return lost ? -EIO : 0;
}
