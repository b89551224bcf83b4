// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads, mutexes and conditions of C++ for Xenomai 3: the headers lock, the library waits, and
 * both have to mean the same mutex.
 */
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sys/cobalt.h>
#include <thread>

#include "../check.h"

namespace {

constexpr int turns = 200;

std::mutex mutex;
std::condition_variable changed;
int turn;
bool is_inside;

bool is_primary()
{
	int status;

	check(cobalt_corectl(_CC_COBALT_GET_CORE_STATUS, &status, sizeof(status)) == sizeof(status));
	return status != COBALT_STATE_RUNNING || cobalt_thread_mode() == 0;
}

/* Nobody else is in there meanwhile, not even while this one has the processor taken away. */
void take_turns(int own)
{
	sched_param parameters = {};

	parameters.sched_priority = 30 + own;
	check(!pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters));
	for (int i = 0; i < turns; i++) {
		std::unique_lock<std::mutex> lock(mutex);

		changed.wait(lock, [own] { return turn % 3 == own; });
		check(!is_inside);
		is_inside = true;
		if (i % 10 == 0)
			std::this_thread::sleep_for(std::chrono::microseconds(100));
		is_inside = false;
		turn++;
		changed.notify_all();
	}
	check(is_primary());
}

} // namespace

int main()
{
	std::unique_lock<std::mutex> lock(mutex);
	std::thread threads[] = { std::thread(take_turns, 0), std::thread(take_turns, 1), std::thread(take_turns, 2) };

	check(changed.wait_for(lock, std::chrono::milliseconds(20)) == std::cv_status::timeout || turn);
	lock.unlock();
	for (auto &thread : threads)
		thread.join();
	check(turn == 3 * turns && !is_inside);
	printf("ok standard threads\n");
	return 0;
}
