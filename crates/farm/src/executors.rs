//! Executors start jobs of the farm on the nodes of a cluster, through its own scheduler, instead
//! of waiting for agents to ask for jobs.
//!
//! The farm's table remains authoritative. An executor has no state that must not be lost: the jobs
//! it has started are read from the cluster ([`slurm`]), the next actions follow from the current
//! state of both ([`placing`]), and a job that is started twice is leased once.

pub mod placing;
pub mod slurm;
