//! Where jobs of the farm's table are begun, other than by agents that ask for them: on the nodes of a cluster, by its own scheduler.
//!
//! The farm's table stays the truth. An executor remembers nothing that must not be lost: which job it has begun is read from the cluster
//! ([`slurm`]), what is to be done next follows from what both say at that moment ([`placing`]), and a job that is begun twice is leased once.

pub mod placing;
pub mod slurm;
