#include <rtl_compat.h>
