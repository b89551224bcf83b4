/*
 * What rtf_create, rtf_put, rtf_get and their kin return, without Linux: a put is all or nothing, a
 * get takes what is there.
 *
 * prints: create 0, again -16, bad number -19, bad size -22
 * prints: empty 1, used 1, other used 0
 * prints: put 10 gives 10, length 10, free 6
 * prints: put 7 more gives -28, length 10
 * prints: get 4 gives 4: 0123
 * prints: put 10 gives 10, length 16
 * prints: get 100 gives 16: 4567890123456789
 * prints: get of nothing 0, empty 1
 * prints: flush 0, length 0
 * prints: resize 0: capacity 64, length 0
 * prints: put of a negative count -22
 * prints: destroy 0, again -22, put -22, bad number -19
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <pillion.h>

int init_module(void)
{
	char text[128];
	int first, again;

	first = rtf_create(3, 16);
	again = rtf_create(3, 16);
	rtl_printf("create %d, again %d, bad number %d, bad size %d\n", first, again, rtf_create(64, 16), rtf_create(4, 0));
	rtl_printf("empty %d, used %d, other used %d\n", rtf_isempty(3), rtf_isused(3), rtf_isused(4));
	first = rtf_put(3, "0123456789", 10);
	rtl_printf("put 10 gives %d, length %d, free %d\n", first, RTF_LEN(3), RTF_FREE(3));
	first = rtf_put(3, "0123456", 7);
	rtl_printf("put 7 more gives %d, length %d\n", first, RTF_LEN(3));
	first = rtf_get(3, text, 4);
	rtl_printf("get 4 gives %d: %.4s\n", first, text);
	first = rtf_put(3, "0123456789", 10);
	rtl_printf("put 10 gives %d, length %d\n", first, RTF_LEN(3));
	first = rtf_get(3, text, 100);
	rtl_printf("get 100 gives %d: %.16s\n", first, text);
	first = rtf_get(3, text, 100);
	rtl_printf("get of nothing %d, empty %d\n", first, rtf_isempty(3));
	rtf_put(3, "abc", 3);
	first = rtf_flush(3);
	rtl_printf("flush %d, length %d\n", first, RTF_LEN(3));
	rtf_put(3, "abc", 3);
	first = rtf_resize(3, 64);
	rtl_printf("resize %d: capacity %d, length %d\n", first, RTF_BUF(3), RTF_LEN(3));
	rtl_printf("put of a negative count %d\n", rtf_put(3, text, -1));
	first = rtf_destroy(3);
	again = rtf_destroy(3);
	rtl_printf("destroy %d, again %d, put %d, bad number %d\n", first, again, rtf_put(3, "x", 1), rtf_destroy(99));
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
