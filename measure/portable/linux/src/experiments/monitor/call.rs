//! A system call that is scanned.

use anyhow::Result;

/// How a call is made again and again.
pub struct Call {
    /// Name of its curve.
    pub name: &'static str,
    /// Makes what all its calls need, and returns what makes one.
    pub prepare: fn() -> Result<Box<dyn Made>>,
}

/// A call, ready to be made.
pub trait Made {
    /// Before each call.
    ///
    /// # Errors
    /// Linux refuses.
    fn before(&mut self) -> Result<()> {
        Ok(())
    }

    /// The call itself.
    ///
    /// # Errors
    /// Linux refuses.
    fn call(&mut self) -> Result<()>;

    /// After each call.
    ///
    /// # Errors
    /// Linux refuses.
    fn after(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A call that needs nothing before and after.
pub struct Plain<F>(pub F);

impl<F: FnMut() -> Result<()>> Made for Plain<F> {
    fn call(&mut self) -> Result<()> {
        (self.0)()
    }
}

/// A call with what is done after it.
pub struct Undone<C, U>(pub C, pub U);

impl<C: FnMut() -> Result<()>, U: FnMut() -> Result<()>> Made for Undone<C, U> {
    fn call(&mut self) -> Result<()> {
        (self.0)()
    }

    fn after(&mut self) -> Result<()> {
        (self.1)()
    }
}
