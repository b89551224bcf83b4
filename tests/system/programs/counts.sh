#!/bin/sh
# Does its work, warns, and counts.
echo looking around
echo a warning >&2
echo 42 things
