//! The processor's mode in which tasks run: chosen here and nowhere else. Both files offer the same list.
//!
//! `user` is Pillion. `shared`, the feature `shared-space`, has the protection taken out, so that what it costs can be counted.

#[cfg(feature = "shared-space")]
mod shared;
#[cfg(not(feature = "shared-space"))]
mod user;

#[cfg(feature = "shared-space")]
pub use shared::*;
#[cfg(not(feature = "shared-space"))]
pub use user::*;
