import type { CommandChanges } from '../../contract/changes.ts';
import { NacreError } from '../../contract/failure.ts';
import { toOneLine } from '../../support/escape-controls.ts';
import { createAsk } from '../ask.ts';
import type { DisplayAccess, EngineAccess, IoAccess } from '../door.ts';
import { print } from '../print.ts';
import { showLimits, toDiffText } from './to-diff-text.ts';

const context = { caller: { door: 'cli', client: 'nacre run' } } as const;

/** Shows held changes and, at a terminal, asks whether to apply or discard them. */
export async function decideOnHeld(
  { io, engine, display }: IoAccess & EngineAccess & DisplayAccess,
  { id }: CommandChanges,
): Promise<void> {
  const { changes } = await engine();
  const shown = await changes.show({ id }, showLimits, context);
  await print(io.stderr, toDiffText(shown, display), io.interrupted);
  const ask = createAsk(io);
  const later = `nacre: apply them with nacre apply ${id}, or forget them with nacre discard ${id}.\n`;
  if (!ask) return print(io.stderr, later);
  try {
    const answer = await ask.one('Apply these changes? [y]es, [n]o, [l]ater: ', parseAnswer).catch(asLater);
    if (answer === 'later') return await print(io.stderr, later);
    const result = await (answer === 'yes'
      ? changes.apply({ id }, context)
      : changes.discard({ id }, context));
    const left = result.conflicts.map(
      (path) => `nacre: not replaced, because it was changed since: ${toOneLine(path)}\n`,
    );
    await print(
      io.stderr,
      `nacre: the changes are ${answer === 'yes' ? result.state : 'discarded'}.\n${left.join('')}`,
    );
  } finally {
    ask.close();
  }
}

// Ctrl-C and Ctrl-D reject the question with `cancelled`; the changes stay held.
function asLater(error: unknown): 'later' {
  if (error instanceof NacreError && error.code === 'cancelled') return 'later';
  throw error;
}

function parseAnswer(text: string): 'yes' | 'no' | 'later' {
  const found = (['yes', 'no', 'later'] as const).find(
    (word) => text !== '' && word.startsWith(text.toLowerCase()),
  );
  if (found === undefined)
    throw new NacreError('invalid_request', 'Answer y, n or l.', { hint: 'l leaves the changes held.' });
  return found;
}
