/* SPDX-License-Identifier: GPL-2.0-only */
/* The header of C++ before its standard. */
#include <iomanip>
using namespace std;
