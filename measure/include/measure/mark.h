/*
 * Instructions that do nothing and that the model of caches (measure/plugin) knows.
 */
#ifndef MEASURE_MARK_H
#define MEASURE_MARK_H

/*
 * nop dword ptr [rax + name], a name of four letters. The compiler moves no access to memory across
 * it.
 */
#define MARK(name) __asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.ascii \"" name "\"" : : : "memory")

/*
 * The model knows what happens between these two only: it is slow. The first rounds after the
 * beginning are no samples.
 */
static inline void measure_begin(void)
{
	MARK("Begn");
}

static inline void measure_done(void)
{
	MARK("Done");
}

/* The first instruction of the response to an interrupt: the last one. */
#define MARK_RESPONSE() MARK("Resp")

/*
 * The first instruction of a thread that slept; and how late it was, by which the model finds the
 * interrupt that woke it.
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

/* A piece of work begins, ends. */
#define MARK_BEGIN() MARK("From")
#define MARK_END() MARK("Upto")

#endif
