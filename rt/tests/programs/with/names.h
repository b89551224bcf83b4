/* What the task names.c and its partner in Linux (linux/dual-test/tasks.c) share. */
#ifndef NAMES_H
#define NAMES_H

/* Bytes of a message of the queues. */
#define MESSAGE 64

#define COMMAND_ADD 1
#define COMMAND_POST 2
#define COMMAND_MESSAGE 3

struct board {
	int command;
	int argument;
	int result;
};

#endif
