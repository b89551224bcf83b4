// SPDX-License-Identifier: GPL-2.0-only
/* Names of objects that processes share: what a process asks for, and what it may. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "dual.h"

static_assert(PILLION_DUAL_NAME == PILLION_DUAL_NAME_SIZE);
static_assert(PILLION_DUAL_OPEN_CREATE == PILLION_DUAL_NAME_CREATE &&
	      PILLION_DUAL_OPEN_EXCLUSIVE == PILLION_DUAL_NAME_EXCLUSIVE);

/* Numbers are those of the whole system, also for a process in a container. */
static void state_asker(struct pillion_dual_naming *naming, const struct cred *cred)
{
	const struct group_info *groups = cred->group_info;
	int i, count = min(groups->ngroups, PILLION_DUAL_NAME_GROUPS);

	naming->user = from_kuid(&init_user_ns, cred->fsuid);
	naming->group = from_kgid(&init_user_ns, cred->fsgid);
	naming->privileged = ns_capable_noaudit(&init_user_ns, CAP_DAC_OVERRIDE);
	/* As many as there are, so that the task knows whether some are left out. */
	naming->group_count = groups->ngroups;
	for (i = 0; i < count; i++)
		naming->groups[i] = from_kgid(&init_user_ns, groups->gid[i]);
}

/* What the current process asks for. Returns an error if that cannot be read or has no end. */
int dual_naming(struct pillion_dual_naming *naming, const void __user *user)
{
	struct pillion_dual_open open;

	if (copy_from_user(&open, user, sizeof(open)))
		return -EFAULT;
	if (strnlen(open.name, sizeof(open.name)) == sizeof(open.name))
		return -ENAMETOOLONG;
	memset(naming, 0, sizeof(*naming));
	strscpy_pad((char *)naming->name, open.name, sizeof(naming->name));
	naming->kind = open.kind;
	naming->flags = open.flags;
	naming->mode = open.mode & ~current_umask();
	naming->object_flags = open.object_flags;
	naming->value = open.value;
	state_asker(naming, current_cred());
	return 0;
}
