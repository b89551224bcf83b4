//! Ctrl-C and related signals set a flag. Everything that waits checks it, so that nothing is left
//! half-made.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Takes over the signals. Once set, the flag stays set.
pub fn watch() {
    let flag = FLAG.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let _ = signal_hook::flag::register(signal, Arc::clone(flag));
    }
}

/// Whether the user wants this program to end.
pub fn wanted() -> bool {
    FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}
