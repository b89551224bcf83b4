/* SPDX-License-Identifier: GPL-2.0-only */
/* As C++ had it before its standard. */
#include <iostream>
using namespace std;
