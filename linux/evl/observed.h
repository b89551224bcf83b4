/* SPDX-License-Identifier: GPL-2.0-only */
/* Who observes an object, and the notices for each. The lock guards them. */
#ifndef EVL_OBSERVED_H
#define EVL_OBSERVED_H

#include "object.h"

struct evl_observed {
	struct link observers;
	struct primary_queue readers;
	unsigned int serial;
	/* Each notice goes to one observer. */
	bool is_unicast;
};

void evl_observed_init(struct evl_observed *observed, bool is_unicast);
/* Nobody observes it any more. */
void evl_observed_end(struct evl_observed *observed);
/* As poll has them, for the calling thread. */
unsigned int evl_observed_events(const struct evl_observed *observed);
/* Gives a notice to the observers. Returns whether one has got it. */
bool evl_notify(struct evl_object *object, struct evl_observed *observed, unsigned int tag, union evl_value event);
/* A thread observes nothing any more. */
void evl_observe_no_more(struct link *subscriptions);

#endif
