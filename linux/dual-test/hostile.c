// SPDX-License-Identifier: GPL-2.0-only
/*
 * What primary mode does not offer, or what cannot be done: instructions, addresses, system calls.
 * It has the same result as in an ordinary process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "attempt.h"
#include "test.h"

#define PAGE 4096
/* Somebody who has no other processes. */
#define NOBODY 54321

/*
 * LJMP to a segment. IRET and far RET are not tried: the emulator pops with the kernel's rights.
 * Nor are LSL, LAR, VERR and VERW: primary mode has no descriptor tables, so they find nothing.
 */
#define FAR_JUMP(target, segment) "ljmpl *9f(%rip)\n 9: .long " target "\n .word " #segment "\n"

#define SNIPPETS(X) \
	X(syscall_number, "mov $-1, %rax\n syscall") \
	X(syscall_high_half, "mov $0x100000018, %rax\n syscall") \
	X(syscall_x32, "mov $0x40000018, %eax\n syscall") \
	X(syscall_high_half_sleep, "mov $0x1000000e6, %rax\n mov $99, %edi\n xor %esi, %esi\n mov %rsp, %rdx\n xor %r10d, %r10d\n syscall") \
	X(syscall_x32_sleep, "mov $0x400000e6, %eax\n mov $99, %edi\n xor %esi, %esi\n mov %rsp, %rdx\n xor %r10d, %r10d\n syscall") \
	X(syscall_prefixed, "mov $24, %eax\n .byte 0x66, 0x48, 0x0f, 0x05") \
	X(syscall_repeated, "mov $24, %eax\n .byte 0xf3, 0x0f, 0x05") \
	X(syscall_locked, "mov $24, %eax\n .byte 0xf0, 0x0f, 0x05") \
	X(int80, "mov $24, %eax\n int $0x80") \
	X(int80_unknown, "mov $-1, %eax\n int $0x80") \
	X(sysenter, "mov $24, %eax\n sysenter") \
	X(sysexit, "sysexitl") \
	X(sysret, "xor %ecx, %ecx\n sysretq") \
	X(vsyscall, "mov $0xffffffffff600800, %rax\n xor %edi, %edi\n xor %esi, %esi\n call *%rax") \
	X(vsyscall_read, "mov 0xffffffffff600000, %al") \
	X(vsyscall_behind, "mov $0xffffffffff600010, %rax\n call *%rax") \
	X(int3, "int3") \
	X(int_3, ".byte 0xcd, 3") \
	X(icebp, ".byte 0xf1") \
	X(into, ".byte 0xce") \
	X(ud0, ".byte 0x0f, 0xff, 0xc0") \
	X(ud1, ".byte 0x0f, 0xb9, 0xc0") \
	X(ud2, "ud2") \
	X(too_long, ".byte 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90") \
	X(hlt, "hlt") \
	X(cli, "cli") \
	X(sti, "sti") \
	X(clts, "clts") \
	X(in, "mov $0x60, %dx\n in %dx, %al") \
	X(out, "mov $0x80, %dx\n mov $0, %al\n out %al, %dx") \
	X(ins, "mov $0x60, %dx\n mov %rsp, %rdi\n insb") \
	X(outs, "mov $0x80, %dx\n mov %rsp, %rsi\n outsb") \
	X(rdpmc, "xor %ecx, %ecx\n rdpmc") \
	X(rdmsr, "mov $0xc0000080, %ecx\n rdmsr") \
	X(wrmsr, "mov $0xc0000082, %ecx\n xor %eax, %eax\n xor %edx, %edx\n wrmsr") \
	X(rdtscp, "rdtscp\n xor %eax, %eax\n xor %edx, %edx") \
	X(cpuid_0, "xor %eax, %eax\n xor %ecx, %ecx\n cpuid") \
	X(cpuid_1, "mov $1, %eax\n xor %ecx, %ecx\n cpuid") \
	X(cpuid_7, "mov $7, %eax\n xor %ecx, %ecx\n cpuid") \
	X(cpuid_13, "mov $13, %eax\n xor %ecx, %ecx\n cpuid") \
	X(cpuid_hypervisor, "mov $0x40000000, %eax\n xor %ecx, %ecx\n cpuid") \
	X(cpuid_last, "mov $-1, %eax\n xor %ecx, %ecx\n cpuid") \
	X(xgetbv, "xor %ecx, %ecx\n xgetbv") \
	X(xgetbv_9, "mov $9, %ecx\n xgetbv") \
	X(xsetbv, "xor %ecx, %ecx\n mov $1, %eax\n xor %edx, %edx\n xsetbv") \
	X(xrstor_bad, "sub $1024, %rsp\n and $-64, %rsp\n movq $-1, 512(%rsp)\n movq $-1, 520(%rsp)\n mov $-1, %eax\n" \
		      "mov $-1, %edx\n xrstor (%rsp)") \
	X(ldmxcsr_bad, "push $-1\n ldmxcsr (%rsp)") \
	X(read_cr0, "mov %cr0, %rax") \
	X(read_cr3, "mov %cr3, %rax") \
	X(write_cr3, "xor %eax, %eax\n mov %rax, %cr3") \
	X(write_cr4, "xor %eax, %eax\n mov %rax, %cr4") \
	X(write_cr8, "xor %eax, %eax\n mov %rax, %cr8") \
	X(read_dr7, "mov %dr7, %rax") \
	X(write_dr0, "xor %eax, %eax\n mov %rax, %dr0") \
	X(invlpg, "invlpg (%rsp)") \
	X(wbinvd, "wbinvd") \
	X(invd, "invd") \
	X(swapgs, "swapgs") \
	X(rsm, "rsm") \
	X(monitor, "mov %rsp, %rax\n xor %ecx, %ecx\n xor %edx, %edx\n monitor") \
	X(mwait, "xor %eax, %eax\n xor %ecx, %ecx\n mwait") \
	X(vmmcall, "mov $0x50490100, %eax\n xor %ebx, %ebx\n vmmcall") \
	X(vmmcall_psc, "mov $0x50490010, %eax\n vmmcall") \
	X(vmcall, "xor %eax, %eax\n vmcall") \
	X(vmrun, "mov %rsp, %rax\n vmrun %rax") \
	X(vmload, "mov %rsp, %rax\n vmload %rax") \
	X(stgi, "stgi") \
	X(clgi, "clgi") \
	X(skinit, "xor %eax, %eax\n skinit %eax") \
	X(invlpga, "xor %eax, %eax\n xor %ecx, %ecx\n invlpga %rax, %ecx") \
	X(vmxoff, "vmxoff") \
	X(sgdt, "sub $16, %rsp\n movq $0, 8(%rsp)\n sgdt (%rsp)\n movzwl (%rsp), %eax\n add $16, %rsp") \
	X(sidt, "sub $16, %rsp\n movq $0, 8(%rsp)\n sidt (%rsp)\n movzwl (%rsp), %eax\n add $16, %rsp") \
	X(sldt, "sldt %rax") \
	X(str, "str %rax") \
	X(smsw, "smsw %rax") \
	X(lgdt, "lgdt (%rsp)") \
	X(lidt, "lidt (%rsp)") \
	X(lldt, "xor %eax, %eax\n lldt %ax") \
	X(ltr, "xor %eax, %eax\n ltr %ax") \
	X(lmsw, "xor %eax, %eax\n lmsw %ax") \
	X(mov_ds, "mov $0x2b, %eax\n mov %eax, %ds\n xor %eax, %eax\n mov %ds, %eax") \
	X(mov_es_then_call, "mov $0x2b, %eax\n mov %eax, %es\n mov $24, %eax\n syscall\n xor %eax, %eax\n mov %es, %eax") \
	X(mov_ds_bad, "mov $0x1234, %eax\n mov %eax, %ds") \
	X(mov_ds_system, "mov $0x10, %eax\n mov %eax, %ds") \
	X(mov_ss, "mov $0x2b, %eax\n mov %eax, %ss\n xor %eax, %eax\n mov %ss, %eax") \
	X(mov_ss_null, "mov $3, %eax\n mov %eax, %ss\n xor %eax, %eax\n mov %ss, %eax") \
	X(mov_ss_bad, "mov $0x33, %eax\n mov %eax, %ss") \
	X(mov_gs, "mov $0x2b, %eax\n mov %eax, %gs\n xor %eax, %eax\n mov %gs, %eax\n mov %eax, %ebx\n xor %eax, %eax\n mov %eax, %gs\n") \
	X(mov_fs, "mov $0x2b, %eax\n mov %eax, %fs\n mov %fs:0, %rax") \
	X(mov_fs_null, "xor %eax, %eax\n mov %eax, %fs\n mov %fs:0, %rax") \
	X(mov_from_ds, "xor %eax, %eax\n mov %ds, %eax\n mov %es, %ecx\n mov %fs, %ebx\n mov %gs, %edx") \
	X(mov_from_cs, "xor %eax, %eax\n mov %cs, %eax\n mov %ss, %ecx") \
	X(wrfsbase_bad, "mov $0x8000000000000000, %rax\n wrfsbase %rax") \
	X(wrgsbase_kernel, "mov $0xffffffff81000000, %rax\n wrgsbase %rax\n mov %gs:0, %rax") \
	X(far_jump_32, FAR_JUMP("8f", 0x23) "8: .code32\n mov $24, %eax\n int $0x80\n ud2\n .code64") \
	X(far_jump_32_fault, FAR_JUMP("8f", 0x23) "8: .code32\n mov 0x1234, %eax\n .code64") \
	X(far_jump_32_syscall, FAR_JUMP("8f", 0x23) "8: .code32\n mov $24, %eax\n syscall\n ud2\n .code64") \
	X(far_jump_32_back, FAR_JUMP("8f", 0x23) "8: .code32\n ljmp $0x33, $on_64_bits\n .code64\n" \
			    "on_64_bits: mov $24, %eax\n syscall\n xor %eax, %eax\n mov %cs, %eax") \
	X(far_jump_kernel, FAR_JUMP("8f", 0x10) "8:") \
	X(far_jump_bad, FAR_JUMP("8f", 0x1237) "8:") \
	X(trap_flag, "pushfq\n orl $0x100, (%rsp)\n popfq\n nop\n nop") \
	X(trap_flag_syscall, "mov $24, %eax\n pushfq\n orl $0x100, (%rsp)\n popfq\n syscall\n nop") \
	X(trap_flag_clock, "lea -64(%rsp), %rsi\n mov $1, %edi\n mov $228, %eax\n pushfq\n orl $0x100, (%rsp)\n popfq\n syscall\n nop") \
	X(alignment, "pushfq\n orl $0x40000, (%rsp)\n popfq\n mov 1(%rsp), %eax") \
	X(alignment_across_call, "mov $24, %eax\n pushfq\n orl $0x40000, (%rsp)\n popfq\n syscall\n mov 1(%rsp), %ebx") \
	X(flags_iopl, "pushfq\n orl $0x3000, (%rsp)\n popfq\n pushfq\n pop %rax\n and $0x3200, %eax") \
	X(flags_interrupt, "pushfq\n andl $~0x200, (%rsp)\n popfq\n pushfq\n pop %rax\n and $0x3200, %eax") \
	X(flags_nested, "pushfq\n orl $0x4000, (%rsp)\n popfq\n mov $24, %eax\n syscall\n pushfq\n pop %rbx\n and $0x4000, %ebx\n" \
			"pushfq\n andl $~0x4000, (%rsp)\n popfq") \
	X(divide_by_zero, "xor %ecx, %ecx\n mov $1, %eax\n cltd\n idiv %ecx") \
	X(divide_overflow, "mov $-1, %ecx\n mov $0x80000000, %eax\n mov $-1, %edx\n idiv %ecx") \
	X(x87_exception, "push $0x0340\n fldcw (%rsp)\n fld1\n fldz\n fdivrp\n fwait") \
	X(sse_exception, "push $0\n ldmxcsr (%rsp)\n xorps %xmm0, %xmm0\n divss %xmm0, %xmm0") \
	X(jump_nowhere, "mov $0x8000000000000000, %rax\n jmp *%rax") \
	X(jump_kernel, "mov $0xffffffff81000000, %rax\n jmp *%rax") \
	X(jump_null, "xor %eax, %eax\n jmp *%rax") \
	X(jump_stack, "lea -64(%rsp), %rax\n xor %eax, %eax\n jmp *%rsp") \
	X(call_nowhere, "mov $0x7ffffffffff0, %rax\n call *%rax") \
	X(push_nowhere, "mov $0x8000000000000000, %rsp\n push %rax") \
	X(push_null, "xor %esp, %esp\n push %rax") \
	X(push_kernel, "mov $0xffff888000001000, %rsp\n push %rax") \
	X(call_without_stack, "mov $0x8000000000000000, %rsp\n mov $24, %eax\n syscall\n ud2") \
	X(clock_without_stack, "lea -64(%rsp), %rsi\n mov $0x8000000000000000, %rsp\n mov $1, %edi\n mov $228, %eax\n syscall\n ud2") \
	X(read_nowhere, "mov $0x8000000000000000, %rax\n mov (%rax), %eax") \
	X(read_stack_nowhere, "mov $0x8000000000000000, %rbp\n mov (%rbp), %eax") \
	X(write_nowhere, "mov $0x8000000000000000, %rax\n mov %eax, (%rax)") \
	X(read_end, "mov $0x7fffffffffff, %rax\n mov (%rax), %eax") \
	X(read_kernel, "mov 0xffffffff81000000, %eax") \
	X(write_kernel, "mov %eax, 0xffffffff81000000") \
	X(read_kernel_map, "mov $0xffff888000001000, %rax\n mov (%rax), %eax") \
	X(read_module, "mov 0xffffffffc0000000, %eax") \
	X(write_code, "mov %eax, write_code_(%rip)") \
	X(prefetch_nowhere, "mov $0x8000000000000000, %rax\n prefetcht0 (%rax)\n xor %eax, %eax") \
	X(clflush_kernel, "mov $0xffffffff81000000, %rax\n clflush (%rax)")

