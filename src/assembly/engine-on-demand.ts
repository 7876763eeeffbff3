import { shuttingDown } from '../contract/failure.ts';
import type { Engine } from '../engine/engine.ts';
import type { Resolved } from '../rules/rules-for.ts';
import { createWholeEngine, type EngineHost } from './create-whole-engine.ts';

/** An engine that is created at the first `open`. */
export interface EngineOnDemand {
  open(): Promise<Engine>;
  /** Kills every command; `open` rejects from then on. */
  close(): Promise<void>;
}

/** Creates the engine at the first `open`. A failure is not cached, so the next call tries again. */
export function engineOnDemand(resolved: Resolved, host: EngineHost): EngineOnDemand {
  let engine: Promise<Engine> | null = null;
  let closed = false;
  const create = async () => {
    const { backends } = await import('../backends/catalog.ts');
    return createWholeEngine(resolved.values, host, backends.local);
  };
  return {
    async open() {
      if (closed) throw shuttingDown();
      engine ??= create().catch((error: unknown) => {
        engine = null;
        throw error;
      });
      return engine;
    },
    async close() {
      closed = true;
      await (await engine?.catch(() => null))?.close();
    },
  };
}
