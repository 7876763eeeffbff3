import type { Backend } from '../../contract/backend.ts';
import type { Resources } from '../../contract/limits.ts';

const everySecond = 1_000;

/** Tells about once a second what the tree of a job has used so far, until it is let go. */
export function watchUsage(
  backend: Pick<Backend, 'wait'>,
  id: string,
  onUsage: (used: Resources) => void,
): () => void {
  let stopped = false;
  const look = async () => {
    const { resources } = await backend.wait(id, 0);
    // A look may outlast the command, and after its answer there is nothing to tell.
    if (!stopped && resources !== null) onUsage(resources);
  };
  const timer = setInterval(() => void look().catch(() => {}), everySecond);
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
