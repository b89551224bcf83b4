//! I/O ports.

use crate::Test;
use pillion_abi::{
    boot::slot,
    object::{Kind, right},
    status::Error::{BadArgument, NoRight},
};
use pillion_runtime::{cap_identify, port_in, port_out, ports_part};
use pillion_test_kit::{Checked, Kit, check, done, refused, same};

pub const TESTS: &[Test] =
    &[("port/read-and-write", read_write), ("port/parts", parts), ("port/rights", rights), ("port/kept", kept)];

/// The real-time clock: index and data.
const INDEX: u16 = 0x70;
const DATA: u16 = 0x71;

fn read_write(_: &mut Kit) -> Checked {
    // An unused byte of the clock's memory.
    for value in [0x5a, 0xa5] {
        done!(port_out(slot::PORTS, INDEX, 1, 0x40));
        done!(port_out(slot::PORTS, DATA, 1, value));
        done!(port_out(slot::PORTS, INDEX, 1, 0x40));
        same!(done!(port_in(slot::PORTS, DATA, 1)), value);
    }
    // PCI's address register takes 32 bits.
    done!(port_out(slot::PORTS, 0xcf8, 4, 0x8000_0000));
    same!(done!(port_in(slot::PORTS, 0xcf8, 4)), 0x8000_0000);
    check!(done!(port_in(slot::PORTS, 0xcfc, 2)) == 0x8086, "no host bridge");
    Ok(())
}

fn parts(kit: &mut Kit) -> Checked {
    let (part, inner) = (kit.slot(), kit.slot());
    done!(ports_part(slot::PORTS, INDEX, 2, part));
    same!(done!(cap_identify(part)), [Kind::Ports as u64 | u64::from(INDEX) << 16, 2]);
    done!(ports_part(part, DATA, 1, inner));
    done!(port_in(inner, DATA, 1));
    refused!(port_in(inner, INDEX, 1), BadArgument);
    refused!(port_in(part, INDEX - 1, 1), BadArgument);
    Ok(())
}

fn rights(kit: &mut Kit) -> Checked {
    let (read, write) = (done!(kit.limited(slot::PORTS, right::READ)), done!(kit.limited(slot::PORTS, right::WRITE)));
    done!(port_in(read, 0x80, 1));
    refused!(port_out(read, 0x80, 1, 0), NoRight);
    done!(port_out(write, 0x80, 1, 0));
    refused!(port_in(write, 0x80, 1), NoRight);
    let part = kit.slot();
    done!(ports_part(read, 0x80, 1, part));
    refused!(port_out(part, 0x80, 1, 0), NoRight);
    Ok(())
}

fn kept(_: &mut Kit) -> Checked {
    // The interrupt controllers stay masked, and the log's port cannot be reprogrammed.
    for port in [0x21, 0xa1, 0x2fb] {
        done!(port_out(slot::PORTS, port, 1, 0));
        same!(done!(port_in(slot::PORTS, port, 1)), 0xff);
    }
    Ok(())
}
