#include "parameter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 128, MOST_KEY = 40 };

struct parameters {
	size_t count;
	struct {
		char key[MOST_KEY];
		double value;
	} values[MOST_VALUES];
};

static const char *const cache_names[MOST_LEVELS] = {"l1i", "l1d", "l2", "l3"};
static const char *const cache_keys[] = {"size", "ways", "hit", "write_back", "inclusive"};
static const char *const tlb_names[] = {"code", "data", "second"};
static const char *const tlb_keys[] = {"entries", "ways", "large_entries", "large_ways", "hit"};
static const char *const plain_keys[] = {"mhz",		    "line",		  "instruction",  "memory",
					 "memory_write_back", "uncached",	  "walk.levels",  "walk.entry",
					 "walk.cycles",	    "walk.remembered",	  "walk.nested_levels", "walk.nested_remembered"};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct parameters *parameters_new(void)
{
	return calloc(1, sizeof(struct parameters));
}

void parameters_free(struct parameters *parameters)
{
	free(parameters);
}

static bool in_list(const char *key, const char *const *list, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (list[i] && strcmp(key, list[i]) == 0)
			return true;
	return false;
}

/* Matches TABLE.NAME.KEY, with name and key each from a list. */
static bool in_tables(const char *key, const char *table, const char *const *names, size_t name_count,
		      const char *const *keys, size_t key_count)
{
	size_t length = strlen(table);
	char name[MOST_KEY];
	const char *dot;

	if (strncmp(key, table, length) != 0 || key[length] != '.')
		return false;
	key += length + 1;
	dot = strchr(key, '.');
	if (!dot)
		return false;
	snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
	return in_list(name, names, name_count) && in_list(dot + 1, keys, key_count);
}

static bool is_key(const char *key)
{
	static const char *const event_keys[] = {"cycles", "lines"};

	return in_list(key, plain_keys, LENGTH(plain_keys)) || strcmp(key, "tags") == 0 ||
	       in_tables(key, "cache", cache_names, LENGTH(cache_names), cache_keys, LENGTH(cache_keys)) ||
	       in_tables(key, "tlb", tlb_names, LENGTH(tlb_names), tlb_keys, LENGTH(tlb_keys)) ||
	       in_tables(key, "event", event_names, EVENTS, event_keys, LENGTH(event_keys));
}

static bool word(const char *text, double *value)
{
	static const char *const words[] = {"none", "guest", "space", "off", "on", "false", "true"};
	static const double values[] = {TAGS_NONE, TAGS_GUEST, TAGS_SPACE, 0, 1, 0, 1};

	for (size_t i = 0; i < LENGTH(words); i++)
		if (strcmp(text, words[i]) == 0) {
			*value = values[i];
			return true;
		}
	return false;
}

static bool number(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return *text && !*end && isfinite(*value) && *value >= 0;
}

bool parameters_take(struct parameters *parameters, const char *argument)
{
	const char *equals = strchr(argument, '=');
	size_t length = equals ? (size_t)(equals - argument) : 0;
	double value;

	if (!length || length >= MOST_KEY || parameters->count == MOST_VALUES)
		return false;
	if (!word(equals + 1, &value) && !number(equals + 1, &value))
		return false;
	memcpy(parameters->values[parameters->count].key, argument, length);
	parameters->values[parameters->count].key[length] = 0;
	parameters->values[parameters->count].value = value;
	return is_key(parameters->values[parameters->count++].key);
}

/* The last value of PREFIX.NAME.KEY, or of KEY alone; 0 if none was given. */
static double get(const struct parameters *parameters, const char *table, const char *name, const char *key)
{
	char full[MOST_KEY];

	if (table)
		snprintf(full, sizeof full, "%s.%s.%s", table, name, key);
	else
		snprintf(full, sizeof full, "%s", key);
	for (size_t i = parameters->count; i-- > 0;)
		if (strcmp(parameters->values[i].key, full) == 0)
			return parameters->values[i].value;
	return 0;
}

static cost cycles(const struct parameters *parameters, const char *table, const char *name, const char *key)
{
	return (cost)llround(get(parameters, table, name, key) * (double)CYCLE);
}

static uint64_t whole(const struct parameters *parameters, const char *table, const char *name, const char *key)
{
	return (uint64_t)get(parameters, table, name, key);
}

