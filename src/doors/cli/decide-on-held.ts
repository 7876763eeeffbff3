import type { CommandChanges } from '../../contract/changes.ts';
import { NacreError } from '../../contract/failure.ts';
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
  if (!ask)
    return print(
      io.stderr,
      `nacre: apply them with nacre apply ${id}, or forget them with nacre discard ${id}.\n`,
    );
  try {
    const answer = await ask.one('Apply these changes? [y]es, [n]o, [l]ater: ', parseAnswer);
    if (answer === 'later') return;
    const result = await (answer === 'yes'
      ? changes.apply({ id }, context)
      : changes.discard({ id }, context));
    const left = result.conflicts.map(
      (path) => `nacre: not replaced, because it was changed since: ${path}\n`,
    );
    await print(
      io.stderr,
      `nacre: the changes are ${answer === 'yes' ? result.state : 'discarded'}.\n${left.join('')}`,
    );
  } finally {
    ask.close();
  }
}

function parseAnswer(text: string): 'yes' | 'no' | 'later' {
  const found = (['yes', 'no', 'later'] as const).find(
    (word) => text !== '' && word.startsWith(text.toLowerCase()),
  );
  if (found === undefined)
    throw new NacreError('invalid_request', 'Answer y, n or l.', { hint: 'l leaves the changes held.' });
  return found;
}
