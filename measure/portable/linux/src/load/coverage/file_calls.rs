//! Files, folders, links, locks, and waiting for files.

use super::Place;
use anyhow::Result;
use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{
    self, AtFlags, CWD, FallocateFlags, FlockOperation, MemfdFlags, Mode, OFlags, SeekFrom, Timestamps, UTIME_NOW,
};
use rustix::io::{dup, pread, pwrite, readv, writev};
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::AsFd;

/// Sizes that are written: none, one, less and more than a page.
const SIZES: [usize; 5] = [0, 1, 4095, 4097, 70_000];

pub fn cover(place: &Place, round: u64) -> Result<()> {
    contents(place, SIZES[round as usize % SIZES.len()])?;
    names(place)?;
    status(place)?;
    waiting()
}

fn contents(place: &Place, size: usize) -> Result<()> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let file = fs::open(place.at("contents"), flags, Mode::from_raw_mode(0o600))?;
    let mut bytes = vec![7; size];
    pwrite(&file, &bytes, 100)?;
    pread(&file, &mut bytes, 50)?;
    writev(&file, &[IoSlice::new(&bytes[..size / 2]), IoSlice::new(&bytes[size / 2..])])?;
    fs::seek(&file, SeekFrom::Start(10))?;
    readv(&file, &mut [IoSliceMut::new(&mut bytes)])?;
    fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, 65536)?;
    fs::flock(&file, FlockOperation::LockExclusive)?;
    fs::flock(&file, FlockOperation::Unlock)?;
    fs::ftruncate(&file, size as u64 / 3)?;
    fs::fsync(&file)?;
    fs::fdatasync(&file)?;
    let again = dup(&file)?;
    let flags = fs::fcntl_getfl(&again)?;
    fs::fcntl_setfl(&again, flags | OFlags::APPEND)?;
    let memory = fs::memfd_create("coverage", MemfdFlags::CLOEXEC)?;
    fs::sendfile(&memory, &file, None, size)?;
    Ok(())
}

fn names(place: &Place) -> Result<()> {
    fs::mkdir(place.at("folder"), Mode::from_raw_mode(0o700))?;
    fs::symlink("contents", place.at("symbolic"))?;
    fs::readlink(place.at("symbolic"), Vec::new())?;
    fs::link(place.at("contents"), place.at("hard"))?;
    fs::rename(place.at("hard"), place.at("renamed"))?;
    fs::access(place.at("renamed"), fs::Access::READ_OK)?;
    std::fs::read_dir(&place.0)?.try_for_each(|entry| entry.map(drop))?;
    std::env::current_dir()?;
    fs::unlink(place.at("renamed"))?;
    fs::unlink(place.at("symbolic"))?;
    fs::rmdir(place.at("folder"))?;
    Ok(())
}

fn status(place: &Place) -> Result<()> {
    let path = place.at("contents");
    fs::stat(&path)?;
    fs::lstat(&path)?;
    fs::statx(CWD, &path, AtFlags::empty(), fs::StatxFlags::ALL)?;
    fs::statfs(&path)?;
    fs::chmod(&path, Mode::from_raw_mode(0o640))?;
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    fs::utimensat(CWD, &path, &Timestamps { last_access: now, last_modification: now }, AtFlags::empty())?;
    let root = fs::open("/", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
    fs::fstat(&root)?;
    Ok(())
}

/// Events, polling in both ways.
fn waiting() -> Result<()> {
    let event = eventfd(1, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::from_borrowed_fd(event.as_fd(), PollFlags::IN)], Some(&at_once))?;
    let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&set, &event, epoll::EventData::new_u64(1), epoll::EventFlags::IN)?;
    epoll::wait(&set, spare_capacity(&mut Vec::with_capacity(4)), Some(&at_once))?;
    epoll::delete(&set, &event)?;
    rustix::io::read(&event, &mut [0; 8])?;
    Ok(())
}
