/* SPDX-License-Identifier: GPL-2.0-only */
/* SPI devices, as programs name what they ask of one. No driver is here: open() fails. */
#ifndef _RTDM_SPI_H
#define _RTDM_SPI_H

#include <linux/spi/spidev.h>
#include <rtdm/rtdm.h>

struct rtdm_spi_config {
	uint32_t speed_hz;
	uint16_t mode;
	uint8_t bits_per_word;
};

/* Where data lies in the memory that mmap() gives. */
struct rtdm_spi_iobufs {
	uint32_t io_len;
	uint32_t i_offset;
	uint32_t o_offset;
	uint32_t map_len;
};

#define RTIOC_TYPE_SPI RTDM_CLASS_SPI
#define SPI_RTIOC_SET_CONFIG _IOW(RTIOC_TYPE_SPI, 0, struct rtdm_spi_config)
#define SPI_RTIOC_GET_CONFIG _IOR(RTIOC_TYPE_SPI, 1, struct rtdm_spi_config)
#define SPI_RTIOC_SET_IOBUFS _IOR(RTIOC_TYPE_SPI, 2, struct rtdm_spi_iobufs)
#define SPI_RTIOC_TRANSFER _IO(RTIOC_TYPE_SPI, 3)
#define SPI_RTIOC_TRANSFER_N _IOR(RTIOC_TYPE_SPI, 4, int)

#endif
