//! FIFO handlers, and Linux's requests to them.

use super::{Handler, IoctlHandler, Slot, is_shared, negative, number, shared, with};
use crate::cell::Shared;
use crate::error::{EINVAL, ENODEV};
use crate::lock::{self, Token};
use crate::{main_thread, share};
use core::ffi::{c_int, c_uint};
use core::ops::Range;
use core::sync::atomic::Ordering::AcqRel;
use pillion_abi::channel::{FIFOS, IOCTL_SIZE, request, user};
use pillion_channel::{Fifo, copy::copy, request::Request};
use pillion_rt_core::ioctl;

/// Data of the I/O control in progress: a copy that Linux cannot change while the handler reads it.
#[repr(align(64))]
struct Data([u8; IOCTL_SIZE]);

static DATA: Shared<Data> = Shared::new(Data([0; IOCTL_SIZE]));

/// Bytes of [`DATA`] that the handler may use.
static USED: Shared<usize> = Shared::new(0);

fn change(minor: c_uint, f: impl FnOnce(&mut Slot)) -> Result<c_int, c_int> {
    let number = number(minor)?;
    if is_shared(number) {
        return Err(EINVAL);
    }
    main_thread::on_kick(serve);
    lock::with(|token| {
        with(token, number, |slot| {
            f(slot);
            slot.show_flags(token, number);
            0
        })
    })
}

/// Has `handler` called on the main thread after each read and write of a Linux process. A negative
/// result becomes the process's error.
#[unsafe(no_mangle)]
pub extern "C" fn rtf_create_handler(minor: c_uint, handler: Option<Handler>) -> c_int {
    // One error for every refusal, as in RTLinux.
    let result = handler.ok_or(EINVAL).and_then(|handler| change(minor, |slot| slot.handler = Some(handler)));
    negative(result.map_err(|_| EINVAL))
}

/// Has `handler` called after each `rtf_put` and `rtf_get`, in the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn rtf_create_rt_handler(minor: c_uint, handler: Option<Handler>) -> c_int {
    let result = handler.ok_or(EINVAL).and_then(|handler| change(minor, |slot| slot.rt_handler = Some(handler)));
    negative(result.map_err(|_| EINVAL))
}

/// Sets the handler of I/O controls from Linux processes; null removes it.
#[unsafe(no_mangle)]
pub extern "C" fn rtf_link_user_ioctl(minor: c_uint, handler: Option<IoctlHandler>) -> c_int {
    negative(change(minor, |slot| slot.ioctl = handler).map_err(|_| ENODEV))
}

/// Makes reads of /dev/rtf`get` take from FIFO `put`.
#[unsafe(no_mangle)]
pub extern "C" fn rtf_make_user_pair(get: c_uint, put: c_uint) -> c_int {
    negative(pair(get, put).map(|()| 0))
}

fn pair(get: c_uint, put: c_uint) -> Result<(), c_int> {
    let (reader, source) = (number(get)?, number(put)?);
    match (is_shared(reader), is_shared(source)) {
        (true, true) => shared::pair(get, put),
        (false, false) => lock::with(|token| {
            with(token, source, |_| ())?;
            with(token, reader, |_| share::with_entry(token, reader, |entry| entry.set_read_from(put)))
        }),
        _ => Err(EINVAL),
    }
}

/// Answers Linux's requests. Work: at most one handler call for each FIFO; Linux kicks again for a
/// further request.
fn serve() {
    let asked = share::kicks().swap(0, AcqRel);
    for number in (0..FIFOS).filter(|number| asked >> number & 1 != 0) {
        answer(number);
    }
}

/// A request, and the handlers that may answer it.
struct Asked {
    request: Request,
    moved: Option<Handler>,
    ioctl: Option<IoctlHandler>,
    /// Address of the copied data of an I/O control, and their size.
    data: Option<(usize, usize)>,
}

fn answer(number: usize) {
    let Some(asked) = lock::with(|token| take(token, number)) else { return };
    let result = call(number, &asked);
    lock::with(|token| {
        // The handler may have destroyed the FIFO, and another one may be in its place. Then nobody
        // waits for the answer, and the data may belong to another request by now.
        let _ = with(token, number, |slot| {
            let Some(fifo) = slot.fifo.as_mut().filter(|fifo| fifo.request() == Some(asked.request)) else { return };
            if let Some((_, size)) = asked.data {
                copy_out(token, size);
            }
            fifo.answer(&asked.request, result.into());
            share::tell_fifo(token, number as u32, user::LINUX);
        });
        *USED.borrow(token) = 0;
    });
}

/// Linux's request to a FIFO, with its data. Until the request is answered, Linux uses the data's
/// place for nothing else, as long as the FIFO exists.
fn take(token: &Token, number: usize) -> Option<Asked> {
    let (request, moved, ioctl) = with(token, number, |slot| {
        let request = slot.fifo.as_ref().and_then(Fifo::request)?;
        Some((request, slot.handler, slot.ioctl))
    })
    .ok()??;
    let size = ioctl::size(request.command);
    let carries = request.kind == request::IOCTL && ioctl.is_some() && size != 0 && size <= IOCTL_SIZE;
    let data = carries.then(|| (copy_in(token, size), size));
    Some(Asked { request, moved, ioctl, data })
}

/// Runs the handler. Nothing in the request is trusted: an unknown kind is refused, and the size
/// that the command states is checked.
fn call(number: usize, asked: &Asked) -> c_int {
    let (minor, request) = (number as c_uint, &asked.request);
    match request.kind {
        request::READ | request::WRITE => asked.moved.map_or(0, |handler| handler(minor)),
        request::IOCTL => {
            let Some(handler) = asked.ioctl else { return 0 };
            if ioctl::size(request.command) > IOCTL_SIZE {
                return -EINVAL;
            }
            let argument = asked.data.map_or(request.argument, |(address, _)| address as u64);
            handler(minor, request.command, argument)
        }
        _ => -EINVAL,
    }
}

fn copy_in(token: &Token, size: usize) -> usize {
    let data = &mut DATA.borrow(token).0;
    // SAFETY: both have `IOCTL_SIZE` bytes, of which `size` is not more.
    unsafe { copy(data.as_mut_ptr(), share::ioctl().cast(), size) };
    *USED.borrow(token) = size;
    data.as_ptr().addr()
}

fn copy_out(token: &Token, size: usize) {
    let data = &DATA.borrow(token).0;
    // SAFETY: as above.
    unsafe { copy(share::ioctl().cast(), data.as_ptr(), size) };
}

/// Addresses of the data of the I/O control in progress.
pub(crate) fn copied_data() -> Range<usize> {
    lock::with(|token| {
        let start = DATA.borrow(token).0.as_ptr().addr();
        start..start + *USED.borrow(token)
    })
}
