import type { HttpCaller } from './callers.ts';
import type { AppParts } from './create-app.ts';
import { inLine } from './line.ts';
import { postShell } from './post-shell.ts';
import { readJson } from './read-body.ts';
import type { Received } from './received.ts';

/** Serves one POST /api/shell, from its body to its answer. */
export async function serveShell(
  parts: AppParts,
  caller: HttpCaller,
  { incoming, signal, send }: Received,
): Promise<Response> {
  const { line, history, settings: limits } = parts;
  const asked = await readJson(incoming);
  return inLine(line, caller, signal, async () => {
    await parts.refresh();
    const engine = await parts.engine();
    const { status, body } = await postShell(asked, caller, { engine, limits, signal, history });
    return send(status, body);
  });
}
