//! The text of the systemd unit that starts the server.

/// The settings of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service<'a> {
    /// The directory of the farm.
    pub directory: &'a str,
    /// The user that runs the server.
    pub user: &'a str,
    /// The address to listen on.
    pub listen: &'a str,
    /// The database with the store; empty for a file in the farm's data directory.
    pub store: &'a str,
}

/// Returns the text of the systemd unit. It allows the server to write only its own data.
#[must_use]
pub fn unit(service: &Service<'_>) -> String {
    let Service { directory, user, listen, store } = service;
    let escaped = directory.replace('%', "%%");
    let store = match *store {
        "" => String::new(),
        store => format!(" --store \"{}\"", store.replace('%', "%%")),
    };
    // The server also starts if the database becomes available later.
    let after = if store.is_empty() { "" } else { " postgresql.service" };
    format!(
        "# Written by `assay farm setup`, which writes it again when it is run again.\n\
         [Unit]\n\
         Description=The farm of assay\n\
         After=network-online.target{after}\n\
         Wants=network-online.target\n\
         StartLimitIntervalSec=0\n\
         \n\
         [Service]\n\
         Type=notify\n\
         User={user}\n\
         EnvironmentFile={escaped}/etc/environment\n\
         ExecStart=\"{escaped}/bin/assay-farm\" serve --data \"{escaped}/data\" --listen {listen}{store}\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         NoNewPrivileges=yes\n\
         ProtectSystem=strict\n\
         ProtectHome=read-only\n\
         PrivateTmp=yes\n\
         PrivateDevices=yes\n\
         ReadWritePaths=\"{escaped}/data\"\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_starts_the_server_as_its_user() {
        let unit = unit(&Service {
            directory: "/srv/a farm%1",
            user: "farm",
            listen: "127.0.0.1:8040",
            store: "",
        });
        for line in [
            "User=farm",
            "ExecStart=\"/srv/a farm%%1/bin/assay-farm\" serve --data \"/srv/a farm%%1/data\" --listen 127.0.0.1:8040",
            "ReadWritePaths=\"/srv/a farm%%1/data\"",
        ] {
            assert!(unit.lines().any(|found| found == line), "{line}\n{unit}");
        }
    }
}
