import { shuttingDown } from '../contract/failure.ts';
import type { Engine } from '../engine/engine.ts';
import type { Resolved } from '../rules/rules-for.ts';
import { createWholeEngine, type EngineHost } from './create-whole-engine.ts';

/** An engine that is made at its first use. */
export interface EngineOnDemand {
  open(): Promise<Engine>;
  /** Ends every command; from then on thost is no engine. */
  close(): Promise<void>;
}

/** Makes an engine when somebody first wants one. A failure is not kept: the next command finds out whether its cause is gone. */
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
