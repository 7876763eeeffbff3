import { type Backend, stopOnClose } from '../../contract/backend.ts';
import type { TerminalSize } from '../../contract/job.ts';
import type { Recorder, Recordings } from '../../recordings/recordings.ts';
import { logOf, tail } from '../../support/tail.ts';

const reading = { waitMs: 60_000, maxBytes: 262_144 };

/** A backend that records output from `start` on, with its timing. A failing `Recorder` never disturbs a command. */
export function recordOutput(backend: Backend, recordings: Recordings): Backend {
  const active = new Map<string, { readonly recorder: Recorder; readonly done: Promise<void> }>();
  const sizes = new Map<string, TerminalSize | undefined>();

  const follow = async (id: string, recorder: Recorder) => {
    for await (const { chunks } of tail(logOf(backend, id), 0, reading)) await recorder.add(chunks);
    const state = await backend.wait(id, 0);
    await recorder.end(state.end ? state.end.exitCode : 0);
  };
  const finish = async (id: string, recorder: Recorder) => {
    active.delete(id);
    await recorder.close();
  };

  return {
    ...backend,
    prepare(spec) {
      sizes.set(spec.id, spec.terminal);
      return backend.prepare(spec);
    },
    async start(id) {
      if (active.has(id)) return backend.start(id);
      // Before the command starts, so that the timing of its first output is right.
      const recorder = await recordings.begin(id, sizes.get(id)).catch(() => undefined);
      try {
        await backend.start(id);
      } catch (error) {
        await recorder?.discard().catch(() => {});
        throw error;
      }
      if (!recorder) return;
      const done = follow(id, recorder)
        .catch(() => {})
        .then(() => finish(id, recorder))
        .catch(() => {});
      active.set(id, { recorder, done });
    },
    async resize(id, size) {
      await backend.resize(id, size);
      await active
        .get(id)
        ?.recorder.resize(size)
        .catch(() => {});
    },
    async dispose(id) {
      sizes.delete(id);
      await active.get(id)?.done;
      await backend.dispose(id);
    },
    async close() {
      // Stops the commands first: `backend.close` deletes the output that their recordings still have to read.
      const states = (await backend.list()).filter(({ outlives }) => !outlives);
      await Promise.all(states.map(({ id }) => backend.stop(id, stopOnClose).catch(() => {})));
      await Promise.all(states.map(({ id }) => active.get(id)?.done));
      await backend.close();
    },
  };
}
