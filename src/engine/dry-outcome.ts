import type { Command } from '../contract/command.ts';
import type { Outcome } from '../contract/outcome.ts';

/** The outcome of a command that may run and was not. */
export function dryOutcome(id: string, command: Command, cwd: string): Outcome {
  const text = command.kind === 'shell' ? command.script : command.argv.join(' ');
  const stdout = `[Dry Run] Would execute: ${text}\n`;
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
