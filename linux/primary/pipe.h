/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Message pipes from threads in primary mode to processes of Linux, which open /dev/rtpN. Two
 * threads of Linux carry the messages between the process's memory and the device.
 */
#ifndef PRIMARY_PIPE_H
#define PRIMARY_PIPE_H

#include "box.h"

struct primary_pipe;

#define PRIMARY_PIPES 32
#define PRIMARY_PIPE_MESSAGE (1 << 16)

/*
 * Makes the pipe with a number, or with any that is free if it is -1; in Linux. Messages from Linux
 * go into `from_linux`, in memory of `heap`; `arrived` is called under the lock for each, if it is
 * not NULL. Returns 0, or the negative number of an error.
 */
int primary_pipe_open(struct primary_pipe **pipe, int number, struct primary_heap *heap, struct primary_box *from_linux,
		      void (*arrived)(void *argument), void *argument);
int primary_pipe_number(const struct primary_pipe *pipe);
/* Sends a message to Linux, under the lock; the pipe holds it from then on. */
void primary_pipe_send(struct primary_pipe *pipe, struct primary_message *message, bool is_urgent);
/*
 * Room for more bytes of a stream to Linux, under the lock, to be filled in at once: at the end of
 * the last message, if that is such a one, has not been taken yet, and does not become longer than
 * `most`, or in a new one. NULL: there is no memory.
 */
char *primary_pipe_extend(struct primary_pipe *pipe, size_t size, size_t most);
/* Drops what was not read yet: of what was sent to Linux, or of what came from it. In Linux. */
void primary_pipe_flush(struct primary_pipe *pipe);
/* Ends it: a process that has it open gets an error. In Linux. */
void primary_pipe_close(struct primary_pipe *pipe);

#endif
