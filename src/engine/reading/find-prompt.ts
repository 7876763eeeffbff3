import type { Backend } from '../../contract/backend.ts';
import { sanitise } from '../../output/sanitise.ts';

const promptBytes = 4_096;
const promptChars = 500;

/** The line on which a command waits for input; null when it waits for none. */
export async function findPrompt({
  backend,
  id,
}: {
  readonly backend: Pick<Backend, 'read' | 'awaitsInput'>;
  readonly id: string;
}): Promise<string | null> {
  if (!(await backend.awaitsInput(id))) return null;
  const { end } = await backend.read(id, 0, { waitMs: 0, maxBytes: 0 });
  const tail = await backend.read(id, Math.max(0, end - promptBytes), { waitMs: 0, maxBytes: promptBytes });
  const asked = tail.chunks.at(-1)?.stream;
  const own = tail.chunks.filter(({ stream }) => stream === asked).map(({ data }) => data);
  return lastLine(sanitise(Buffer.concat(own))).slice(-promptChars);
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
