#include <mqueue.h>
