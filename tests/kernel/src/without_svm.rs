//! On a processor without virtualisation everything works except guests.

use crate::Test;
use pillion_abi::{PAGE, object::Kind, status::Error::Unsupported, vcpu::configure};
use pillion_runtime::vcpu_configure;
use pillion_test_kit::{Checked, Kit, done, refused};

pub const TESTS: &[Test] = &[("without-svm/vcpu-configure", refuses)];

fn refuses(kit: &mut Kit) -> Checked {
    let vcpu = done!(kit.make(Kind::Vcpu, 0));
    let space = done!(kit.make(Kind::GuestSpace, 8));
    let state = done!(kit.make(Kind::Memory, PAGE));
    // Nothing is left bound, so the same call can be made again.
    for flags in [0, 0, configure::USER] {
        refused!(vcpu_configure(vcpu, space, state, flags), Unsupported);
    }
    Ok(())
}
