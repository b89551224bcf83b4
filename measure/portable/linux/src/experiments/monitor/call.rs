//! A system call to scan.

use anyhow::Result;

/// How to make a call repeatedly.
pub struct Call {
    /// Name of its curve.
    pub name: &'static str,
    /// Prepares what all its calls need, and returns an object that makes one call.
    pub prepare: fn() -> Result<Box<dyn Made>>,
}

/// A prepared call.
pub trait Made {
    /// Runs before each call.
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

    /// Runs after each call.
    ///
    /// # Errors
    /// Linux refuses.
    fn after(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A call that needs nothing before or after it.
pub struct Plain<F>(pub F);

impl<F: FnMut() -> Result<()>> Made for Plain<F> {
    fn call(&mut self) -> Result<()> {
        (self.0)()
    }
}

/// A call, and what to run after it.
pub struct Undone<C, U>(pub C, pub U);

impl<C: FnMut() -> Result<()>, U: FnMut() -> Result<()>> Made for Undone<C, U> {
    fn call(&mut self) -> Result<()> {
        (self.0)()
    }

    fn after(&mut self) -> Result<()> {
        (self.1)()
    }
}
