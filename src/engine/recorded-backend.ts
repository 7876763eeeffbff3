import type { Backend } from '../contract/backend.ts';
import type { JobSpec } from '../contract/job.ts';
import type { Recordings } from '../recordings/recordings.ts';

const waitMs = 60_000;
const pieceBytes = 262_144;

/** A backend that keeps what its commands print, with its timing. What goes wrong with that disturbs no command. */
export function recordBackend(backend: Backend, recordings: Recordings): Backend {
  const recording = new Map<string, Promise<void>>();

  const follow = async ({ id, terminal }: JobSpec) => {
    const recorder = await recordings.begin(id, terminal);
    for (let at = 0; ; ) {
      const { chunks, next, end, final } = await backend.read(id, at, { waitMs, maxBytes: pieceBytes });
      await recorder.add(chunks);
      at = next;
      if (final && next === end) break;
    }
    const state = await backend.wait(id, 0);
    await recorder.end(state.end?.exitCode ?? 0);
  };

  return {
    ...backend,
    async start(spec) {
      await backend.start(spec);
      if (recording.has(spec.id)) return;
      const done = follow(spec)
        .catch(() => {})
        .finally(() => recording.delete(spec.id));
      recording.set(spec.id, done);
    },
    async dispose(id) {
      await recording.get(id);
      await backend.dispose(id);
    },
    async close() {
      // Ending the commands ends their recordings; their output is gone once the backend is closed.
      const states = await backend.list();
      const ladder = { signal: 'SIGTERM', graceMs: 500 } as const;
      await Promise.all(states.map(({ id }) => backend.stop(id, ladder).catch(() => {})));
      await Promise.all(recording.values());
      await backend.close();
    },
  };
}
