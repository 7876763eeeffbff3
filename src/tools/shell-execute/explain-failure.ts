import type { Outcome } from '../../contract/outcome.ts';
import { describeLimit, limitHints } from '../common/describe-outcome.ts';

/** Explains why a command failed; undefined if neither the cause nor stderr adds anything to the exit code. */
export function explainFailure(
  outcome: Pick<Outcome, 'cause' | 'exitCode' | 'detail' | 'stderr'>,
): string | undefined {
  const { cause, exitCode, detail, stderr } = outcome;
  if (cause === 'stopped') return 'it was stopped before it finished.';
  if (cause !== 'exit' && cause !== 'timeout') return `${describeLimit(cause, detail)} ${limitHints[cause]}`;
  return exitCode === 0 ? undefined : (fromShell(exitCode, stderr) ?? fromSystem(stderr));
}

// bash reports the line, the word and the reason: `bash: line 1: nosuch: command not found`.
const shellError = /: line \d{1,9}: ([^\n]{1,400}): ([^:]{1,200})$/;

function fromShell(exitCode: number | null, stderr: string): string | undefined {
  if (exitCode !== 126 && exitCode !== 127) return undefined;
  const [, word, reason = ''] = findInLastLines(stderr, (line) => shellError.exec(line)) ?? [];
  if (word === undefined) return undefined;
  if (exitCode === 127)
    return `command not found: ${word}. Check its spelling, and that it is installed and on the PATH.`;
  if (reason === 'Permission denied')
    return `permission denied: ${word} is not executable. Make it executable with chmod +x, or run it with its interpreter.`;
  return `${word} cannot be executed: ${reason}.`;
}

// Messages of `strerror`, as programs print them.
const systemErrors: readonly (readonly [RegExp, string, string])[] = [
  [
    /Permission denied|Operation not permitted|Read-only file system/,
    'permission denied',
    'Commands have the permissions of the user who runs nacre, minus what its sandbox denies.',
  ],
  [/No space left on device|Disk quota exceeded/, 'disk exhausted', 'Free some space, or write elsewhere.'],
  [/fork: .{0,200}Resource temporarily unavailable/, 'processes exhausted', limitHints.processes],
  [/Cannot allocate memory/, 'memory exhausted', limitHints.oom],
];

function fromSystem(stderr: string): string | undefined {
  return findInLastLines(stderr, (line) => {
    const known = systemErrors.find(([pattern]) => pattern.test(line));
    return known && `${known[1]}: ${line.trim().slice(0, maxLineChars)}. ${known[2]}`;
  });
}

const maxLineChars = 300;
const maxLines = 50;

/** Applies `find` to the last lines, last one first, and returns its first result. */
function findInLastLines<Found>(
  text: string,
  find: (line: string) => Found | null | undefined,
): Found | undefined {
  for (const line of text.split('\n').slice(-maxLines).reverse()) {
    const found = find(line);
    if (found) return found;
  }
  return undefined;
}
