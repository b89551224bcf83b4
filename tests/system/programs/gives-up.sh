#!/bin/sh
# Prints how far it got, and why no further.
echo halfway through
echo no such device >&2
exit 3
