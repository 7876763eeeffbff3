import type { KeptCommands } from '../door.ts';
import { performCall } from './answer-request.ts';
import { type ControlCall, localUser } from './control-call.ts';
import type { ReachedServer } from './reach-servers.ts';

/** The detached worker in the place of a server, for commands whose server has ended. */
export function toReachedServer({ engine, close }: KeptCommands): ReachedServer {
  const reached: ReachedServer = {
    pid: 'worker',
    call: (call: ControlCall) => performCall(engine, call, localUser),
    reconnect: async () => ({ ...reached, close() {} }),
    close: () => void close(),
  };
  return reached;
}
