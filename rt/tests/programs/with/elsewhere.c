/* The program in Linux of linux-elsewhere.c. */
#include <stdio.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	int to = open("/dev/rtf1", O_WRONLY), from = open("/dev/rtf2", O_RDONLY), result = open("/dev/rtf3", O_WRONLY);
	int shared = open("/dev/rtf9", O_RDONLY), i, number, wrong = 0, bytes = 0, other = 0, got;
	unsigned char data[32];
	char line[100];

	for (i = 0; i < 50; i++) {
		if (write(to, &i, sizeof(i)) != sizeof(i) || read(from, &number, sizeof(number)) != sizeof(number))
			return 1;
		wrong += number != 3 * i;
	}
	while (bytes < 200) {
		got = read(shared, data, sizeof(data));
		if (got <= 0)
			return 2;
		for (i = 0; i < got; i++)
			other += data[i] != (unsigned char)bytes++;
	}
	sprintf(line, "%d answers, %d wrong; %d bytes, %d wrong\n", 50, wrong, bytes, other);
	return write(result, line, strlen(line)) != (int)strlen(line);
}
