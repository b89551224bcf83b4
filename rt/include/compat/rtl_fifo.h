#include <rtl_fifo.h>
