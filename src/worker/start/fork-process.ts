import { closeSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TerminalSize } from '../../contract/job.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { type NamedFifo, openNamedForWriting, openReaders, unlinkIfPresent } from '../io/fifo-pool.ts';
import { type Forked, type ForkServer, NotForkedError } from '../supervision/fork-server.ts';
import type { ForkFile } from '../supervision/fork-server-script.ts';
import { killHolders } from '../supervision/kill-holders.ts';
import type { PtyBinary } from '../terminal/load-pty.ts';
import { openTerminal } from '../terminal/open-terminal.ts';
import {
  bashFlags,
  maxArgumentBytes,
  type ProcessPlan,
  readScript,
  type StartedProcess,
  withPrelude,
} from './start-process.ts';

/**
 * Starts a command through the fork server, which reaps it and its orphans. Returns undefined if it was not started, so that
 * `spawn` can be tried, which also explains the failure.
 */
export async function forkProcess(
  forkServer: ForkServer,
  requested: ProcessPlan,
): Promise<StartedProcess | undefined> {
  if (!forkServer.isAvailable) return undefined;
  const plan = withPrelude(requested);
  const ends = openOwnEnds(plan.fifos);
  const { stdout, stderr, stdin, files } = ends;
  try {
    const started = await forkCommand(forkServer, plan, files);
    for (const name of plan.fifos) unlinkIfPresent(name);
    return { ...started, stdout, stderr, stdin: stdin?.ours ?? null };
  } catch (error) {
    const isNotStarted = error instanceof NotForkedError;
    if (!isNotStarted) await killHolders(stdout);
    for (const fd of [stdout, stderr, ...(stdin ? [stdin.ours] : [])]) closeSync(fd);
    if (isNotStarted) return undefined;
    for (const name of plan.fifos) unlinkIfPresent(name);
    throw error;
  } finally {
    if (stdin) closeSync(stdin.holder);
  }
}

interface OwnEnds {
  readonly stdout: number;
  readonly stderr: number;
  readonly stdin: NamedFifo | undefined;
  readonly files: readonly ForkFile[];
}

function openOwnEnds(names: readonly string[]): OwnEnds {
  const [out = '', err = '', input] = names;
  const opened: number[] = [];
  try {
    opened.push(...openReaders(out, err));
    const stdin = input === undefined ? undefined : openNamedForWriting(input);
    const [stdout = -1, stderr = -1] = opened;
    const files = [
      { fd: 0, open: 'read', path: input ?? '/dev/null' },
      { fd: 1, open: 'write', path: out },
      { fd: 2, open: 'write', path: err },
    ] as const;
    return { stdout, stderr, stdin, files };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    for (const name of names) unlinkIfPresent(name);
    throw error;
  }
}

async function forkCommand(
  forkServer: ForkServer,
  { command, bashPath, env, cwd, scriptPath }: ProcessPlan,
  files: readonly ForkFile[],
): Promise<Forked> {
  if (command.kind === 'argv') return forkServer.start({ argv: command.argv, env, cwd, files });
  const { script } = command;
  if (Buffer.byteLength(script) <= maxArgumentBytes)
    return forkServer.start({ argv: [bashPath, ...bashFlags, '--', script], env, cwd, files });
  makeFolder(dirname(scriptPath));
  try {
    writeFileSync(scriptPath, script, { mode: 0o600 });
    const withScript = [...files, { fd: 3, open: 'read', path: scriptPath } as const];
    return await forkServer.start({
      argv: [bashPath, ...bashFlags, readScript],
      env,
      cwd,
      files: withScript,
    });
  } finally {
    rmSync(scriptPath, { force: true });
  }
}

/** Starts a program in the session of a new terminal through the fork server; undefined if it was not started. */
export async function forkAtTerminal(
  forkServer: ForkServer,
  program: { readonly argv: readonly string[] } & Pick<ProcessPlan, 'env' | 'cwd'>,
  pty: PtyBinary,
  size: TerminalSize,
): Promise<StartedProcess | undefined> {
  if (!forkServer.isAvailable) return undefined;
  const terminal = openTerminal(pty, size);
  try {
    const path = readlinkSync(`/proc/self/fd/${terminal.slave}`);
    const files = [0, 1, 2].map((fd) => ({ fd, open: 'terminal', path }) as const);
    const started = await forkServer.start({ ...program, files });
    const { master } = terminal;
    return { ...started, stdout: master, stderr: master, stdin: null, terminal };
  } catch (error) {
    if (!(error instanceof NotForkedError)) await killHolders(terminal.slave);
    terminal.discard();
    if (error instanceof NotForkedError) return undefined;
    throw error;
  } finally {
    terminal.closeSlave();
  }
}
