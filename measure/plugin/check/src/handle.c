/* The model as Rust's tests see it: a machine and its spans behind one pointer. */
#include "parameter.h"
#include "span.h"

#include <stdlib.h>
#include <string.h>

struct handle {
	struct machine machine;
	struct spans spans;
};

/* Parameters are separated by commas; returns NULL if one is wrong or they do not fit together. */
struct handle *model_new(const char *arguments)
{
	struct handle *handle = calloc(1, sizeof *handle);
	struct parameters *parameters = parameters_new();
	char *copy = strdup(arguments), *rest = copy, *argument;
	bool good = true;

	while ((argument = strtok_r(rest, ",", &rest)) != NULL)
		good = good && parameters_take(parameters, argument);
	good = good && parameters_make(parameters, &handle->machine) == NULL;
	free(copy);
	parameters_free(parameters);
	if (good) {
		spans_init(&handle->spans, 0);
		return handle;
	}
	machine_free(&handle->machine);
	free(handle);
	return NULL;
}

void model_free(struct handle *handle)
{
	machine_free(&handle->machine);
	free(handle);
}

uint64_t model_data(struct handle *handle, uint64_t address, uint64_t physical, bool large, bool write)
{
	cost before = machine_charged(&handle->machine);

	machine_data(&handle->machine, address, physical, large, write);
	return machine_charged(&handle->machine) - before;
}

uint64_t model_fetch(struct handle *handle, uint64_t address, uint64_t physical, uint64_t count)
{
	cost before = machine_charged(&handle->machine);

	machine_fetch(&handle->machine, address, physical, false);
	handle->machine.instructions += count;
	return machine_charged(&handle->machine) - before;
}

/* Handles an event as the plug-in does for the host; returns what was charged. */
uint64_t model_event(struct handle *handle, uint32_t event)
{
	cost before = machine_charged(&handle->machine);

	if (!handle->machine.guest)
		spans_before(&handle->spans, &handle->machine, event);
	machine_event(&handle->machine, event);
	spans_marker(&handle->spans, &handle->machine, event);
	return machine_charged(&handle->machine) - before;
}

void model_skip(struct handle *handle, uint64_t count)
{
	handle->spans.skip = count;
}

void model_mode(struct handle *handle, bool kernel)
{
	spans_mode(&handle->spans, &handle->machine, kernel);
}

void model_entry(struct handle *handle)
{
	struct happened taken = spans_taken(&handle->spans, &handle->machine);

	machine_event(&handle->machine, EVENT_INTERRUPT);
	spans_mode(&handle->spans, &handle->machine, true);
	spans_entered(&handle->spans, &handle->machine, &taken);
}

void model_space(struct handle *handle, uint16_t space)
{
	machine_space(&handle->machine, space);
}

void model_flush_cache(struct handle *handle, uint32_t level)
{
	cache_flush(&handle->machine.caches[level]);
}

/* Accesses, misses, lines written back. */
void model_cache(const struct handle *handle, uint32_t level, uint64_t counts[3])
{
	const struct cache *cache = &handle->machine.caches[level];

	counts[0] = cache->accesses;
	counts[1] = cache->misses;
	counts[2] = cache->write_backs;
}

bool model_holds(const struct handle *handle, uint32_t level, uint64_t address)
{
	return cache_holds(&handle->machine.caches[level], address);
}

/* Walks and their loads. */
void model_walks(const struct handle *handle, uint64_t counts[2])
{
	counts[0] = handle->machine.walk.walks;
	counts[1] = handle->machine.walk.loads;
}

uint32_t model_event_of(const uint8_t *bytes, size_t size)
{
	return event_of(bytes, size);
}

/* The plug-in's output, to be freed by the caller. */
char *model_tell(const struct handle *handle)
{
	size_t size;
	char *text = NULL;
	FILE *output = open_memstream(&text, &size);

	spans_tell(&handle->spans, output);
	fclose(output);
	return text;
}

void model_free_text(char *text)
{
	free(text);
}
