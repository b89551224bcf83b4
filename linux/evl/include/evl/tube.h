/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tubes: queues of items of a given number, into which any thread of either stage puts items and
 * takes them without a lock and without waiting. What takes an item whose sender was preempted in
 * the middle finds the tube empty. The items that a tube can hold lie in an array of canisters:
 *
 *	DECLARE_EVL_CANISTER(canister, int);
 *	DECLARE_EVL_TUBE(tube, canister);
 *	struct canister room[64];
 *	struct tube t;
 *
 *	evl_init_tube(&t, room, 64);
 *	evl_send_tube(&t, 5);			false: it is full
 *	evl_receive_tube(&t, item);		false: it is empty
 *
 * With _rel, a tube and its canisters are one piece of memory, which processes may share.
 */
#ifndef _EVL_TUBE_H
#define _EVL_TUBE_H

#include <evl/factory.h>
#include <stdbool.h>
#include <stddef.h>

struct evl_tube {
	/* Canisters, and the bytes of one. */
	unsigned long count;
	unsigned long size;
	/* How many items were sent and received. */
	unsigned long sent;
	unsigned long received;
};

#define DECLARE_EVL_CANISTER(tag, type)         \
	struct tag {                            \
		unsigned long turn;             \
		type payload;                   \
	}
#define DECLARE_EVL_TUBE(tag, canister)         \
	struct tag {                            \
		struct evl_tube tube;           \
		struct canister *canisters;     \
	}
#define DECLARE_EVL_CANISTER_REL(tag, type) DECLARE_EVL_CANISTER(tag, type)
#define DECLARE_EVL_TUBE_REL(tag, canister)     \
	struct tag {                            \
		struct evl_tube tube;           \
		struct canister canisters[1];   \
	}

#ifdef __cplusplus
extern "C" {
#endif

void evl_tube_begin(struct evl_tube *tube, void *canisters, unsigned long count, unsigned long size);
/* A canister to fill, or to empty, which has to be passed on then; NULL: there is none. */
void *evl_tube_claim(struct evl_tube *tube, void *canisters, bool fills);
void evl_tube_pass(void *canister);

#ifdef __cplusplus
}
#endif

#define evl_init_tube(of, room, number)                                                        \
	do {                                                                                   \
		(of)->canisters = (room);                                                      \
		evl_tube_begin(&(of)->tube, (room), (number), sizeof(*(of)->canisters));       \
	} while (0)
#define evl_send_tube(of, item)                                                                \
	__extension__({                                                                        \
		__typeof__(&(of)->canisters[0]) __canister =                                   \
			(__typeof__(__canister))evl_tube_claim(&(of)->tube, (of)->canisters, true); \
		if (__canister) {                                                              \
			__canister->payload = (item);                                          \
			evl_tube_pass(__canister);                                             \
		}                                                                              \
		__canister != NULL;                                                            \
	})
#define evl_receive_tube(of, item)                                                             \
	__extension__({                                                                        \
		__typeof__(&(of)->canisters[0]) __canister =                                   \
			(__typeof__(__canister))evl_tube_claim(&(of)->tube, (of)->canisters, false); \
		if (__canister) {                                                              \
			(item) = __canister->payload;                                          \
			evl_tube_pass(__canister);                                             \
		}                                                                              \
		__canister != NULL;                                                            \
	})

/* Bytes for a tube that is shared, and the same for a type. */
#define evl_get_tube_size_rel(tag, number) \
	(offsetof(struct tag, canisters) + (number) * sizeof(((struct tag *)0)->canisters[0]))
#define evl_init_tube_rel(of, bytes)                                                           \
	evl_tube_begin(&(of)->tube, (of)->canisters,                                           \
		       ((bytes) - ((char *)(of)->canisters - (char *)(of))) / sizeof((of)->canisters[0]), \
		       sizeof((of)->canisters[0]))
#define evl_send_tube_rel(of, item) evl_send_tube(of, item)
#define evl_receive_tube_rel(of, item) evl_receive_tube(of, item)

#endif
