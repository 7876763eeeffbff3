import { shuttingDown } from '../contract/failure.ts';
import type { Engine } from '../engine/engine.ts';
import { createDeferred } from '../support/timing.ts';
import { type ControlCall, localUser } from './control-call.ts';
import { performCall } from './perform-call.ts';
import type { ReachedServer } from './reach-servers.ts';

/** An engine for the commands that the detached worker keeps. */
export interface KeptEngine {
  readonly engine: Engine;
  close(): Promise<void>;
}

/** Reaches the detached worker like a server, for commands whose server has ended. */
export function toReachedServer({ engine, close }: KeptEngine): ReachedServer {
  const closed = createDeferred<never>();
  closed.promise.catch(() => {});
  // A read that waits for output must not keep `nacre attach` from detaching.
  const call = (call: ControlCall) => Promise.race([performCall(engine, call, localUser), closed.promise]);
  return {
    pid: 'worker',
    call,
    reconnect: async () => ({ ...toReachedServer({ engine, close }), close() {} }),
    close() {
      closed.reject(shuttingDown());
      void close();
    },
  };
}
