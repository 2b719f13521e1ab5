//! Chooses the CPU for programs that use only one, and checks CPU numbers that the user typed.

use assay_measure::environment::allowed_cpus;

/// Returns the CPU on which programs are disturbed least. This is the last allowed one, since the
/// system's own work gathers on the first. `None` if only one is allowed.
pub(crate) fn quiet_cpu() -> Option<u32> {
    let allowed = allowed_cpus();
    allowed.last().copied().filter(|_| allowed.len() > 1)
}

/// Checks that the CPUs are online, if the online CPUs are known.
///
/// # Errors
///
/// Fails if a CPU is not online.
pub(crate) fn are_there(wanted: &[u32], online: Option<&[u32]>) -> anyhow::Result<()> {
    let Some(online) = online else { return Ok(()) };
    let Some(absent) = wanted.iter().find(|cpu| !online.contains(cpu)) else { return Ok(()) };
    let last = online.last().copied().unwrap_or_default();
    anyhow::bail!("there is no CPU {absent} here; they are numbered from 0, and the last is {last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_that_is_not_there_is_an_error() {
        assert!(are_there(&[0, 1], Some(&[0, 1])).is_ok() && are_there(&[9], None).is_ok());
        let told = are_there(&[1, 9], Some(&[0, 1])).expect_err("there are two").to_string();
        assert!(told.contains("no CPU 9") && told.contains("the last is 1"), "{told}");
    }
}
