/* What the task fifos.c and its partner in Linux (linux/dual-test/fifos.c) share. */
#ifndef FIFOS_H
#define FIFOS_H

/* FIFOs: what the task echoes, records from it, records to it, and one that it never looks at. */
#define FIFO_REQUESTS 1
#define FIFO_ANSWERS 2
#define FIFO_RECORDS 3
#define FIFO_TAKEN 4
#define FIFO_IDLE 5
#define FIFO_HANDLED 6
/* Of the task thief.c. */
#define FIFO_STOLEN 7

/* Bytes of FIFOs: of records, few. */
#define FIFO_BYTES 4096
#define RECORDS 10

/* Who writes records to the task. */
#define WRITERS 3

/* A record: its numbers are of one series; the words say the same again. */
struct record {
	unsigned int number;
	unsigned int writer;
	unsigned int words[4];
};

/* A request: the task echoes it, with what it knows. */
struct message {
	int command;
	/* It begins to send records 1 to that, or has got so many, in order, of each writer. */
	unsigned int count[WRITERS];
	/* Records that were not right. */
	unsigned int wrong;
	char text[40];
};

#define COMMAND_ECHO 1
#define COMMAND_SEND 2
#define COMMAND_TELL 3

static inline unsigned int word_of(const struct record *record, unsigned int index)
{
	return (record->number * 2654435761u) ^ (record->writer << 8) ^ index;
}

static inline void fill(struct record *record, unsigned int number, unsigned int writer)
{
	unsigned int i;

	record->number = number;
	record->writer = writer;
	for (i = 0; i < 4; i++)
		record->words[i] = word_of(record, i);
}

static inline int is_whole(const struct record *record)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (record->words[i] != word_of(record, i))
			return 0;
	return 1;
}

#endif
