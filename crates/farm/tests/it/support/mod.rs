//! Programs that the tests of several modules start: a farm, a cluster, an SSH server, systemd.

pub mod serving;
pub mod slurm;
pub mod sshd;
pub mod systemd;
