import type { ExecList } from '../../contract/isolation.ts';
import type { Elsewhere } from '../../contract/wire.ts';
import type { Road } from '../../wire/road.ts';

/** Options of `createRemoteBackend`. */
export interface RemoteOptions {
  readonly road: Road;
  readonly build: string;
  readonly mode: 'use' | 'view';
  /** The worker's options as plain data. */
  readonly options: Readonly<Record<string, unknown>>;
  execAllow(): ExecList | undefined;
  readonly orphanMs: number;
  readonly tombstoneMs: number;
  /** How long the worker waits for a new stream before it ends commands that do not outlive a broken one. */
  readonly graceMs: number;
  /** True if `close` also ends jobs that outlive a broken stream, because no later process calls `takeUp` for them. */
  readonly endsAll?: boolean | undefined;
  /** Present if the worker is on another machine. */
  readonly elsewhere?: Elsewhere | undefined;
}
