/*
 * Output of measure/include/measure.h, which programs of experiments use: figures, a histogram
 * whose buckets get wider, points, and lines that are not too long.
 *
 * prints: figure small_samples 3 1
 * prints: figure small_min 1 ns
 * prints: figure small_avg 3.7 ns
 * prints: figure small_max 5 ns
 * prints: figure wide_samples 4 1
 * prints: figure wide_min 4095 ns
 * prints: figure wide_avg 501919.5 ns
 * prints: figure wide_max 1000001 ns
 * prints: figure wide_p99 1000001 ns
 * prints: histogram wide ns 4095:1 4096+64:1 991232+8192:1 999424+8192:1
 * prints: invalid 1 points of curve did not fit
 * prints: points curve 1 us 0:0.000 1:1.001 2:2.002 3:3.003 4:4.004 5:5.005 6:6.006 7:7.007 8:8.008 9:9.009 10:10.010 11:11.011 12:12.012 13:13.013 14:14.014 15:15.015 16:16.016 17:17.017 18:18.018 19:19.019
 * prints: points curve 1 us 20:20.020 21:21.021 22:22.022 23:23.023 24:24.024 25:25.025 26:26.026 27:27.027 28:28.028 29:29.029
 * prints: figure none_samples 0 1
 */
#include <rtl.h>
#include <pillion.h>

#include "../../../measure/include/measure.h"

static pthread_t thread;
static struct series small, none;
static struct histogram wide;
static struct point list[30];
static struct points curve = POINTS(list);

static void *work(void *unused)
{
	int i;

	series_add(&small, 5);
	series_add(&small, 1);
	series_add(&small, 5);
	series_tell(&small, "small", "ns");
	histogram_add(&wide, 4095);
	histogram_add(&wide, 4159);
	histogram_add(&wide, 999423);
	histogram_add(&wide, 1000001);
	histogram_tell(&wide, "wide", "ns");
	for (i = 0; i < 31; i++)
		points_add(&curve, i, i * 1001);
	points_tell(&curve, "curve", "1 us");
	series_tell(&none, "none", "ns");
	pillion_unload();
	return unused;
}

int init_module(void)
{
	return thread_start(&thread, 100, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
}