static bool make_cache(const struct parameters *parameters, struct machine *machine, enum level level)
{
	struct cache *cache = &machine->caches[level];
	const char *name = cache_names[level];
	uint64_t size = whole(parameters, "cache", name, "size");

	if (!size && level == L3)
		return true;
	cache->hit = cycles(parameters, "cache", name, "hit");
	cache->write_back = cycles(parameters, "cache", name, "write_back");
	cache->inclusive = get(parameters, "cache", name, "inclusive") != 0;
	return cache_make(cache, size, whole(parameters, "cache", name, "ways"),
			  whole(parameters, NULL, NULL, "line"));
}

static void connect(const struct parameters *parameters, struct machine *machine)
{
	struct cache *caches = machine->caches, *last = caches[L3].lines ? &caches[L3] : &caches[L2];

	caches[L1_CODE].next = caches[L1_DATA].next = &caches[L2];
	caches[L2].inner[0] = &caches[L1_CODE];
	caches[L2].inner[1] = &caches[L1_DATA];
	if (last == &caches[L3]) {
		caches[L2].next = last;
		last->inner[0] = &caches[L2];
	}
	last->memory = cycles(parameters, NULL, NULL, "memory");
	last->write_back = cycles(parameters, NULL, NULL, "memory_write_back");
}

static bool make_tlb(const struct parameters *parameters, struct tlb_pair *pair, const char *name, bool needed)
{
	uint64_t entries = whole(parameters, "tlb", name, "entries");
	uint64_t large = whole(parameters, "tlb", name, "large_entries");

	pair->hit = cycles(parameters, "tlb", name, "hit");
	if (!entries)
		return !needed && !large;
	return tlb_make(&pair->small, entries, whole(parameters, "tlb", name, "ways")) &&
	       (!large || tlb_make(&pair->large, large, whole(parameters, "tlb", name, "large_ways")));
}

static bool make_walk(const struct parameters *parameters, struct walk *walk)
{
	uint64_t upper = whole(parameters, NULL, NULL, "walk.remembered");
	uint64_t nested = whole(parameters, NULL, NULL, "walk.nested_remembered");

	walk->levels = whole(parameters, NULL, NULL, "walk.levels");
	walk->entry = whole(parameters, NULL, NULL, "walk.entry");
	walk->cycles = cycles(parameters, NULL, NULL, "walk.cycles");
	walk->nested_levels = whole(parameters, NULL, NULL, "walk.nested_levels");
	if (walk->levels < 2 || walk->levels > 5 || (walk->entry != 4 && walk->entry != 8) || walk->nested_levels > 4)
		return false;
	return (!upper || tlb_make(&walk->upper, upper, upper)) && (!nested || tlb_make(&walk->nested, nested, nested));
}

const char *parameters_make(const struct parameters *parameters, struct machine *machine)
{
	*machine = (struct machine){0};
	machine->hertz = (uint64_t)llround(get(parameters, NULL, NULL, "mhz") * 1e6);
	machine->instruction = cycles(parameters, NULL, NULL, "instruction");
	machine->uncached = cycles(parameters, NULL, NULL, "uncached");
	machine->tags = (enum tags)whole(parameters, NULL, NULL, "tags");
	if (!machine->hertz || !machine->instruction)
		return "mhz or instruction is missing";
	for (enum level level = L1_CODE; level <= L3; level++)
		if (!make_cache(parameters, machine, level))
			return "a cache's size, ways and line do not fit";
	connect(parameters, machine);
	if (!make_tlb(parameters, &machine->code, "code", true) ||
	    !make_tlb(parameters, &machine->data, "data", true) ||
	    !make_tlb(parameters, &machine->second, "second", false))
		return "a TLB's entries and ways do not fit";
	if (!make_walk(parameters, &machine->walk))
		return "levels, entry or what is remembered of a walk do not fit";
	for (enum event event = 0; event < EVENTS; event++)
		if (event_names[event]) {
			machine->events[event].cycles = cycles(parameters, "event", event_names[event], "cycles");
			machine->events[event].lines = whole(parameters, "event", event_names[event], "lines");
		}
	return NULL;
}

static void free_pair(struct tlb_pair *pair)
{
	tlb_free(&pair->small);
	tlb_free(&pair->large);
}

void machine_free(struct machine *machine)
{
	for (enum level level = L1_CODE; level <= L3; level++)
		cache_free(&machine->caches[level]);
	free_pair(&machine->code);
	free_pair(&machine->data);
	free_pair(&machine->second);
	tlb_free(&machine->walk.upper);
	tlb_free(&machine->walk.nested);
}
