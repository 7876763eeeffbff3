// POST /api/shell: a program with its arguments, no shell in between.
// 1. the body is checked, 2. the engine runs it under the caller's rules and gathers all of its output,
// 3. whatever it came to is an answer: only a limit that ended it is a failure.
import { z } from 'zod';
import type { Outcome } from '../../contract/outcome.ts';
import { commandText, directoryText, maxArguments, plainText } from '../../contract/request.ts';
import type { Engine } from '../../engine/engine.ts';
import { receive } from '../../tools/receive.ts';
import type { HttpSettings } from '../settings.ts';
import type { HttpCaller } from './callers.ts';
import type { History } from './history.ts';

/** The body of the request. */
export const shellRequest = z.strictObject({
  command: commandText.describe('The program to run.'),
  args: z
    .array(plainText('an argument'))
    .max(maxArguments)
    .default([])
    .describe('Its arguments; no shell reads them.'),
  cwd: directoryText('cwd')
    .refine((path) => path.startsWith('/'), 'cwd must be an absolute path')
    .optional()
    .describe("Absolute directory to run in; the server's own when left out."),
});

/** What a command came to, on the wire. */
interface ShellAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Runs what the body asks for and tells what it came to. */
export async function postShell(
  body: unknown,
  caller: HttpCaller,
  {
    engine,
    limits,
    signal,
    history,
  }: {
    readonly engine: Engine;
    readonly limits: Pick<HttpSettings, 'execTimeoutMs' | 'execMaxBufferBytes'>;
    readonly signal: AbortSignal;
    readonly history: History;
  },
): Promise<ShellAnswer> {
  const { command, args, cwd } = receive('POST /api/shell', shellRequest, body);
  const done = history.begin(caller, [command, ...args].join(' '));
  const outcome = await engine
    .run(
      {
        command: { kind: 'argv', argv: [command, ...args] },
        cwd,
        timeoutMs: limits.execTimeoutMs,
        maxOutputChars: limits.execMaxBufferBytes,
        maxStreamBytes: limits.execMaxBufferBytes,
      },
      { ...caller.rules, caller: { door: 'http', client: caller.client }, howToGetRest: '', signal },
    )
    .catch((error: unknown) => {
      done('not run');
      throw error;
    });
  done(outcome.cause === 'exit' ? `exit ${outcome.exitCode}` : outcome.cause);
  return toAnswer(outcome, limits.execTimeoutMs);
}

function toAnswer(outcome: Outcome, timeoutMs: number): ShellAnswer {
  const { stdout, stderr, exitCode, signal, truncated, durationMs, id, cause, detail } = outcome;
  const more = {
    id,
    duration_ms: durationMs,
    ...(signal !== null && { signal }),
    ...(truncated && { truncated }),
  };
  if (cause === 'exit' || cause === 'stopped')
    return { status: 200, body: { stdout, stderr, code: exitCode, ...more } };
  const timedOut = `The command timed out after ${timeoutMs} ms and was ended.`;
  const error = cause === 'timeout' ? timedOut : (detail ?? `The command was ended: ${cause}.`);
  return { status: cause === 'timeout' ? 408 : 500, body: { error, stdout, stderr, ...more } };
}
