/* Costs charged by the model, in hundredths of a cycle: an instruction may cost less than one. */
#ifndef MODEL_COST_H
#define MODEL_COST_H

#include <stdint.h>

typedef uint64_t cost;

#define CYCLE ((cost)100)

#endif
