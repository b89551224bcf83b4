/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_LP_H
#define LINUX_LP_H
#endif
