//! What programs that are started inherit beside standard input, output and error.

/// Lets programs that this process starts from now on inherit no descriptor that is open now, also none that it was itself started with. To be called
/// where commands are not trusted.
pub fn close_on_exec() {
    crate::sys::descriptors::close_on_exec();
}
