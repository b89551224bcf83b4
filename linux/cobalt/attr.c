// SPDX-License-Identifier: GPL-2.0-only
/* Attributes of threads with a policy beyond POSIX. */
#include <pthread.h>
#include <string.h>

int pthread_attr_init_ex(pthread_attr_ex_t *attributes)
{
	struct sched_param parameters;
	int error = pthread_attr_init(&attributes->std);

	memset(&attributes->nonstd, 0, sizeof(attributes->nonstd));
	pthread_attr_getschedpolicy(&attributes->std, &attributes->nonstd.sched_policy);
	pthread_attr_getschedparam(&attributes->std, &parameters);
	attributes->nonstd.sched_param.sched_priority = parameters.sched_priority;
	return error;
}

int pthread_attr_destroy_ex(pthread_attr_ex_t *attributes)
{
	return pthread_attr_destroy(&attributes->std);
}

int pthread_attr_getschedpolicy_ex(const pthread_attr_ex_t *attributes, int *policy)
{
	*policy = attributes->nonstd.sched_policy;
	return 0;
}

int pthread_attr_setschedpolicy_ex(pthread_attr_ex_t *attributes, int policy)
{
	attributes->nonstd.sched_policy = policy;
	return 0;
}

int pthread_attr_getschedparam_ex(const pthread_attr_ex_t *attributes, struct sched_param_ex *parameters)
{
	*parameters = attributes->nonstd.sched_param;
	return 0;
}

int pthread_attr_setschedparam_ex(pthread_attr_ex_t *attributes, const struct sched_param_ex *parameters)
{
	attributes->nonstd.sched_param = *parameters;
	return 0;
}

int pthread_attr_getinheritsched_ex(const pthread_attr_ex_t *attributes, int *inherits)
{
	return pthread_attr_getinheritsched(&attributes->std, inherits);
}

int pthread_attr_setinheritsched_ex(pthread_attr_ex_t *attributes, int inherits)
{
	return pthread_attr_setinheritsched(&attributes->std, inherits);
}

int pthread_attr_getdetachstate_ex(const pthread_attr_ex_t *attributes, int *state)
{
	return pthread_attr_getdetachstate(&attributes->std, state);
}

int pthread_attr_setdetachstate_ex(pthread_attr_ex_t *attributes, int state)
{
	return pthread_attr_setdetachstate(&attributes->std, state);
}

int pthread_attr_getstacksize_ex(const pthread_attr_ex_t *attributes, size_t *size)
{
	return pthread_attr_getstacksize(&attributes->std, size);
}

int pthread_attr_setstacksize_ex(pthread_attr_ex_t *attributes, size_t size)
{
	return pthread_attr_setstacksize(&attributes->std, size);
}

int pthread_attr_getscope_ex(const pthread_attr_ex_t *attributes, int *scope)
{
	return pthread_attr_getscope(&attributes->std, scope);
}

int pthread_attr_setscope_ex(pthread_attr_ex_t *attributes, int scope)
{
	return pthread_attr_setscope(&attributes->std, scope);
}

int pthread_attr_getpersonality_ex(const pthread_attr_ex_t *attributes, int *personality)
{
	*personality = attributes->nonstd.personality;
	return 0;
}

int pthread_attr_setpersonality_ex(pthread_attr_ex_t *attributes, int personality)
{
	attributes->nonstd.personality = personality;
	return 0;
}
