/* A program for Linux that runs until it is ended. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	for (int i = 0;; i++) {
		printf("%d rounds\n", i);
		sleep(1);
	}
}
