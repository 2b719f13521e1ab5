"""redis-py, also asynchronous. A pipeline is one call; that all its commands count is seen to here, MULTI and EXEC of a transaction
included."""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import Any, Callable

from .library import Library, Seams, Target


class Redis(Library):
    """redis-py."""

    key = "redis"
    module = "redis"
    least = "4"
    below = "9"

    def targets(self, module: Any) -> list[Target]:
        """What is sent when connecting (HELLO, AUTH, CLIENT SETINFO, SELECT) is not counted."""
        found: list[Target] = []
        for client in self._clients():
            found += [
                (client.Redis, ["execute_command"], "redis", True),
                (client.PubSub, ["execute_command"], "redis", True),
                (
                    client.Pipeline,
                    ["immediate_execute_command", "_execute_transaction", "_execute_pipeline"],
                    "redis",
                    True,
                ),
            ]
        return [*found, *self.counted("redis")]

    def seams(self, module: Any) -> Seams:
        """Pipelines."""
        members: dict[str, Callable[[Any], Any]] = {
            "_execute_transaction": functools.partial(self._all, 1),
            "_execute_pipeline": functools.partial(self._all, -1),
        }
        return [(client.Pipeline, members) for client in self._clients()]

    def _clients(self) -> list[Any]:
        return [importlib.import_module(name) for name in ("redis.client", "redis.asyncio.client")]

    def _all(self, more: int, original: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(original):

            @functools.wraps(original)
            async def execute_task(pipeline: Any, connection: Any, commands: Any, *args: Any, **kwargs: Any) -> Any:
                self.counter.further(len(commands) + more)
                return await original(pipeline, connection, commands, *args, **kwargs)

            return execute_task

        @functools.wraps(original)
        def execute(pipeline: Any, connection: Any, commands: Any, *args: Any, **kwargs: Any) -> Any:
            self.counter.further(len(commands) + more)
            return original(pipeline, connection, commands, *args, **kwargs)

        return execute


LIBRARY: Redis = Redis()
