import { NacreError } from '../../contract/failure.ts';
import { didYouMean } from '../../settings/nearest.ts';
import type { Arguments, CommandLineAccess, IoAccess } from '../door.ts';
import { print } from '../print.ts';
import { toBashCompletion } from './completion/bash-completion.ts';
import { type DescribedCommandLine, describeCommandLine } from './completion/describe-command-line.ts';
import { toFishCompletion } from './completion/fish-completion.ts';
import { toZshCompletion } from './completion/zsh-completion.ts';

const shells: Readonly<Record<string, (commandLine: DescribedCommandLine) => string>> = {
  bash: toBashCompletion,
  zsh: toZshCompletion,
  fish: toFishCompletion,
};

/** `nacre completions SHELL`. */
export async function completionsDoor({
  io,
  words,
  commandLine,
}: IoAccess & Arguments & CommandLineAccess): Promise<number> {
  const [shell = '', ...more] = words;
  const toScript = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
  if (toScript === undefined || more.length > 0) throw unknown(words);
  await print(io.stdout, toScript(describeCommandLine(commandLine)), io.interrupted);
  return 0;
}

function unknown(words: readonly string[]): NacreError {
  const known = Object.keys(shells);
  const given =
    words.length === 0 ? 'No shell was named.' : `There is no completion script for ${words.join(' ')}.`;
  const message = `${given}${didYouMean(words[0] ?? '', known)}`;
  return new NacreError('invalid_request', message, { hint: `Use one of ${known.join(', ')}.` });
}
