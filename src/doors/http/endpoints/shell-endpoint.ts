// POST /api/shell runs a program with its arguments, without a shell:
// 1. `readJson` reads the body, 2. the call waits in the fair queue, 3. the engine runs it under the caller's rules and
// collects its output, 4. every exit is 200; only a limit that ended the command is an error.
import { z } from 'zod';
import { changesModes } from '../../../contract/changes.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { Outcome } from '../../../contract/outcome.ts';
import {
  commandText,
  directoryText,
  envMap,
  inputText,
  maxArguments,
  plainText,
} from '../../../contract/request.ts';
import type { Engine } from '../../../engine/engine.ts';
import { receive } from '../../../tools/common/define-tool.ts';
import { toChangesReply } from '../../../tools/common/describe-changes.ts';
import { describeEnd } from '../../../tools/common/describe-outcome.ts';
import type { HttpSettings } from '../../settings.ts';
import { type HttpCaller, toCaller } from '../access/callers.ts';
import type { FairQueue } from '../requests/fair-queue.ts';
import { type Exchange, type Reply, toJsonReply } from '../requests/raw-http.ts';
import { readJson } from '../requests/read-body.ts';

/** The fields that POST /api/shell and `shell.run` share. */
export const programFields = {
  command: commandText.describe('The program to run.'),
  args: z
    .array(plainText('an argument'))
    .max(maxArguments)
    .default([])
    .describe('Its arguments; no shell interprets them.'),
  on: z
    .string()
    .max(32)
    .optional()
    .describe(
      'The machine to run on: a name in the setting machines, or local; default_machine when omitted.',
    ),
  cwd: directoryText('cwd')
    .refine((path) => path.startsWith('/'), 'cwd must be an absolute path')
    .optional()
    .describe("Absolute directory to run in; the server's own when omitted."),
  env: envMap.optional().describe('Additional environment variables.'),
};

/** The schema of the body. */
export const shellRequest = z.strictObject({
  ...programFields,
  stdin: inputText.optional().describe('Text for stdin; empty by default.'),
  timeout_ms: z
    .int()
    .min(1)
    .max(86_400_000)
    .optional()
    .describe('Kills the command after this time; EXEC_TIMEOUT_MS is both the default and the maximum.'),
  changes: z
    .enum(changesModes)
    .optional()
    .describe('How it changes files: direct, track or hold; only stricter than the setting.'),
});

/** Dependencies of `runShell`. */
export interface ShellDeps {
  readonly engine: () => Promise<Engine>;
  /** Applies changed settings before the command is judged. */
  readonly refresh: () => Promise<void>;
  readonly settings: Pick<HttpSettings, 'execTimeoutMs' | 'execMaxBufferBytes'>;
  readonly queue: FairQueue;
}

/** Serves one POST /api/shell. */
export async function runShell(
  deps: ShellDeps,
  caller: HttpCaller,
  { incoming, signal }: Pick<Exchange, 'incoming' | 'signal'>,
): Promise<Reply> {
  const body = await readJson(incoming);
  return deps.queue.run(caller.owner, caller.rules.share, signal, async () => {
    await deps.refresh();
    const request = receive('POST /api/shell', shellRequest, body);
    const timeoutMs = toTimeoutMs(request.timeout_ms, deps.settings);
    return toReply(await runProgram(deps, { ...request, timeoutMs }, caller, signal), timeoutMs);
  });
}

function toTimeoutMs(given: number | undefined, { execTimeoutMs }: ShellDeps['settings']): number {
  if (given === undefined || given <= execTimeoutMs) return given ?? execTimeoutMs;
  const message = `timeout_ms must be at most ${execTimeoutMs}, the value of EXEC_TIMEOUT_MS, not ${given}.`;
  throw new NacreError('invalid_request', message, {
    hint: 'Pass a shorter time, or stream the command over the WebSocket; nothing was run.',
  });
}

async function runProgram(
  { engine, settings }: ShellDeps,
  request: z.output<typeof shellRequest> & { readonly timeoutMs: number },
  caller: HttpCaller,
  signal: AbortSignal,
): Promise<Outcome> {
  const { command, args, on, cwd, env, stdin, timeoutMs, changes } = request;
  return (await engine()).run(
    {
      command: { kind: 'argv', argv: [command, ...args] },
      on,
      cwd,
      env,
      input: stdin,
      timeoutMs,
      changes,
      maxOutputChars: settings.execMaxBufferBytes,
      maxStreamBytes: settings.execMaxBufferBytes,
    },
    {
      ...caller.rules,
      caller: toCaller(caller),
      room: caller.owner,
      howToGetRest: '',
      signal,
    },
  );
}

function toReply(outcome: Outcome, timeoutMs: number): Reply {
  const { stdout, stderr, exitCode, signal, truncated, durationMs, id, cause, warnings } = outcome;
  const more = {
    id,
    duration_ms: durationMs,
    ...(signal !== null && { signal }),
    ...(truncated && { truncated }),
    ...(outcome.changes && { changes: toChangesReply(outcome.changes) }),
    ...(warnings.length > 0 && { warnings }),
  };
  if (cause === 'exit' || cause === 'stopped')
    return toJsonReply(200, { stdout, stderr, code: exitCode, ...more });
  const end = describeEnd(outcome, `${timeoutMs} ms`);
  const isTimeout = cause === 'timeout';
  const error = isTimeout ? `${end} and was killed.` : end;
  return toJsonReply(isTimeout ? 408 : 500, { error, stdout, stderr, ...more });
}
