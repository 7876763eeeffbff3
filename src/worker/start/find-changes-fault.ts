import { stopOnClose } from '../../contract/backend.ts';
import { createId } from '../../support/ids.ts';
import type { Starter, StartOptions } from './starter.ts';

/** Starts a shell with a layer, and returns the reason if that fails; no command runs in it. */
export async function findChangesFault(
  starter: Starter,
  cwd: string,
  { exec }: Pick<StartOptions, 'exec'>,
): Promise<string | null> {
  const id = createId('probe');
  const command = { kind: 'shell', script: ':' } as const;
  const spec = { id, command, cwd, env: {}, stdin: 'empty', timeoutMs: null } as const;
  try {
    const { tree, watch } = await starter.start(spec, {
      exec,
      layered: { id, text: ':', mode: 'hold' },
    });
    await tree.end({ ...stopOnClose, signal: 'SIGKILL' });
    tree.release();
    watch.release();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
