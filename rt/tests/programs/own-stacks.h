/* Starts threads on stacks of the program's own, as a real-time thread must. */
static char stacks[40][16384] __attribute__((aligned(16)));
static int stacks_used;

static pthread_t start_with(int priority, void *(*f)(void *), void *arg)
{
	pthread_attr_t attr;
	struct sched_param param = { priority };
	pthread_t t = NULL;

	pthread_attr_init(&attr);
	pthread_attr_setschedparam(&attr, &param);
	pthread_attr_setstackaddr(&attr, stacks[stacks_used++]);
	pthread_attr_setstacksize(&attr, sizeof(stacks[0]));
	if (pthread_create(&t, &attr, f, arg))
		rtl_printf("no thread\n");
	return t;
}

static pthread_t start(int priority, void *(*f)(void *))
{
	return start_with(priority, f, NULL);
}
