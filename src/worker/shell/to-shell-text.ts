import type { JobSpec } from '../../contract/job.ts';
import { quote } from '../../support/quote.ts';

// Longer texts are passed in a file, so that a request always fits into the buffer of the pipe.
const maxTextBytes = 8_192;

/** The state of the shell that `toShellText` needs. */
export interface ShellTextDeps {
  /** The shell's canonical directory; `null` when it has no path any more. */
  readonly currentDirectory: string | null;
  writeScript(script: string): string;
}

/**
 * The text of a command for a persistent shell, with its exports and `cd` before it. They are on the command's first
 * line, so that `$LINENO` counts from the command.
 */
export function toShellText({ command, cwd, env }: JobSpec, deps: ShellTextDeps): string {
  const script = command.kind === 'shell' ? command.script : `exec -- ${command.argv.map(quote).join(' ')}`;
  const exports = Object.entries(env).map(([name, value]) => `builtin export ${name}=${quote(value)}; `);
  const cd = cwd === deps.currentDirectory ? '' : `builtin cd -- ${quote(cwd)} && `;
  const isLong = Buffer.byteLength(script) > maxTextBytes;
  if (exports.length === 0 && cd === '' && !isLong) return script;
  const words = isLong ? toFileExpansion(deps.writeScript(script)) : quote(script);
  return `${exports.join('')}${cd}builtin eval -- ${words}`;
}

/** A bash word, `"$(<PATH)"`, that expands to the content of a file. */
export function toFileExpansion(path: string): string {
  return `"$(<${quote(path)})"`;
}
