import { NacreError } from '../../contract/failure.ts';
import { didYouMean } from '../../settings/nearest.ts';
import type { Arguments, CommandLineAccess, IoAccess } from '../door.ts';
import { write } from '../say.ts';
import { toBash } from './completion/bash-completion.ts';
import { describeLine, type Line } from './completion/describe-command-line.ts';
import { toFish } from './completion/fish-completion.ts';
import { toZsh } from './completion/zsh-completion.ts';

const shells: Readonly<Record<string, (line: Line) => string>> = { bash: toBash, zsh: toZsh, fish: toFish };

/** Prints the script with which a shell completes nacre's command line. */
export async function completionsDoor({
  io,
  words,
  commandLine,
}: IoAccess & Arguments & CommandLineAccess): Promise<number> {
  const [shell = '', ...more] = words;
  const toScript = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
  if (toScript === undefined || more.length > 0) throw unknown(words);
  await write(io.stdout, toScript(describeLine(commandLine)), io.interrupted);
  return 0;
}

function unknown(words: readonly string[]): NacreError {
  const known = Object.keys(shells);
  const given =
    words.length === 0 ? 'No shell is named.' : `There are no completions for ${words.join(' ')}.`;
  const message = `${given}${didYouMean(words[0] ?? '', known)}`;
  return new NacreError('invalid_request', message, { hint: `Name one of ${known.join(', ')}.` });
}
