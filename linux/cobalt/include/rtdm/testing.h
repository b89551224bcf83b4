/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The devices that measure in the kernel, as programs name what they ask of one. None is here:
 * open() fails, and docs/xenomai.md says what measures instead.
 */
#ifndef _RTDM_TESTING_H
#define _RTDM_TESTING_H

#include <rtdm/rtdm.h>

#define RTTST_PROFILE_VER 2

typedef struct rttst_bench_res {
	int32_t avg;
	int32_t min;
	int32_t max;
	int32_t overruns;
	int32_t test_loops;
} rttst_bench_res_t;

typedef struct rttst_interm_bench_res {
	struct rttst_bench_res last;
	struct rttst_bench_res overall;
} rttst_interm_bench_res_t;

typedef struct rttst_overall_bench_res {
	struct rttst_bench_res result;
	int32_t *histogram_avg;
	int32_t *histogram_min;
	int32_t *histogram_max;
} rttst_overall_bench_res_t;

#define RTTST_TMBENCH_INVALID (-1)
#define RTTST_TMBENCH_TASK 0
#define RTTST_TMBENCH_HANDLER 1

typedef struct rttst_tmbench_config {
	int mode;
	int priority;
	nanosecs_rel_t period;
	int warmup_loops;
	int histogram_size;
	int histogram_bucketsize;
	int freeze_max;
} rttst_tmbench_config_t;

struct rttst_swtest_task {
	unsigned int index;
	unsigned int flags;
};

#define RTTST_SWTEST_FPU 0x1
#define RTTST_SWTEST_USE_FPU 0x2
#define RTTST_SWTEST_FREEZE 0x4

struct rttst_swtest_dir {
	unsigned int from;
	unsigned int to;
};

struct rttst_swtest_error {
	struct rttst_swtest_dir last_switch;
	unsigned int fp_val;
};

#define RTIOC_TYPE_TESTING RTDM_CLASS_TESTING
#define RTDM_SUBCLASS_TIMERBENCH 0
#define RTDM_SUBCLASS_IRQBENCH 1
#define RTDM_SUBCLASS_SWITCHTEST 2
#define RTDM_SUBCLASS_RTDMTEST 3

#define RTTST_RTIOC_INTERM_BENCH_RES _IOWR(RTIOC_TYPE_TESTING, 0x00, struct rttst_interm_bench_res)
#define RTTST_RTIOC_TMBENCH_START _IOW(RTIOC_TYPE_TESTING, 0x10, struct rttst_tmbench_config)
#define RTTST_RTIOC_TMBENCH_STOP _IOWR(RTIOC_TYPE_TESTING, 0x11, struct rttst_overall_bench_res)
#define RTTST_RTIOC_SWTEST_SET_TASKS_COUNT _IOW(RTIOC_TYPE_TESTING, 0x30, uint32_t)
#define RTTST_RTIOC_SWTEST_SET_CPU _IOW(RTIOC_TYPE_TESTING, 0x31, uint32_t)
#define RTTST_RTIOC_SWTEST_REGISTER_UTASK _IOW(RTIOC_TYPE_TESTING, 0x32, struct rttst_swtest_task)
#define RTTST_RTIOC_SWTEST_CREATE_KTASK _IOWR(RTIOC_TYPE_TESTING, 0x33, struct rttst_swtest_task)
#define RTTST_RTIOC_SWTEST_PEND _IOR(RTIOC_TYPE_TESTING, 0x34, struct rttst_swtest_task)
#define RTTST_RTIOC_SWTEST_SWITCH_TO _IOR(RTIOC_TYPE_TESTING, 0x35, struct rttst_swtest_dir)
#define RTTST_RTIOC_SWTEST_GET_SWITCHES_COUNT _IOR(RTIOC_TYPE_TESTING, 0x36, uint32_t)
#define RTTST_RTIOC_SWTEST_GET_LAST_ERROR _IOR(RTIOC_TYPE_TESTING, 0x37, struct rttst_swtest_error)

#endif
