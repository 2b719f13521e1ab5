"""redis-py, including its asynchronous client. A pipeline is one call; this module makes all its
commands count, including MULTI and EXEC of a transaction."""

from __future__ import annotations

import functools
import importlib
import importlib.util
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
        """The commands sent on connecting (HELLO, AUTH, CLIENT SETINFO, SELECT) are not counted."""
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
        found += [(cluster.RedisCluster, ["execute_command"], "redis", True) for cluster in self._clusters()]
        return [*found, *self.counted("redis")]

    def seams(self, module: Any) -> Seams:
        """Pipelines."""
        members: dict[str, Callable[[Any], Any]] = {
            "_execute_transaction": functools.partial(self._all, 1),
            "_execute_pipeline": functools.partial(self._all, -1),
        }
        clusters: Seams = [(cluster.ClusterPipeline, {"execute": self._held}) for cluster in self._clusters()]
        return [*((client.Pipeline, members) for client in self._clients()), *clusters]

    def _clusters(self) -> list[Any]:
        """The cluster clients, in versions that have them."""
        names = [name for name in ("redis.cluster", "redis.asyncio.cluster") if importlib.util.find_spec(name)]
        return [importlib.import_module(name) for name in names]

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

    def _held(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A cluster pipeline counts as many commands as it contains."""
        if inspect.iscoroutinefunction(original):

            @functools.wraps(original)
            async def execute_task(pipeline: Any, *args: Any, **kwargs: Any) -> Any:
                self.counter.further(len(pipeline) - 1)
                return await (self.counter.wait if len(pipeline) else _call)(original, pipeline, *args, **kwargs)

            return execute_task

        @functools.wraps(original)
        def execute(pipeline: Any, *args: Any, **kwargs: Any) -> Any:
            self.counter.further(len(pipeline) - 1)
            return (self.counter.run if len(pipeline) else _call)(original, pipeline, *args, **kwargs)

        return execute


def _call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


LIBRARY: Redis = Redis()
