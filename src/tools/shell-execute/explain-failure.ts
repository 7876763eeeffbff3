import type { Outcome } from '../../contract/outcome.ts';
import { limitHints } from '../limit-hints.ts';

/** Why a command failed, where that is known better than by its exit code; undefined where it is not. */
export function explainFailure(
  outcome: Pick<Outcome, 'cause' | 'exitCode' | 'detail' | 'stderr'>,
): string | undefined {
  const { cause, exitCode, detail, stderr } = outcome;
  if (cause === 'stopped') return 'it was ended before it finished.';
  if (cause !== 'exit' && cause !== 'timeout') {
    return [`${exhausted[cause]} exhausted.`, detail, limitHints[cause]].filter(Boolean).join(' ');
  }
  return exitCode === 0 ? undefined : (fromShell(exitCode, stderr) ?? fromSystem(stderr));
}

const exhausted = {
  oom: 'memory',
  cpu: 'CPU time',
  processes: 'processes',
  file_size: 'disk',
  output_limit: 'output',
  spool_failed: 'output',
} as const;

// bash names the line, the word and the reason: `bash: line 1: nosuch: command not found`.
const complaint = /: line \d+: (.+): ([^:]+)$/;

function fromShell(exitCode: number, stderr: string): string | undefined {
  if (exitCode !== 126 && exitCode !== 127) return undefined;
  const [, word, reason = ''] = last(stderr, (line) => complaint.exec(line)) ?? [];
  if (word === undefined) return undefined;
  if (exitCode === 127)
    return `command not found: ${word}. Check its spelling, and that it is installed and on the PATH.`;
  if (reason === 'Permission denied')
    return `permission denied: ${word} may not be executed. Make it executable with chmod +x, or run it with its interpreter.`;
  return `${word} cannot be executed: ${reason}.`;
}

// What the system refused, in the words of its own error messages.
const signs: readonly (readonly [RegExp, string, string])[] = [
  [
    /Permission denied|Operation not permitted|Read-only file system/,
    'permission denied',
    'Commands have the rights of the user who runs nacre, less what its sandbox takes away.',
  ],
  [/No space left on device|Disk quota exceeded/, 'disk exhausted', 'Free some space, or write elsewhere.'],
  [/fork: .*Resource temporarily unavailable/, 'processes exhausted', limitHints.processes],
  [/Cannot allocate memory/, 'memory exhausted', limitHints.oom],
];

function fromSystem(stderr: string): string | undefined {
  return last(stderr, (line) => {
    const sign = signs.find(([pattern]) => pattern.test(line));
    return sign && `${sign[1]}: ${line.trim().slice(0, longestLine)}. ${sign[2]}`;
  });
}

const longestLine = 300;
const mostLines = 50;

/** What was found in the last line in which something was. */
function last<Found>(text: string, find: (line: string) => Found | null | undefined): Found | undefined {
  for (const line of text.split('\n').slice(-mostLines).reverse()) {
    const found = find(line);
    if (found) return found;
  }
  return undefined;
}
