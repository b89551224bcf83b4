/*
 * Instructions that do nothing and that the model of caches (measure/plugin) knows.
 */
#ifndef MEASURE_MARK_H
#define MEASURE_MARK_H

/* nop dword ptr [rax + name], a name of four letters. The compiler moves no access to memory across it. */
#define MARK(name) __asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.ascii \"" name "\"" : : : "memory")

/* The model knows what happens between these two only: it is slow. The first rounds after the beginning are no samples. */
static inline void measure_begin(void)
{
	MARK("Begn");
}

static inline void measure_done(void)
{
	MARK("Done");
}

/* The first instruction of the response to an interrupt. */
#define MARK_RESPONSE() MARK("Resp")

/* A piece of work begins, ends. */
#define MARK_BEGIN() MARK("From")
#define MARK_END() MARK("Upto")

#endif
