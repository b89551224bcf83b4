#include <asm/rt_time.h>
