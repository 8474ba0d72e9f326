//! Messages for the operator of the program that has loaded a library.

/// Prints one line on stderr, with the name of this product in front.
///
/// It takes no lock: that of [`std::io::Stderr`] would stay locked in the child of a program that forks while another
/// thread prints.
pub fn print_line(text: &str) {
    // A program without stderr has nothing to print to, and its operation continues.
    let _ = rustix::io::write(std::io::stderr(), format!("oarlock: {text}\n").as_bytes());
}
