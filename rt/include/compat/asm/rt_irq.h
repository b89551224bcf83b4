#include <asm/rt_irq.h>
