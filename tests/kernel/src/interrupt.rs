//! Device interrupts, delivered to user threads.

use crate::{Test, cells};
use pillion_abi::{
    NEVER,
    boot::slot,
    call::{IRQ_MSI, irq},
    object::Kind,
    status::Error::Timeout,
};
use pillion_runtime::{cap_delete, interrupt_ack, interrupt_bind, interrupt_create, now, port_in, port_out, wait};
use pillion_test_kit::{Checked, Kit, Setup, check, done, edu::Edu, refused, same, stop};

pub const TESTS: &[Test] = &[
    ("interrupt/line-of-the-clock", clock),
    ("interrupt/message-signalled", message),
    ("interrupt/message-to-another-space", elsewhere),
    ("interrupt/level-triggered-waits-for-acknowledgement", level),
    ("interrupt/none-after-its-end", ended),
];

const CLOCK_LINE: u64 = 8;

fn clock_register(index: u32) -> Checked<u32> {
    done!(port_out(slot::PORTS, 0x70, 1, index));
    Ok(done!(port_in(slot::PORTS, 0x71, 1)))
}

fn set_clock_register(index: u32, value: u32) -> Checked {
    done!(port_out(slot::PORTS, 0x70, 1, index));
    done!(port_out(slot::PORTS, 0x71, 1, value));
    Ok(())
}

fn clock(kit: &mut Kit) -> Checked {
    const PERIODIC: u32 = 0x40;
    const TICK: u64 = 1_000_000_000 / 1024;
    let (interrupt, n) = (kit.slot(), done!(kit.make(Kind::Notification, 0)));
    done!(interrupt_create(slot::IRQ_CONTROL, CLOCK_LINE, kit.interrupts(0), interrupt, kit.region()));
    done!(interrupt_bind(interrupt, n, 0x80));
    let control = clock_register(0xb)?;
    set_clock_register(0xb, control | PERIODIC)?;
    clock_register(0xc)?;
    let mut last = 0;
    for round in 0..5 {
        same!(done!(wait(n, now() + 5_000_000))[0], 0x80);
        let here = now();
        // The emulator skips some.
        let periods = (here - last + TICK / 2) / TICK;
        let regular = periods < 4 && (here - last).abs_diff(periods * TICK) < 20_000;
        check!(round < 2 || regular, "after {} ns", here - last);
        last = here;
        same!(clock_register(0xc)? & 0xc0, 0xc0);
        done!(interrupt_ack(interrupt));
    }
    set_clock_register(0xb, control)
}

fn message(kit: &mut Kit) -> Checked {
    let edu = Edu::find(kit, slot::ADDRESS_SPACE)?;
    same!(edu.identity() & 0xff, 0xed);
    let (interrupt, n) = (kit.slot(), done!(kit.make(Kind::Notification, 0)));
    let [address, data] =
        done!(interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, kit.interrupts(0), interrupt, kit.region()));
    check!(address >> 20 == 0xfee && (0xf0..0xfc).contains(&(data & 0xff)), "{address:#x} {data:#x}");
    same!(edu.function.set_message(address, data), true);
    // Before it is bound, it goes nowhere.
    edu.raise(1);
    edu.acknowledge(1);
    done!(interrupt_bind(interrupt, n, 2));
    refused!(wait(n, now()), Timeout);
    for value in 1..20 {
        edu.raise(value);
        same!(done!(wait(n, now() + 10_000))[0], 2);
        same!(edu.raised(), value);
        edu.acknowledge(value);
        done!(interrupt_ack(interrupt));
    }
    Ok(())
}

extern "C" fn handler(_: u64) -> ! {
    while wait(cells::cap(0), NEVER).is_ok() {
        cells::raise(1, now() - cells::get(2));
        cells::add(3, 1);
    }
    stop()
}

fn elsewhere(kit: &mut Kit) -> Checked {
    let (edu, space) = (Edu::find(kit, slot::ADDRESS_SPACE)?, done!(kit.space()));
    let (interrupt, n) = (kit.slot(), done!(kit.make(Kind::Notification, 0)));
    let [address, data] =
        done!(interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, kit.interrupts(0), interrupt, kit.region()));
    done!(interrupt_bind(interrupt, n, 1));
    same!(edu.function.set_message(address, data), true);
    cells::set(0, n);
    done!(kit.start(Setup::new(200, handler).within(space)));
    for round in 1..50 {
        cells::spin(1_000 + round * 17);
        cells::set(2, now());
        edu.raise(1);
        same!(cells::get(3), round);
        edu.acknowledge(1);
    }
    check!(cells::get(1) < 1_000, "took {}", cells::get(1));
    Ok(())
}

/// Lines of the PCI slots of the emulated PC.
const PCI_LINES: core::ops::Range<u64> = 16..24;

fn level(kit: &mut Kit) -> Checked {
    let edu = Edu::find(kit, slot::ADDRESS_SPACE)?;
    let at = edu.function.capability(5).unwrap_or(0);
    edu.function.write(at, edu.function.read(at) & !(1 << 16));
    let n = done!(kit.make(Kind::Notification, 0));
    for line in PCI_LINES {
        let to = kit.slot();
        cells::set(line as usize, to);
        done!(interrupt_create(slot::IRQ_CONTROL, line, irq::LEVEL | kit.interrupts(0), to, kit.region()));
        done!(interrupt_bind(to, n, 1 << line));
    }
    edu.raise(1);
    let bits = done!(wait(n, now() + 10_000))[0];
    check!(bits.is_power_of_two(), "lines {bits:#x}");
    // The line is still raised, but masked until the handler is done.
    refused!(wait(n, now() + 10_000), Timeout);
    let interrupt = cells::cap(bits.trailing_zeros() as usize);
    done!(interrupt_ack(interrupt));
    same!(done!(wait(n, now() + 10_000))[0], bits);
    edu.acknowledge(1);
    done!(interrupt_ack(interrupt));
    refused!(wait(n, now() + 10_000), Timeout);
    edu.raise(1);
    same!(done!(wait(n, now() + 10_000))[0], bits);
    edu.acknowledge(1);
    Ok(())
}

fn ended(kit: &mut Kit) -> Checked {
    let edu = Edu::find(kit, slot::ADDRESS_SPACE)?;
    let (interrupt, n) = (kit.slot(), done!(kit.make(Kind::Notification, 0)));
    let [address, data] =
        done!(interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, kit.interrupts(0), interrupt, kit.region()));
    done!(interrupt_bind(interrupt, n, 1));
    same!(edu.function.set_message(address, data), true);
    done!(cap_delete(0, interrupt));
    edu.raise(1);
    edu.acknowledge(1);
    refused!(wait(n, now() + 10_000), Timeout);
    // Its vector is free again.
    let next = kit.slot();
    same!(done!(interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, kit.interrupts(0), next, kit.region())), [address, data]);
    done!(interrupt_bind(next, n, 4));
    edu.raise(1);
    same!(done!(wait(n, now() + 10_000))[0], 4);
    edu.acknowledge(1);
    done!(cap_delete(0, n));
    edu.raise(1);
    edu.acknowledge(1);
    Ok(())
}
