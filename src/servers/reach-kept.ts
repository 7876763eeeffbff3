import type { Engine } from '../engine/engine.ts';
import { type ControlCall, localUser } from './control-call.ts';
import { performCall } from './perform-call.ts';
import type { ReachedServer } from './reach-servers.ts';

/** An engine for the commands that the detached worker keeps. */
export interface KeptEngine {
  readonly engine: Engine;
  close(): Promise<void>;
}

/** The detached worker in the place of a server, for commands whose server has ended. */
export function toReachedServer({ engine, close }: KeptEngine): ReachedServer {
  const reached: ReachedServer = {
    pid: 'worker',
    call: (call: ControlCall) => performCall(engine, call, localUser),
    reconnect: async () => ({ ...reached, close() {} }),
    close: () => void close(),
  };
  return reached;
}
