#include <rtl_sched.h>
