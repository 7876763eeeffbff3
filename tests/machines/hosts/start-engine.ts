// A real Docker or Podman for tests, in namespaces that end with it, with images of this machine's own programs.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { sleep } from '../../../src/support/timing.ts';
import { hostScript } from './host-script.ts';

/** An engine that runs. */
export interface TestEngine {
  readonly kind: 'docker' | 'podman';
  readonly socket: string;
  /** Makes a request to its API; returns the JSON of the answer. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Kills the engine and starts it again; containers keep running. */
  restart(): Promise<void>;
  /** Ends it with all its containers, and removes everything that it has created. */
  stop(): Promise<void>;
}

/** The programs that an engine and its images need. */
export const engineNeeds = {
  docker: ['dockerd', 'containerd', 'runc', 'iptables', 'ip', 'unshare', 'busybox', 'dpkg'],
  podman: ['podman', 'conmon', 'runc', 'catatonit', 'ip', 'unshare', 'busybox', 'dpkg'],
} as const;

/** Starts an engine with the images `nacre-test/NAME`. */
export async function startEngine(kind: 'docker' | 'podman', images: readonly string[]): Promise<TestEngine> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `nacre-${kind}-`)));
  execFileSync('chmod', ['711', folder]);
  const groups = readGroups();
  const namespaces = ['--mount', '--pid', '--net', '--fork', '--kill-child'];
  const child = spawn('unshare', [...namespaces, 'bash', hostScript(kind), folder], { stdio: 'ignore' });
  const socket = join(folder, 'engine.sock');
  const call = (method: string, path: string, body?: unknown) => callEngine(socket, method, path, body);
  const answers = () => call('GET', '/_ping').then(Boolean, () => false);
  const waitUntil = async (isDone: () => Promise<boolean>) => {
    for (const end = Date.now() + 60_000; !(await isDone()); await sleep(50))
      if (child.exitCode !== null || Date.now() > end) throw new Error(readLog(folder));
  };
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await ended;
    await removeGroups([basename(folder), ...(groups.has('libpod_parent') ? [] : ['libpod_parent'])]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    await waitUntil(answers);
    for (const name of images) await addImage(socket, folder, name);
  } catch (error) {
    await stop();
    throw error;
  }
  const restart = async () => {
    const inner = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
    const pid = readFileSync(join(folder, 'docker.pid'), 'utf8').trim();
    execFileSync('nsenter', ['-t', inner, '-m', '-p', 'kill', '-KILL', pid]);
    await sleep(300);
    await waitUntil(answers);
  };
  return { kind, socket, call, restart, stop };
}

async function addImage(socket: string, folder: string, name: string): Promise<void> {
  const archive = join(folder, `${name}.tar`);
  execFileSync(hostScript('image'), [name, archive]);
  const path = `/images/create?fromSrc=-&repo=nacre-test/${name}&tag=latest`;
  const answer = await callEngine(socket, 'POST', path, readFileSync(archive));
  rmSync(archive);
  if (JSON.stringify(answer).includes('"error"')) throw new Error(JSON.stringify(answer));
}

function callEngine(socketPath: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const data = body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const type = Buffer.isBuffer(body) ? 'application/x-tar' : 'application/json';
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, headers: { 'content-type': type } }, async (answer) => {
      const text = (await answer.toArray()).join('');
      try {
        resolve(JSON.parse(text));
      } catch {
        resolve(text);
      }
    });
    sent.on('error', reject);
    sent.end(data);
  });
}

function readLog(folder: string): string {
  const path = join(folder, 'engine.log');
  return existsSync(path) ? readFileSync(path, 'utf8').slice(-2_000) : 'the engine has written no log';
}

const groupRoots = () => {
  const top = '/sys/fs/cgroup';
  return existsSync(top) ? [top, ...readdirSync(top).map((name) => join(top, name))] : [];
};

function readGroups(): ReadonlySet<string> {
  return new Set(
    groupRoots()
      .filter((root) => existsSync(join(root, 'libpod_parent')))
      .map(() => 'libpod_parent'),
  );
}

// Control groups outlive the processes in them.
async function removeGroups(names: readonly string[]): Promise<void> {
  const remove = (path: string): void => {
    if (!existsSync(path)) return;
    for (const entry of readdirSync(path, { withFileTypes: true }))
      if (entry.isDirectory()) remove(join(path, entry.name));
    try {
      rmdirSync(path);
    } catch {
      // Its last process is not reaped yet.
    }
  };
  const paths = groupRoots().flatMap((root) => names.map((name) => join(root, name)));
  for (let round = 0; round < 25 && paths.some((path) => existsSync(path)); round += 1) {
    for (const path of paths) remove(path);
    await sleep(200);
  }
}
