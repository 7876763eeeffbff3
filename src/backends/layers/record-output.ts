import type { Backend } from '../../contract/backend.ts';
import type { Recorder, Recordings } from '../../recordings/recordings.ts';

const waitMs = 60_000;
const pieceBytes = 262_144;

/** A backend that keeps what its commands print, with its timing. What goes wrong with that disturbs no command. */
export function recordBackend(backend: Backend, recordings: Recordings): Backend {
  const recording = new Map<string, { readonly recorder: Recorder; readonly done: Promise<void> }>();

  const follow = async (id: string, recorder: Recorder) => {
    for (let at = 0; ; ) {
      const { chunks, next, end, final } = await backend.read(id, at, { waitMs, maxBytes: pieceBytes });
      await recorder.add(chunks);
      at = next;
      if (final && next === end) break;
    }
    const state = await backend.wait(id, 0);
    await recorder.end(state.end?.exitCode ?? 0);
  };
  const letGo = async (id: string, recorder: Recorder) => {
    recording.delete(id);
    await recorder.close();
  };

  return {
    ...backend,
    async start(spec) {
      const { id, terminal } = spec;
      if (recording.has(id)) return backend.start(spec);
      // Before the command, whose first words would otherwise be heard too late.
      const recorder = await recordings.begin(id, terminal).catch(() => undefined);
      try {
        await backend.start(spec);
      } catch (error) {
        await recorder?.discard().catch(() => {});
        throw error;
      }
      if (!recorder) return;
      const done = follow(id, recorder)
        .catch(() => {})
        .then(() => letGo(id, recorder))
        .catch(() => {});
      recording.set(id, { recorder, done });
    },
    async resize(id, size) {
      await backend.resize(id, size);
      await recording
        .get(id)
        ?.recorder.resize(size)
        .catch(() => {});
    },
    async dispose(id) {
      await recording.get(id)?.done;
      await backend.dispose(id);
    },
    async close() {
      // Ending the commands ends their recordings; their output is gone once the backend is closed.
      const states = await backend.list();
      const ladder = { signal: 'SIGTERM', graceMs: 500 } as const;
      await Promise.all(states.map(({ id }) => backend.stop(id, ladder).catch(() => {})));
      await Promise.all([...recording.values()].map(({ done }) => done));
      await backend.close();
    },
  };
}
