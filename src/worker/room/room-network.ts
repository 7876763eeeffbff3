import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Server } from 'node:net';
import { settlesWithin } from '../../support/timing.ts';
import { withoutInherited } from '../io/inherited-descriptors.ts';
import type { Environment } from '../machine/environment.ts';
import { plainNode, sendListener } from '../network/bridge.ts';
import { NetworkProxy } from '../network/network-proxy.ts';
import { continueWhileStopped } from '../processes/continue-helpers.ts';
import { sendSignal } from '../processes/process-exit.ts';
import { toNetworkCommand } from '../sandbox/bubblewrap.ts';

/** A network namespace that several commands can join. It stays open without a process, by descriptors of this one. */
export interface RoomNetwork {
  /** The command line that runs a program in the namespace, up to that program. */
  readonly enter: readonly string[];
  /** The proxy that listens on the namespace's loopback, if its network is filtered. */
  readonly proxy: NetworkProxy | undefined;
  /** Adds a step that `close` waits for. */
  onClose(step: () => Promise<void>): void;
  /** Closes the descriptors; the namespace ends with the last process in it. */
  close(): Promise<void>;
}

/** The dependencies of `openRoomNetwork`. */
export interface RoomNetworkDeps {
  readonly bashPath: string;
  readonly env: Environment;
  readonly isRoot: boolean;
  /** The hosts that a filtered network reaches; empty for a network without any host. */
  readonly networkAllow: readonly string[];
}

// Even a very busy machine starts two processes within this time.
const openMs = 30_000;
// The first process exits as soon as it reads EOF.
const exitMs = 2_000;

/**
 * Creates a network namespace whose loopback is up. A first process makes it (and, in a filtered network, sends its
 * listening socket); it exits once this process has descriptors of the namespace. They close with the server, even after
 * SIGKILL, so nothing has to be cleaned up.
 */
export async function openRoomNetwork(deps: RoomNetworkDeps): Promise<RoomNetwork> {
  const isFiltered = deps.networkAllow.length > 0;
  const child = spawnFirst(deps, isFiltered);
  const stopContinuing = child.pid === undefined ? () => {} : continueWhileStopped(-child.pid);
  const exited = new Promise<void>((resolve) => {
    for (const event of ['exit', 'error']) child.once(event, () => resolve());
  }).then(stopContinuing);
  // If `bwrap` is killed before the process that it forked has called prctl(PR_SET_PDEATHSIG), that process would wait for it forever.
  child.once('exit', () => killGroup(child));
  try {
    const { pid, listener } = await firstReport(child, isFiltered);
    const descriptors = openNamespaces(pid, deps.isRoot);
    const proxy = listener && new NetworkProxy({ allow: deps.networkAllow });
    if (listener) proxy?.serve(listener);
    const firstGone = async () => {
      if (await settlesWithin(exited, exitMs)) return;
      killGroup(child);
      await settlesWithin(exited, exitMs);
    };
    return toRoomNetwork(descriptors, proxy, firstGone);
  } finally {
    // The exit is not awaited here, because a command waits for the network; `close` waits for it.
    if (child.connected) child.disconnect();
    child.stdin?.end();
  }
}

function spawnFirst({ bashPath, env }: RoomNetworkDeps, isFiltered: boolean): ChildProcess {
  const [program, ...args] = toNetworkCommand();
  if (!isFiltered) {
    const shell = [bashPath, '--noprofile', '--norc', '-c', 'echo $$; read -r'];
    const stdio = withoutInherited(['ignore', 'ignore', 'ignore']).slice(3);
    return spawn(program, [...args, ...shell], {
      cwd: '/',
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', ...stdio],
    });
  }
  const node = [process.execPath, '-e', sendListener];
  const stdio = withoutInherited(['ignore', 'ignore', 'ignore', 'ipc']).slice(3);
  const options = { cwd: '/', env: { ...env, ...plainNode }, detached: true };
  return spawn(program, [...args, ...node], { ...options, stdio: ['ignore', 'ignore', 'pipe', ...stdio] });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) sendSignal(-pid, 'SIGKILL');
}

interface FirstReport {
  readonly pid: number;
  readonly listener?: Server | undefined;
}

// The first process is in our pid namespace, so its own pid is valid here.
async function firstReport(child: ChildProcess, isFiltered: boolean): Promise<FirstReport> {
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(0, 500);
  });
  const report = new Promise<FirstReport>((resolve, reject) => {
    child.stdout?.once('data', (data) => resolve({ pid: Number(data) }));
    child.once('message', (pid, handle) => {
      const listener = handle instanceof Server ? handle : undefined;
      if (isFiltered && !listener) reject(new Error('the proxy got no socket'));
      else resolve({ pid: Number(pid), listener });
    });
    child.once('error', reject);
    // `close` follows `exit` once stderr has been read.
    child.once('close', () => reject(new Error(complaint.trim() || 'it ended immediately')));
  });
  if (await settlesWithin(report, openMs)) return report;
  killGroup(child);
  throw new Error(`no network namespace after ${openMs} ms`);
}

interface NamespaceDescriptors {
  readonly net: number;
  /** The user namespace that owns `net`; root can enter `net` without it. */
  readonly user: number | undefined;
}

function openNamespaces(pid: number, isRoot: boolean): NamespaceDescriptors {
  const net = openSync(`/proc/${pid}/ns/net`, 'r');
  try {
    return { net, user: isRoot ? undefined : openSync(`/proc/${pid}/ns/user`, 'r') };
  } catch (error) {
    closeSync(net);
    throw error;
  }
}

function toRoomNetwork(
  { net, user }: NamespaceDescriptors,
  proxy: NetworkProxy | undefined,
  firstGone: () => Promise<void>,
): RoomNetwork {
  const steps: (() => Promise<void>)[] = [];
  const path = (fd: number) => `/proc/${process.pid}/fd/${fd}`;
  const owner = user === undefined ? [] : [`--user=${path(user)}`, '--preserve-credentials'];
  return {
    // execve() of an ordinary user's program drops the capabilities that entering the user namespace gave to `nsenter`.
    enter: ['nsenter', ...owner, `--net=${path(net)}`, '--'],
    proxy,
    onClose: (step) => void steps.push(step),
    async close() {
      await Promise.all(steps.map((step) => step()));
      proxy?.close();
      for (const fd of [net, user]) if (fd !== undefined) closeSync(fd);
      await firstGone();
    },
  };
}
