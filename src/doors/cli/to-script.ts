import { NacreError } from '../../contract/failure.ts';
import { commandText } from '../../contract/request.ts';

/** Validates the text of a shell command; throws `invalid_request` if it is empty, too long or has NUL bytes. */
export function toScript(word: string): string {
  const parsed = commandText.safeParse(word);
  if (parsed.success) return parsed.data;
  throw new NacreError('invalid_request', `${parsed.error.issues[0]?.message}.`, {
    hint: 'Correct the command and try again; nothing was run.',
  });
}
