/*
 * For RTLinux programs that measure: samples are kept in static memory while the program measures,
 * and printed as lines afterwards.
 *
 *     static struct histogram late;
 *
 *     histogram_add(&late, clock_gethrtime(CLOCK_RTL_SCHED) - release);        in the thread that measures
 *     histogram_tell(&late, "latency", "ns");                                  when it is done
 *     MEASURE_PROGRAM(100, work)                                               in a thread of that priority
 *
 * measure/README.md describes the lines. The functions that print sleep between lines, so only a
 * real-time thread can call them.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "measure/histogram.h"
#include "measure/line.h"
#include "measure/mark.h"
#include "measure/points.h"
#include "measure/program.h"
#include "measure/series.h"
#include "measure/thread.h"

#endif
