import { type Command, showCommand } from '../../contract/command.ts';
import type { Outcome } from '../../contract/outcome.ts';

/** The outcome of a command that may run and was not. */
export function dryOutcome(id: string, command: Command, cwd: string): Outcome {
  const stdout = `[Dry Run] Would execute: ${showCommand(command)}\n`;
  return {
    id,
    status: 'completed',
    cause: 'exit',
    exitCode: 0,
    signal: null,
    detail: null,
    cwd,
    durationMs: 0,
    stdout,
    stderr: '',
    stdoutBytes: 0,
    stderrBytes: 0,
    truncated: false,
    leftRunning: [],
    kept: [],
    survivors: [],
    deniedHosts: [],
    withheldEnv: [],
    enforcement: null,
    resources: null,
    warnings: [],
  };
}
