import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { StopOptions } from '../../contract/backend.ts';
import { createStopwatch, sleep } from '../../support/timing.ts';
import { sendSignal } from '../processes/process-exit.ts';
import type { ProcessInfo } from '../processes/process-table.ts';
import { abortSignal } from './abort-script.ts';

/** The command that `abortCommand` ends. */
export interface RunningInShell {
  find(): Promise<{ readonly commandProcesses: readonly ProcessInfo[] }>;
  /** True once the shell has reported the end of the command. */
  isOver(): boolean;
}

// How long a shell without child processes may take to report the end: an INT trap of the user may run meanwhile.
const reportMs = 500;

/**
 * Makes a shell abort its command and keep its state, as Ctrl-C does at a prompt: its programs get SIGINT and, where they
 * ignore it, SIGTERM and SIGKILL; the shell runs its own INT trap, and skips what follows. Returns false if the shell does not
 * report the end: it has replaced itself with `exec`, has reset the trap, or is blocked in a builtin.
 */
export async function abortCommand(
  shell: number,
  command: RunningInShell,
  { graceMs }: StopOptions,
): Promise<boolean> {
  if (!catchesAbort(shell)) return false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // First, so that no further step begins when the running program has ended. Again later, but not soon: a second signal ends the
    // user's own INT trap, which may be the reason for the delay.
    if (!command.isOver() && catchesAbort(shell)) sendSignal(shell, abortSignal);
    const { commandProcesses } = await command.find();
    for (const one of commandProcesses) sendSignal(one.pid, isSubstitution(one, shell) ? 'SIGTERM' : signal);
    for (const { pid } of [...commandProcesses, { pid: shell }]) sendSignal(pid, 'SIGCONT');
    if (await isDone(command, graceMs / 2)) return true;
  }
  return isDone(command, reportMs, ({ pid }) => sendSignal(pid, 'SIGKILL'));
}

// bash sends SIGINT to itself when the child of a command substitution was killed by SIGINT, and would exit.
function isSubstitution({ pid, parent }: ProcessInfo, shell: number): boolean {
  if (parent !== shell) return false;
  const output = readLink(`/proc/${pid}/fd/1`);
  return output.startsWith('pipe:') && openFiles(shell).includes(output);
}

async function isDone(
  { find, isOver }: RunningInShell,
  limitMs: number,
  onLeft: (process: ProcessInfo) => void = () => {},
): Promise<boolean> {
  const elapsed = createStopwatch();
  for (let delayMs = 1; ; delayMs = Math.min(delayMs * 2, 50)) {
    const { commandProcesses } = await find();
    if (isOver() && commandProcesses.length === 0) return true;
    // Without a child process the shell has only its own code to run.
    const limit = commandProcesses.length === 0 ? Math.min(limitMs, reportMs) : limitMs;
    if (elapsed() >= limit) return false;
    for (const one of commandProcesses) onLeft(one);
    await sleep(delayMs);
  }
}

// Without the trap, the signal would kill the process.
function catchesAbort(pid: number): boolean {
  try {
    const [, caught = '0'] =
      /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return ((BigInt(`0x${caught}`) >> BigInt(abortSignal - 1)) & 1n) === 1n;
  } catch {
    return false;
  }
}

function openFiles(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => readLink(`/proc/${pid}/fd/${name}`));
  } catch {
    return [];
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
