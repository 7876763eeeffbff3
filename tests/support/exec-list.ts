import type { ExecList } from '../../src/contract/isolation.ts';
import { toExecList } from '../../src/policy/to-exec-list.ts';

/** `WorkerOptions.execAllow` for these programs. */
export function execAllowOf(names: readonly string[] | undefined): () => ExecList | undefined {
  const list = names && toExecList(names);
  return () => list;
}
