import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '../../../src/support/timing.ts';
import { hostScript } from './host-script.ts';

/** A cluster that runs. */
export interface TestSlurm {
  /** Variables for the programs of Slurm. */
  readonly environment: Readonly<Record<string, string>>;
  /** Runs a program of Slurm. */
  run(program: string, ...args: readonly string[]): string;
  stop(): Promise<void>;
}

/** The programs that a cluster needs. */
export const slurmNeeds = ['slurmctld', 'slurmd', 'srun', 'salloc', 'munged', 'unshare', 'setpriv'] as const;

/** Starts a cluster of two nodes on loopback, in namespaces that end with it. */
export async function startSlurm(): Promise<TestSlurm> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'nacre-slurm-')));
  chmodSync(folder, 0o711);
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
  const words = [...namespaces, 'bash', hostScript('slurm'), folder, String(await freePort())];
  const child = spawn('unshare', words, { stdio: 'ignore' });
  const environment = { PATH: '/usr/bin:/bin', HOME: '/root', SLURM_CONF: join(folder, 'slurm.conf') };
  const run = (program: string, ...args: readonly string[]) =>
    execFileSync(program, args, { env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  const isIdle = () => {
    try {
      return run('sinfo', '-h', '-N', '-t', 'idle', '-o', '%N').trim().split('\n').length === 2;
    } catch {
      return false;
    }
  };
  for (const end = Date.now() + 60_000; !isIdle(); await sleep(100)) {
    if (child.exitCode === null && Date.now() < end) continue;
    const log = join(folder, 'engine.log');
    const text = existsSync(log) ? readFileSync(log, 'utf8').slice(-2_000) : 'the cluster has written no log';
    await stop();
    throw new Error(text);
  }
  return { environment, run, stop };
}

/** A login node that ssh reaches, and the configuration file for it. */
export interface TestLogin {
  readonly config: string;
  stop(): Promise<void>;
}

/** Starts a login node of a cluster on loopback; its host is `login1`. */
export async function startLogin({ environment }: TestSlurm): Promise<TestLogin> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'nacre-login-')));
  const port = await freePort();
  const inner = join(folder, 'ssh');
  const words = ['--mount', '--pid', '--mount-proc', '--fork', '--kill-child', hostScript('login')];
  const variables = [`SLURM_CONF=${environment.SLURM_CONF}`];
  const child = spawn('unshare', [...words, inner, String(port), ...variables], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  for (const end = Date.now() + 60_000; !(await answers(port)); await sleep(50)) {
    if (child.exitCode === null && Date.now() < end) continue;
    await stop();
    throw new Error('The login node does not answer.');
  }
  return { config: join(inner, 'config'), stop };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() !== undefined));
    socket.on('error', () => resolve(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  // The nodes use the two ports that follow.
  return typeof address === 'object' && address ? Math.min(address.port, 65_000) : 0;
}
