"""An alarm: a SimPy event that rings after everything else at its instant."""

from collections.abc import Callable

from simpy import Environment, Event
from simpy.events import EventPriority

_AFTER_ALL_OTHERS = EventPriority(2)  # SimPy's own priorities are 0 and 1


class Alarm:
    """Rings once, at the time set last; setting it again makes an earlier setting void."""

    def __init__(self, env: Environment, ring: Callable[[float], None]) -> None:
        self._env = env
        self._ring = ring
        self._generation = 0

    def set(self, time_s: float) -> None:
        """Call `ring(time_s)` at `time_s`, or now if that has passed."""
        self._generation += 1
        event = _Ringing(self._env, self._generation, time_s)
        event.callbacks.append(self._on_event)
        self._env.schedule(event, _AFTER_ALL_OTHERS, max(time_s - self._env.now, 0.0))

    def _on_event(self, event: Event) -> None:
        assert isinstance(event, _Ringing)
        if event.generation == self._generation:
            self._ring(event.time_s)


class _Ringing(Event):
    """An event that is going to happen. `time_s` is exact, where the environment's clock has rounded."""

    callbacks: list[Callable[[Event], None]]

    def __init__(self, env: Environment, generation: int, time_s: float) -> None:
        super().__init__(env)
        self._ok = True
        self._value = None
        self.generation = generation
        self.time_s = time_s
