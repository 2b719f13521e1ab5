//! File descriptors that started programs inherit in addition to standard input, output and error.

/// Prevents programs started from now on from inheriting any descriptor that is currently open,
/// including those this process was started with. Must be called if commands are not trusted.
pub fn close_on_exec() {
    crate::sys::descriptors::close_on_exec();
}
