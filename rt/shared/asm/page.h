/* Pages. */
#ifndef ASM_PAGE_H
#define ASM_PAGE_H

#ifndef PAGE_SHIFT
#define PAGE_SHIFT 12
#endif
#ifndef PAGE_SIZE
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#endif
#ifndef PAGE_MASK
#define PAGE_MASK (~(PAGE_SIZE - 1))
#endif
#ifndef PAGE_ALIGN
#define PAGE_ALIGN(address) (((address) + PAGE_SIZE - 1) & PAGE_MASK)
#endif

#endif
