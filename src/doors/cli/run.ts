// `nacre run`: streams the command's output and exits with its exit code.
// 1. the arguments become a request, 2. the engine runs it under the user's own rules, 3. notes from nacre go to stderr.
import type { Command } from '../../contract/command.ts';
import { NacreError } from '../../contract/failure.ts';
import type { OutputChunk } from '../../contract/job.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { summariseChanges, toChangesReply } from '../../tools/common/describe-changes.ts';
import type {
  Arguments,
  DisplayAccess,
  EngineAccess,
  FlagAccess,
  Io,
  IoAccess,
  ProcessAccess,
  ReplySettings,
  SettingsAccess,
  UserRules,
} from '../door.ts';
import { exitCodes, failedExit, timedOutExit, toSignalExit } from '../exit-codes.ts';
import { print, toErrorJson, toErrorText } from '../print.ts';
import { decideOnHeld } from './decide-on-held.ts';
import { createLiveLine, type LiveLine } from './live-line.ts';
import { readInput } from './read-input.ts';
import { toScript } from './to-script.ts';

interface Flags {
  readonly json: boolean;
  readonly on?: string | undefined;
  readonly cwd?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly input?: string | undefined;
  readonly hold: boolean;
}

type RunDeps = FlagAccess<Flags> &
  IoAccess &
  Arguments &
  EngineAccess &
  ReplySettings &
  UserRules &
  DisplayAccess &
  Pick<ProcessAccess, 'machine'> &
  Pick<SettingsAccess, 'warnings'>;

/** `nacre run`: runs one command for the local user. */
export async function runDoor(deps: RunDeps): Promise<number> {
  const { io, flags } = deps;
  const { json } = flags;
  for (const warning of deps.warnings) await note(io, `warning: ${warning}`);
  try {
    const outcome = await runCommand(deps);
    if (json) await print(io.stdout, `${JSON.stringify(toDocument(outcome))}\n`, io.interrupted);
    else {
      for (const line of toNotes(outcome)) await note(io, line);
      if (outcome.changes?.state === 'held') await decideOnHeld(deps, outcome.changes);
    }
    return toExitCode(outcome, io.interrupted);
  } catch (error) {
    await (json ? print(io.stdout, toErrorJson(error)) : print(io.stderr, toErrorText(error)));
    if (io.interrupted.aborted) return toSignalExit(io.interrupted.reason, 'SIGTERM');
    return error instanceof NacreError ? exitCodes[error.code] : failedExit;
  } finally {
    await deps.close();
  }
}

async function runCommand(deps: RunDeps): Promise<Outcome> {
  const { io, flags, ownRules, maxOutputChars } = deps;
  const { json } = flags;
  const command = toCommand(deps.words);
  const changes = flags.hold ? 'hold' : undefined;
  const input = await readInput(flags.input, io.stdin, io.interrupted);
  const engine = await deps.engine();
  const line = json || !isTerminal(deps) ? undefined : createLiveLine(io.stderr);
  try {
    return await engine.run(
      {
        ...{ command, on: flags.on, input, cwd: flags.cwd, timeoutMs: flags.timeoutMs ?? null },
        ...{ maxOutputChars, changes },
      },
      {
        ...ownRules,
        caller: { door: 'cli', client: 'nacre run' },
        howToGetRest: 'Raise --max-output-chars to see more.',
        signal: io.interrupted,
        ...(!json && { onOutput: (chunks) => forward(io, chunks, line) }),
        onUsage: line?.showUsage,
      },
    );
  } finally {
    line?.close();
  }
}

// The live line is erased with escape sequences, which a pipe or TERM=dumb does not support.
function isTerminal({ io: { stdout, stderr }, machine }: RunDeps): boolean {
  const areTerminals = [stdout, stderr].every((stream) => 'isTTY' in stream && stream.isTTY === true);
  return areTerminals && machine.env.TERM !== 'dumb';
}

function toCommand(words: readonly string[]): Command {
  const [first, ...rest] = words;
  if (first === undefined) {
    throw new NacreError('invalid_request', 'No command was given.', {
      hint: "Try: nacre run 'echo hello'",
    });
  }
  if (rest.length > 0) return { kind: 'argv', argv: [first, ...rest] };
  return { kind: 'shell', script: toScript(first) };
}

// `data` is forwarded unchanged, because stdout may be a file or a pipe to another program.
async function forward(
  { stdout, stderr, interrupted }: Io,
  chunks: readonly OutputChunk[],
  line: LiveLine | undefined,
): Promise<void> {
  for (const { stream, data } of chunks) {
    const before = line?.beforeOutput(data) ?? '';
    if (before !== '') await print(stderr, before, interrupted);
    await print(stream === 'stdout' ? stdout : stderr, data, interrupted);
  }
}

function note({ stderr, interrupted }: Io, text: string): Promise<void> {
  return print(stderr, `nacre: ${text}\n`, interrupted);
}

// If SIGINT or SIGTERM to nacre stopped the command, the exit code is that of the signal, as if the command had
// received it.
function toExitCode({ cause, exitCode }: Outcome, interrupted: AbortSignal): number {
  if (cause === 'timeout') return timedOutExit;
  return cause === 'stopped' ? toSignalExit(interrupted.reason, 'SIGTERM') : (exitCode ?? failedExit);
}

function toDocument(outcome: Outcome): Record<string, unknown> {
  return {
    id: outcome.id,
    exit_code: outcome.cause === 'timeout' ? null : outcome.exitCode,
    stdout: outcome.stdout,
    stderr: outcome.stderr,
    signal: outcome.signal,
    status: outcome.status,
    cause: outcome.cause,
    detail: outcome.detail,
    truncated: outcome.truncated,
    duration_ms: outcome.durationMs,
    cwd: outcome.cwd,
    resources: outcome.resources,
    left_running: outcome.leftRunning,
    still_running: outcome.survivors,
    denied_hosts: outcome.deniedHosts,
    withheld_env: outcome.exitCode === 0 ? [] : outcome.withheldEnv,
    ...(outcome.changes && { changes: toChangesReply(outcome.changes) }),
    warnings: outcome.warnings,
  };
}

function toNotes(outcome: Outcome): readonly string[] {
  const { cause, detail, leftRunning, survivors, withheldEnv, warnings, exitCode } = outcome;
  const names = (processes: Outcome['survivors']) =>
    processes.map((one) => `${one.command} (${one.pid})`).join(', ');
  return [
    cause === 'timeout' ? 'the command timed out and was killed.' : '',
    detail ?? '',
    leftRunning.length > 0 ? `killed when the command ended: ${names(leftRunning)}.` : '',
    survivors.length > 0 ? `could not be killed: ${names(survivors)}.` : '',
    exitCode !== 0 && withheldEnv.length > 0 ? `not passed to the command: ${withheldEnv.join(', ')}.` : '',
    ...(outcome.changes ? [summariseChanges(outcome.changes)] : []),
    ...warnings,
  ].filter((line) => line !== '');
}
