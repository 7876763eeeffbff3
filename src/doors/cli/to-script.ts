import { NacreError } from '../../contract/failure.ts';
import { commandText } from '../../contract/request.ts';

/** The text of a shell command as it stands on a command line; says what is wrong with one that cannot be taken. */
export function toScript(word: string): string {
  const parsed = commandText.safeParse(word);
  if (parsed.success) return parsed.data;
  throw new NacreError('invalid_request', `${parsed.error.issues[0]?.message}.`, {
    hint: 'Correct it and try again; nothing was run.',
  });
}
