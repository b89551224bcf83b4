/* SPDX-License-Identifier: GPL-2.0-only */
/* The header of C++ before its standard. */
#include <iostream>
using namespace std;
