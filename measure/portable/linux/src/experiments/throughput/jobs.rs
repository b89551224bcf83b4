//! A user's work: one job has a piece of each kind.

use crate::process::idle_child;
use anyhow::{Result, ensure};
use std::fs;
use std::hint::black_box;
use std::io::{Read, Write, pipe};

/// Does one job. Fails if a piece of it failed.
pub fn job(user: usize) -> Result<()> {
    through_a_pipe()?;
    a_process()?;
    black_box(compute(40_000));
    through_a_file(user)?;
    black_box(memory());
    black_box(sorted(4_096));
    Ok(())
}

/// 64 KiB through a pipe, a page at a time.
fn through_a_pipe() -> Result<()> {
    let (mut input, mut output) = pipe()?;
    let mut page = [1; 4096];
    for _ in 0..16 {
        output.write_all(&page)?;
        input.read_exact(&mut page)?;
    }
    Ok(())
}

fn a_process() -> Result<()> {
    idle_child()?.wait()
}

/// Counts the prime numbers below a limit, by trial division of the odd ones.
fn compute(limit: u32) -> usize {
    let is_prime = |number: &u32| (3..).step_by(2).take_while(|d| d * d <= *number).all(|d| !number.is_multiple_of(d));
    (3..limit).step_by(2).filter(is_prime).count() + 1
}

/// 64 KiB into a file, and back.
fn through_a_file(user: usize) -> Result<()> {
    let path = std::env::temp_dir().join(format!("pillion-measure-{}-{user}", std::process::id()));
    fs::write(&path, vec![user as u8; 64 << 10])?;
    let back = fs::read(&path)?;
    fs::remove_file(&path)?;
    ensure!(back.len() == 64 << 10 && back[0] == user as u8, "a file came back changed");
    Ok(())
}

/// Allocates a MiB and writes it once.
fn memory() -> Vec<u8> {
    let mut memory = vec![0u8; 1 << 20];
    memory.iter_mut().step_by(64).enumerate().for_each(|(line, byte)| *byte = line as u8);
    memory
}

fn sorted(numbers: u32) -> Vec<u32> {
    let mut data: Vec<u32> = (0..numbers).map(|n| n.wrapping_mul(2_654_435_761)).collect();
    data.sort_unstable();
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_done() {
        assert_eq!(compute(100), 25);
        assert!(sorted(100).is_sorted());
        assert_eq!(memory().iter().filter(|&&byte| byte == 255).count(), (1 << 20) / 64 / 256);
    }

    #[test]
    fn a_job_ends_well() {
        job(7).unwrap();
    }
}
