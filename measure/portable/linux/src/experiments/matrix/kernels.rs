//! Fixed computations whose data fits in a cache: their run times show what others have left of it.

use std::hint::black_box;

/// Rows and columns of the matrices.
const SIDE: usize = 64;
/// Points of the transform.
const POINTS: usize = 1024;
const NUMBERS: usize = 4096;
/// Bytes that are copied, in cache lines that are visited in no regular order.
const WALK: usize = 32 << 10;
const LINE: usize = 64;

/// A computation with its data. Each call does the same work.
pub type Kernel = Box<dyn FnMut()>;

/// A name, and the constructor of the kernel.
pub type Maker = (&'static str, fn() -> Kernel);

/// Every kernel by name.
pub const ALL: [Maker; 4] = [("matrix", matrix), ("fft", fft), ("sort", sort), ("walk", walk)];

/// Multiplies two matrices of 64 x 64.
fn matrix() -> Kernel {
    let left: Vec<f64> = (0..SIDE * SIDE).map(|n| (n % 7) as f64).collect();
    let right: Vec<f64> = (0..SIDE * SIDE).map(|n| (n % 5) as f64).collect();
    let mut product = vec![0.0; SIDE * SIDE];
    Box::new(move || {
        multiply(&left, &right, &mut product);
        black_box(&product);
    })
}

fn multiply(left: &[f64], right: &[f64], product: &mut [f64]) {
    for row in 0..SIDE {
        for column in 0..SIDE {
            let terms = (0..SIDE).map(|at| left[row * SIDE + at] * right[at * SIDE + column]);
            product[row * SIDE + column] = terms.sum();
        }
    }
}

/// A complex number: its real and its imaginary part.
type Complex = (f64, f64);

/// Transforms 1,024 points.
fn fft() -> Kernel {
    let input: Vec<Complex> = (0..POINTS).map(|n| ((n % 17) as f64, 0.0)).collect();
    let roots = roots(POINTS);
    let mut data = input.clone();
    Box::new(move || {
        data.copy_from_slice(&input);
        transform(&mut data, &roots);
        black_box(&data);
    })
}

/// The first half of the roots of unity.
fn roots(points: usize) -> Vec<Complex> {
    let angle = |n: usize| -std::f64::consts::TAU * n as f64 / points as f64;
    (0..points / 2).map(|n| (angle(n).cos(), angle(n).sin())).collect()
}

/// The fast Fourier transform in place, of Cooley and Tukey; the length is a power of two.
fn transform(data: &mut [Complex], roots: &[Complex]) {
    let points = data.len();
    for from in 0..points {
        let to = from.reverse_bits() >> (usize::BITS - points.ilog2());
        if to > from {
            data.swap(from, to);
        }
    }
    let mut half = 1;
    while half < points {
        for block in data.chunks_mut(2 * half) {
            butterflies(block, roots, points / (2 * half));
        }
        half *= 2;
    }
}

fn butterflies(block: &mut [Complex], roots: &[Complex], stride: usize) {
    let (low, high) = block.split_at_mut(block.len() / 2);
    for ((low, high), root) in low.iter_mut().zip(high).zip(roots.iter().step_by(stride)) {
        let turned = (high.0 * root.0 - high.1 * root.1, high.0 * root.1 + high.1 * root.0);
        *high = (low.0 - turned.0, low.1 - turned.1);
        *low = (low.0 + turned.0, low.1 + turned.1);
    }
}

/// Sorts 4,096 numbers.
fn sort() -> Kernel {
    let input: Vec<u32> = (0..NUMBERS as u32).map(|n| n.wrapping_mul(2_654_435_761)).collect();
    let mut data = input.clone();
    Box::new(move || {
        data.copy_from_slice(&input);
        data.sort_unstable();
        black_box(&data);
    })
}

/// Copies 32 KiB; each line names the next.
fn walk() -> Kernel {
    let next = cycle(WALK / LINE);
    let from = vec![1u8; WALK];
    let mut to = vec![0u8; WALK];
    Box::new(move || {
        let mut line = 0;
        for _ in 0..next.len() {
            let bytes = line * LINE..(line + 1) * LINE;
            to[bytes.clone()].copy_from_slice(&from[bytes]);
            line = next[line];
        }
        black_box(&to);
    })
}

/// One cycle through all lines, in steps that a prefetcher cannot guess: n -> 5 n + 3 modulo a
/// power of two visits each line once.
fn cycle(lines: usize) -> Vec<usize> {
    (0..lines).map(|line| (line * 5 + 3) % lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_matrix_changes_nothing() {
        let unit: Vec<f64> = (0..SIDE * SIDE).map(|n| if n % (SIDE + 1) == 0 { 1.0 } else { 0.0 }).collect();
        let other: Vec<f64> = (0..SIDE * SIDE).map(|n| n as f64).collect();
        let mut product = vec![0.0; SIDE * SIDE];
        multiply(&unit, &other, &mut product);
        assert_eq!(product, other);
    }

    #[test]
    fn the_transform_finds_a_wave() {
        let wave = |n: usize| (std::f64::consts::TAU * 3.0 * n as f64 / 64.0).cos();
        let mut data: Vec<Complex> = (0..64).map(|n| (wave(n), 0.0)).collect();
        transform(&mut data, &roots(64));
        for (at, (real, imaginary)) in data.into_iter().enumerate() {
            let expected = if at == 3 || at == 61 { 32.0 } else { 0.0 };
            assert!((real - expected).abs() < 1e-9 && imaginary.abs() < 1e-9, "{at}: {real} {imaginary}");
        }
    }

    #[test]
    fn the_walk_visits_each_line_once() {
        let next = cycle(WALK / LINE);
        let mut seen = vec![false; next.len()];
        let mut line = 0;
        for _ in 0..next.len() {
            assert!(!std::mem::replace(&mut seen[line], true), "line {line} twice");
            line = next[line];
        }
        assert_eq!(line, 0);
    }

    #[test]
    fn each_kernel_runs_again_and_again() {
        for (_, make) in ALL {
            let mut kernel = make();
            kernel();
            kernel();
        }
    }
}
