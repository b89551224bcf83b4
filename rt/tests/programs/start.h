/* Starts a thread of a priority, from the main thread. */
static int start(pthread_t *thread, int priority, void *(*f)(void *), void *arg)
{
	struct sched_param param = { .sched_priority = priority };
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setschedparam(&attr, &param);
	return pthread_create(thread, &attr, f, arg);
}
