#!/bin/sh
# Says how far it came, and why not further.
echo halfway through
echo no such device >&2
exit 3
