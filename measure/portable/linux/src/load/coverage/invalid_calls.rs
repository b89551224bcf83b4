//! Calls with invalid arguments: files that are not open, addresses that are not mapped,
//! meaningless numbers. Each must fail and change nothing.

use super::Place;
use anyhow::{Result, ensure};
use libc::c_long;

/// An address that is never mapped: the first page.
const NOWHERE: c_long = 16;

/// A number that no file has.
const NO_FILE: c_long = -1;

/// Calls whose first argument is a file.
const WITH_FILE: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_lseek,
    libc::SYS_ioctl,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_dup,
    libc::SYS_sendfile,
    libc::SYS_connect,
    libc::SYS_accept,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_shutdown,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_setsockopt,
    libc::SYS_getsockopt,
    libc::SYS_fcntl,
    libc::SYS_flock,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_ftruncate,
    libc::SYS_getdents64,
    libc::SYS_fchdir,
    libc::SYS_fchmod,
    libc::SYS_fchown,
    libc::SYS_fstatfs,
    libc::SYS_readahead,
    libc::SYS_fgetxattr,
    libc::SYS_flistxattr,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_wait,
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_rm_watch,
    libc::SYS_sync_file_range,
    libc::SYS_fallocate,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_accept4,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_syncfs,
    libc::SYS_copy_file_range,
];

/// Calls whose first argument is an address that they must read or write.
const WITH_ADDRESS: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_pipe,
    libc::SYS_uname,
    libc::SYS_truncate,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_rename,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_creat,
    libc::SYS_link,
    libc::SYS_unlink,
    libc::SYS_symlink,
    libc::SYS_readlink,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_sysinfo,
    libc::SYS_times,
    libc::SYS_statfs,
    libc::SYS_getxattr,
    libc::SYS_listxattr,
    libc::SYS_nanosleep,
    libc::SYS_getrandom,
    libc::SYS_memfd_create,
    libc::SYS_pipe2,
];

/// Calls whose first argument is a number that means nothing.
const WITH_NUMBER: &[c_long] = &[
    libc::SYS_socket,
    libc::SYS_getrusage,
    libc::SYS_getitimer,
    libc::SYS_getpriority,
    libc::SYS_getrlimit,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_delete,
    libc::SYS_eventfd2,
    libc::SYS_epoll_create1,
    libc::SYS_timerfd_create,
    libc::SYS_inotify_init1,
];

/// One round; the other arguments vary.
pub fn cover(_place: &Place, round: u64) -> Result<()> {
    let rest = [round as c_long % 3 - 1, NOWHERE + round as c_long % 7];
    WITH_FILE.iter().try_for_each(|&number| must_fail(number, NO_FILE, rest))?;
    WITH_ADDRESS.iter().try_for_each(|&number| must_fail(number, NOWHERE, rest))?;
    WITH_NUMBER.iter().try_for_each(|&number| must_fail(number, c_long::from(i32::MAX), rest))
}

fn must_fail(number: c_long, first: c_long, [flags, address]: [c_long; 2]) -> Result<()> {
    // SAFETY: the first argument makes the call fail before anything is changed; the page of the
    // address is never mapped, so nothing is written.
    let result = unsafe { libc::syscall(number, first, address, flags, address, flags, address) };
    ensure!(result == -1, "system call {number} succeeded");
    Ok(())
}
