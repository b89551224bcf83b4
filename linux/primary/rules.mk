# SPDX-License-Identifier: GPL-2.0-only
# What the skins' Makefiles share: flags, objects, and how files with @PREFIX@ are made.
PREFIX ?= /usr/local
CFLAGS ?= -O2
# Position-independent, for programs of all kinds; with exceptions, for threads that are cancelled.
override CFLAGS += -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -fPIC -fexceptions -ffunction-sections \
	-I.. -I../uapi -I../../abi/c

PRIMARY = $(patsubst %.c,%.o,$(wildcard ../primary/*.c))

all:

%.a:
	rm -f $@
	$(AR) rcs $@ $^

# Made each time: PREFIX may be another one.
%: %.in FORCE
	sed 's|@PREFIX@|$(PREFIX)|' $< > $@

# $(call install_headers,FOLDER): the headers of include/FOLDER, to the same place.
install_headers = install -D -m 644 -t $(DESTDIR)$(PREFIX)/include/$(1) include/$(1)/*.h

.PHONY: all install clean FORCE
