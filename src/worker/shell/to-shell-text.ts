import type { JobSpec } from '../../contract/job.ts';
import { quote } from '../../support/quote.ts';

// Longer texts go by file: a pipe takes only so much at once.
const maxTextBytes = 8_192;

/** What a text is made with. */
export interface TextMeans {
  /** The canonical directory in which the shell stands; null where that has no path any more. */
  readonly standsIn: string | null;
  /** Puts a long text where the shell can read it; gives its path. */
  writeScript(script: string): string;
}

/** The text of a command for a persistent shell, with what has to be done before it, all on the command's first line. */
export function toShellText({ command, cwd, env }: JobSpec, { standsIn, writeScript }: TextMeans): string {
  const script = command.kind === 'shell' ? command.script : `exec -- ${command.argv.map(quote).join(' ')}`;
  const exports = Object.entries(env).map(([name, value]) => `builtin export ${name}=${quote(value)}; `);
  const move = cwd === standsIn ? '' : `builtin cd -- ${quote(cwd)} && `;
  const isLong = Buffer.byteLength(script) > maxTextBytes;
  if (exports.length === 0 && move === '' && !isLong) return script;
  const words = isLong ? toReadingWord(writeScript(script)) : quote(script);
  return `${exports.join('')}${move}builtin eval -- ${words}`;
}

/** A word of bash that stands for the content of a file. */
export function toReadingWord(path: string): string {
  return `"$(<${quote(path)})"`;
}
