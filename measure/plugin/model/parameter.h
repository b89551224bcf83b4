/*
 * The machine's parameters: `key=value`, as measure/machines/NAME.toml has them, with dots between
 * a table's name and its key.
 */
#ifndef MODEL_PARAMETER_H
#define MODEL_PARAMETER_H

#include "machine.h"

struct parameters;

/* What was said so far; NULL when there is no memory. */
struct parameters *parameters_new(void);
void parameters_free(struct parameters *parameters);

/* Takes one; false when there is no such key or the value is none. */
bool parameters_take(struct parameters *parameters, const char *argument);

/* Builds the machine; says what is wrong, or NULL. */
const char *parameters_make(const struct parameters *parameters, struct machine *machine);

void machine_free(struct machine *machine);

#endif
