//! Starts a private Redis server.

use super::redis_client::{Client, RedisAddress};
use super::settings::Settings;
use super::{
    Kind, Reach, ServersError, Start, Started, await_ready, free_port, on_path, password,
    private_file,
};

pub(super) fn start(asked: &Start<'_>) -> Result<Started, ServersError> {
    let label = Kind::Redis.label();
    let missing = ServersError::NotInstalled { kind: label, package: "redis-server" };
    let program = on_path("redis-server").ok_or(missing)?;
    let no_place = |source| {
        let place = asked.directory.to_owned();
        ServersError::NoPlace { kind: label, place, source }
    };
    let reached = match asked.reach {
        Reach::Socket => None,
        Reach::Loopback => Some((free_port().map_err(no_place)?, password().map_err(no_place)?)),
    };
    let directory = asked.directory.display();
    let socket = asked.directory.join("redis.sock");
    // The settings are passed in a file, because every user can read the arguments of a program.
    let mut text = format!(
        "daemonize no\nunixsocket \"{}\"\nunixsocketperm 700\ndir \"{directory}\"\nlogfile \"\"\n",
        socket.display()
    );
    match &reached {
        None => text += "port 0\n",
        Some((port, password)) => {
            text += &format!("bind 127.0.0.1\nport {port}\nrequirepass {password}\n");
        }
    }
    let file = asked.directory.join("redis.conf");
    private_file(&file, &text, asked.user).map_err(no_place)?;
    let argv = vec![program.into_os_string(), file.into_os_string()];
    let server = asked.server(Kind::Redis, argv)?;
    let url = match &reached {
        None => format!("unix://{}", socket.display()),
        Some((port, password)) => format!("redis://:{password}@127.0.0.1:{port}/0"),
    };
    let place = RedisAddress::Socket(socket);
    let login = reached.map(|(_, password)| vec![password]).unwrap_or_default();
    let is_ready = || Client::connect(&place, &login).and_then(|mut c| c.ask(&["PING"])).is_ok();
    await_ready(Kind::Redis, &server, is_ready)?;
    let settings = Settings::of_redis(place, login);
    Ok(Started { server, variables: vec![("REDIS_URL".to_owned(), url)], settings })
}
