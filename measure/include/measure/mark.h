/* No-op instructions that the model of caches (measure/plugin) recognises. */
#ifndef MEASURE_MARK_H
#define MEASURE_MARK_H

/* nop dword ptr [rax + name], of four letters. The compiler moves no memory access across it. */
#define MARK(name) __asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.ascii \"" name "\"" : : : "memory")

/*
 * The model, which is slow, only covers what happens between these two. The first rounds after the
 * beginning are not samples.
 */
static inline void measure_begin(void)
{
	MARK("Begn");
}

static inline void measure_done(void)
{
	MARK("Done");
}

/* Marks the first instruction of the response to the last interrupt. */
#define MARK_RESPONSE() MARK("Resp")

/*
 * Marks the first instruction of a thread that slept, and how late it was; from that the model
 * finds the interrupt that woke it.
 */
#define MARK_WOKE() MARK("Woke")

static inline void measure_late(unsigned long long nanoseconds)
{
	int bit;

	for (bit = nanoseconds ? 63 - __builtin_clzll(nanoseconds) : -1; bit >= 0; bit--) {
		if (nanoseconds >> bit & 1)
			MARK("Bit1");
		else
			MARK("Bit0");
	}
	MARK("Late");
}

/* Marks the start and the end of a piece of work. */
#define MARK_BEGIN() MARK("From")
#define MARK_END() MARK("Upto")

#endif
