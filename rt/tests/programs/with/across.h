/* What across.c and its partner exchange. */
#define TURNS 100
#define MESSAGES 64
#define BYTES 300
