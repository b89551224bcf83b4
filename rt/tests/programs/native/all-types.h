/*
 * The end of a program that computes in all three types: on the host main() prints the results, and
 * a thread of the task compares its own with them. Then finish() prints what the program found.
 */
static void all(void)
{
	all_in_float();
	all_in_double();
	all_in_long_double();
}

#ifdef NATIVE
int main(void)
{
	all();
	return 0;
}
#else
static void *run(void *unused)
{
	all();
	if (next != sizeof(expected) / sizeof(expected[0]))
		rtl_printf("the host computed another number of results\n");
	finish();
	pillion_unload();
	return unused;
}

int init_module(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, run, NULL);
}

void cleanup_module(void)
{
}
#endif
