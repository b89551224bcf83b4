/* A program for Linux that goes on until somebody ends it. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	for (int i = 0;; i++) {
		printf("%d rounds\n", i);
		sleep(1);
	}
}
