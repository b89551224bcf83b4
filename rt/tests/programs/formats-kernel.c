/*
 * The kernel's formats: L and q stand for long long in all functions that format; a long double
 * keeps its L. An invalid format is printed as it is.
 *
 * prints: 1234567890123 -5 77 ffffffffffffffff
 * prints: [  -8589934592] 9:000000000000000a 100%Ld
 * prints: 2.5 1.5
 * prints: cut 12345
 * prints: no such conversion: %!
 */
#include <rtl.h>
#include <pillion.h>

int init_module(void)
{
	const char *wrong = "no such conversion: %!\n";
	char text[80];

	rtl_printf("%Ld %Li %qd %Lx\n", 1234567890123LL, -5LL, 77LL, ~0ULL);
	sprintf(text, "[%*Ld] %d:%016qx 100%%Ld\n", 13, -2 * 0x100000000LL, 9, 10LL);
	printk("%s", text);
	rtl_printf("%Lg %g\n", 2.5L, 1.5);
	snprintf(text, 6, "%Ld", 1234567890123LL);
	rtl_printf("cut %s\n", text);
	rtl_printf(wrong);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
