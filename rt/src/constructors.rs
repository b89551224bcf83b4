//! Constructors and destructors of C++ objects, and C functions with those attributes. They run
//! before `init_module` and after `cleanup_module`.

unsafe extern "C" {
    static __init_array_start: [Option<extern "C" fn()>; 0];
    static __init_array_end: [Option<extern "C" fn()>; 0];
    static __fini_array_start: [Option<extern "C" fn()>; 0];
    static __fini_array_end: [Option<extern "C" fn()>; 0];
}

pub(crate) fn run() {
    let mut at = &raw const __init_array_start as *const Option<extern "C" fn()>;
    let end = &raw const __init_array_end as *const Option<extern "C" fn()>;
    while at < end {
        // SAFETY: the linker put pointers to such functions between the two symbols.
        if let Some(constructor) = unsafe { at.read() } {
            constructor();
        }
        at = at.wrapping_add(1);
    }
}

/// Runs the destructors, the last first.
pub(crate) fn undo() {
    let start = &raw const __fini_array_start as *const Option<extern "C" fn()>;
    let mut at = &raw const __fini_array_end as *const Option<extern "C" fn()>;
    while at > start {
        at = at.wrapping_sub(1);
        // SAFETY: the linker put pointers to such functions between the two symbols.
        if let Some(destructor) = unsafe { at.read() } {
            destructor();
        }
    }
}
