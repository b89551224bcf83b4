/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CAN: frames, addresses and filters are those of Linux's own sockets, which socket(PF_CAN, ...)
 * opens here. Requests that only Xenomai's drivers have fail with the error of Linux's socket.
 */
#ifndef _RTDM_CAN_H
#define _RTDM_CAN_H

#include <linux/can.h>
#include <linux/can/error.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <rtdm/rtdm.h>

#define RTCAN_PROFILE_VER 2

#ifndef PF_CAN
#define PF_CAN 29
#define AF_CAN PF_CAN
#endif
#ifndef SOL_CAN_RAW
#define SOL_CAN_RAW (SOL_CAN_BASE + CAN_RAW)
#endif

typedef struct can_filter can_filter_t;
typedef struct can_frame can_frame_t;

#define CAN_RAW_TX_LOOPBACK CAN_RAW_LOOPBACK

typedef uint32_t can_baudrate_t;
#define CAN_BAUDRATE_UNKNOWN ((uint32_t)-1)
#define CAN_BAUDRATE_UNCONFIGURED 0

enum CAN_BITTIME_TYPE { CAN_BITTIME_STD, CAN_BITTIME_BTR };
typedef enum CAN_BITTIME_TYPE can_bittime_type_t;

struct can_bittime_std {
	uint32_t brp;
	uint8_t prop_seg;
	uint8_t phase_seg1;
	uint8_t phase_seg2;
	uint8_t sjw : 7;
	uint8_t sam : 1;
};

struct can_bittime_btr {
	uint8_t btr0;
	uint8_t btr1;
};

struct can_bittime {
	can_bittime_type_t type;
	__extension__ union {
		struct can_bittime_std std;
		struct can_bittime_btr btr;
	};
};

enum CAN_MODE { CAN_MODE_STOP, CAN_MODE_START, CAN_MODE_SLEEP };
typedef enum CAN_MODE can_mode_t;

typedef int can_ctrlmode_t;
#ifndef CAN_CTRLMODE_LISTENONLY
#define CAN_CTRLMODE_LISTENONLY 0x1
#define CAN_CTRLMODE_LOOPBACK 0x2
#define CAN_CTRLMODE_3_SAMPLES 0x4
#endif

enum CAN_STATE {
	CAN_STATE_ERROR_ACTIVE,
	CAN_STATE_ACTIVE = CAN_STATE_ERROR_ACTIVE,
	CAN_STATE_ERROR_WARNING,
	CAN_STATE_BUS_WARNING = CAN_STATE_ERROR_WARNING,
	CAN_STATE_ERROR_PASSIVE,
	CAN_STATE_BUS_PASSIVE = CAN_STATE_ERROR_PASSIVE,
	CAN_STATE_BUS_OFF,
	CAN_STATE_SCANNING_BAUDRATE,
	CAN_STATE_STOPPED,
	CAN_STATE_SLEEPING
};
typedef enum CAN_STATE can_state_t;
#define CAN_STATE_OPERATING(state) ((state) < CAN_STATE_BUS_OFF)

/* What requests about a controller name it by, and its value. */
struct can_ifreq {
	union {
		char ifrn_name[IFNAMSIZ];
	} ifr_ifrn;
	union {
		struct can_bittime bittime;
		can_baudrate_t baudrate;
		can_ctrlmode_t ctrlmode;
		can_mode_t mode;
		can_state_t state;
		int ifru_ivalue;
		/* Linux's requests about interfaces read and write a struct ifreq. */
		char ifru_room[24];
	} ifr_ifru;
};
#ifndef ifr_name
#define ifr_name ifr_ifrn.ifrn_name
#endif
#ifndef ifr_ifindex
#define ifr_ifindex ifr_ifru.ifru_ivalue
#endif

#define RTIOC_TYPE_CAN RTDM_CLASS_CAN
#define SIOCSCANBAUDRATE _IOW(RTIOC_TYPE_CAN, 0x01, struct can_ifreq)
#define SIOCGCANBAUDRATE _IOWR(RTIOC_TYPE_CAN, 0x02, struct can_ifreq)
#define SIOCSCANCUSTOMBITTIME _IOW(RTIOC_TYPE_CAN, 0x03, struct can_ifreq)
#define SIOCGCANCUSTOMBITTIME _IOWR(RTIOC_TYPE_CAN, 0x04, struct can_ifreq)
#define SIOCSCANMODE _IOW(RTIOC_TYPE_CAN, 0x05, struct can_ifreq)
#define SIOCGCANSTATE _IOWR(RTIOC_TYPE_CAN, 0x06, struct can_ifreq)
#define SIOCSCANCTRLMODE _IOW(RTIOC_TYPE_CAN, 0x07, struct can_ifreq)
#define SIOCGCANCTRLMODE _IOWR(RTIOC_TYPE_CAN, 0x08, struct can_ifreq)
#define RTCAN_RTIOC_TAKE_TIMESTAMP _IOW(RTIOC_TYPE_CAN, 0x09, int)
#define RTCAN_TAKE_NO_TIMESTAMPS 0
#define RTCAN_TAKE_TIMESTAMPS 1
#define RTCAN_RTIOC_RCV_TIMEOUT _IOW(RTIOC_TYPE_CAN, 0x0a, nanosecs_rel_t)
#define RTCAN_RTIOC_SND_TIMEOUT _IOW(RTIOC_TYPE_CAN, 0x0b, nanosecs_rel_t)

#endif
