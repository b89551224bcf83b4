/* The machine's parameters, `key=value` as in measure/machines/NAME.toml, dots for tables. */
#ifndef MODEL_PARAMETER_H
#define MODEL_PARAMETER_H

#include "modelled_machine.h"

struct parameters;

/* An empty set of parameters; NULL if there is no memory. */
struct parameters *parameters_new(void);
void parameters_free(struct parameters *parameters);

/* Takes a parameter; returns false if there is no such key or the value is invalid. */
bool parameters_take(struct parameters *parameters, const char *argument);

/* Builds the machine; returns what is wrong, or NULL. */
const char *parameters_make(const struct parameters *parameters, struct machine *machine);

void machine_free(struct machine *machine);

#endif