#define DEFINE(name, code) \
	asm(".pushsection .text\n" #name "_:\n" code "\n ret\n .popsection\n"); \
	void name##_(void);
#define ROW(name, code) { #name, name##_ },

SNIPPETS(DEFINE)

static const struct {
	const char *name;
	void (*code)(void);
} snippets[] = { SNIPPETS(ROW) };

/* Calls the attempt's code, with no use of the stack below. */
static void call_code(const struct attempt *attempt, struct outcome *outcome)
{
	uint64_t *results = outcome->results;

	asm volatile("sub $4096, %%rsp\n call *%4\n add $4096, %%rsp"
		     : "=a" (results[0]), "=b" (results[1]), "=c" (results[2]), "=d" (results[3])
		     : "r" (attempt->code), "0" (0), "1" (0), "2" (0), "3" (0)
		     : "rsi", "rdi", "r8", "r9", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0");
}

/* Memory that the processor executes and writes, at a fixed place. */
static uint8_t *area(size_t pages)
{
	uint8_t *at = mmap((void *)0x600000000000, pages * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0);

	check(at != MAP_FAILED, "mmap: %s", strerror(errno));
	return at;
}

/* Each software interrupt. */
static void interrupts(void)
{
	struct attempt each = { .run = call_code };
	uint8_t *code = area(1);
	char name[32];
	int vector;

	each.code = code;
	for (vector = 0; vector < 256; vector++) {
		memcpy(code, "\xb8\x18\x00\x00\x00\xcd\x00\xc3", 8);
		code[6] = vector;
		snprintf(name, sizeof(name), "INT %#x", vector);
		attempt(&each, name);
	}
	munmap(code, PAGE);
}

/* SYSCALL at the end of a page, with and without another one behind it. */
static void at_edges(void)
{
	struct attempt each = { .run = call_code };
	uint8_t *code = area(2);
	char name[64];
	int is_mapped, before;

	for (is_mapped = 1; is_mapped >= 0; is_mapped--) {
		for (before = 1; before <= 3; before++) {
			memset(code, 0x90, PAGE);
			memcpy(code + PAGE - before - 5, "\xb8\x18\x00\x00\x00\x0f\x05\xc3", is_mapped ? 8 : 5 + before);
			each.code = code + PAGE - before - 5;
			snprintf(name, sizeof(name), "SYSCALL %d bytes before the end of a page, %d", before, is_mapped);
			attempt(&each, name);
		}
		munmap(code + PAGE, PAGE);
	}
	munmap(code, PAGE);
}

/* Random instructions but IRET and far RET, with registers that are all known. */
static void call_random(const struct attempt *attempt, struct outcome *outcome)
{
	(void)outcome;
	asm volatile("mov %0, %%rsp\n push %1\n xor %%eax, %%eax\n xor %%ebx, %%ebx\n xor %%ecx, %%ecx\n xor %%edx, %%edx\n"
		     "xor %%esi, %%esi\n xor %%edi, %%edi\n xor %%ebp, %%ebp\n xor %%r8d, %%r8d\n xor %%r9d, %%r9d\n"
		     "xor %%r10d, %%r10d\n xor %%r11d, %%r11d\n xor %%r12d, %%r12d\n xor %%r13d, %%r13d\n xor %%r14d, %%r14d\n"
		     "xor %%r15d, %%r15d\n cmp %%eax, %%eax\n cld\n fninit\n ret"
		     : : "r" ((uintptr_t)attempt->code + 2 * PAGE - 256), "r" (attempt->code) : "memory");
	__builtin_unreachable();
}

static void random_code(void)
{
	struct attempt each = { .run = call_random };
	uint8_t *code = area(2);
	char name[64];
	int i, j;

	each.code = code;
	for (i = 0; i < 300; i++) {
		memset(code, 0xcc, PAGE);
		for (j = 0; j < 15; j++)
			do
				code[j] = random();
			while (code[j] == 0xca || code[j] == 0xcb || code[j] == 0xcf);
		/* What is not the same twice: RDTSC, RDRAND, RDSEED. */
		for (j = 0; j < 14; j++)
			if (code[j] == 0x0f && (code[j + 1] == 0x31 || code[j + 1] == 0xc7))
				code[j + 1] = 0x0b;
		snprintf(name, sizeof(name), "%02x %02x %02x %02x %02x %02x %02x %02x..", code[0], code[1], code[2], code[3],
			 code[4], code[5], code[6], code[7]);
		attempt(&each, name);
	}
	munmap(code, 2 * PAGE);
}

void hostile_instructions(void)
{
	struct attempt each = { .run = call_code };
	unsigned int i;

	for (i = 0; i < COUNT(snippets); i++) {
		each.code = (const void *)snippets[i].code;
		attempt(&each, snippets[i].name);
	}
	interrupts();
	at_edges();
	random_code();
}

/* Drops all rights but that to be in primary mode, and what would make the attempt harmful. */
static void confine(void)
{
	static const struct {
		int resource;
		rlim_t limit;
	} limits[] = {
		{ RLIMIT_NPROC, 0 }, { RLIMIT_FSIZE, 0 }, { RLIMIT_NOFILE, 16 }, { RLIMIT_AS, 256 << 20 }, { RLIMIT_CORE, 0 },
		{ RLIMIT_RTPRIO, PRIORITY }, { RLIMIT_MEMLOCK, 256 << 20 },
	};
	struct rlimit limit;
	unsigned int i;

	signal(SIGXFSZ, SIG_IGN);
	for (i = 0; i < COUNT(limits); i++) {
		limit.rlim_cur = limit.rlim_max = limits[i].limit;
		check(!setrlimit(limits[i].resource, &limit), "setrlimit");
	}
	check(!setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY), "setresuid");
	for (i = 0; i < 16; i++)
		if ((int)i != device)
			close(i);
}

/* A system call: whether it succeeded, or its error. */
static void call_linux(const struct attempt *attempt, struct outcome *outcome)
{
	const uint64_t *a = attempt->arguments;
	long result = call(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);

	outcome->results[0] = result < 0 && result > -4096 ? result : 0;
}

/* How often each call is tried, and those that primary mode answers or is entered in. */
#define DRAWS 1
#define DRAWS_ANSWERED 12

/* Calls that wait for disks, which takes as long as it takes. */
static const unsigned int left_out[] = { SYS_sync, SYS_syncfs };
static const unsigned int answered[] = {
	SYS_clock_nanosleep, SYS_nanosleep, SYS_clock_gettime, SYS_gettimeofday, SYS_time, SYS_gettid, SYS_getpid, SYS_getcpu,
	SYS_sched_yield, SYS_futex, SYS_read, SYS_write, SYS_timerfd_settime, SYS_timerfd_gettime, SYS_rt_sigtimedwait,
	SYS_timer_settime, SYS_timer_gettime, SYS_timer_getoverrun, SYS_mq_timedsend, SYS_mq_timedreceive,
};

static bool is_among(unsigned int number, const unsigned int *numbers, unsigned int count)
{
	while (count--)
		if (number == *numbers++)
			return true;
	return false;
}

/* A system call with arguments drawn from these values. */
static void try_call(unsigned int number, const uint64_t *values, unsigned int count)
{
	struct attempt each = { .run = call_linux, .confine = confine };
	const uint64_t *a = each.arguments;
	char name[128];
	unsigned int i;

	each.arguments[0] = number;
	for (i = 1; i <= 6; i++)
		each.arguments[i] = values[random() % count];
	snprintf(name, sizeof(name), "call %u(%#lx, %#lx, %#lx, %#lx, %#lx, %#lx)", number, (long)a[1], (long)a[2], (long)a[3],
		 (long)a[4], (long)a[5], (long)a[6]);
	attempt(&each, name);
}

/* Each system call with random arguments, by a process without rights. */
void hostile_calls(void)
{
	uint8_t *memory = area(2);
	uint64_t values[] = { 0, 1, 2, -1, 0x1000, 0xffffffff81000000, 1ull << 63, (uintptr_t)memory, (uintptr_t)memory + 64,
			      (uintptr_t)memory + PAGE - 4, 0, 0 };
	unsigned int number, i;

	munmap(memory + PAGE, PAGE);
	/* Queues and shared memory end with this process. */
	(void)!unshare(CLONE_NEWIPC);
	for (number = 0; number <= 600; number++) {
		if (is_among(number, left_out, COUNT(left_out)))
			continue;
		i = is_among(number, answered, COUNT(answered)) ? DRAWS_ANSWERED : DRAWS;
		while (i--) {
			values[10] = random();
			values[11] = random() % 64;
			try_call(number, values, COUNT(values));
		}
	}
}
