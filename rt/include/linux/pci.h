/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef LINUX_PCI_H
#define LINUX_PCI_H
#endif
