// The road into an allocation of Slurm, one per connection, on this machine or through `ssh` to a login node.
// 1. `salloc --no-shell` waits until the allocation is granted, then exits; the allocation stays,
// 2. `srun --overlap` runs each program in it,
// 3. `scancel` ends it with everything in it.
import type { Duplex } from 'node:stream';
import type { NacreError } from '../../contract/failure.ts';
import type { SlurmRoad } from '../../contract/machine.ts';
import { randomHex } from '../../support/ids.ts';
import { settlesWithin } from '../../support/timing.ts';
import type { FarEnd, FarProgram } from '../../wire/road.ts';
import { spawnFar } from '../../worker/road/spawn-far.ts';
import { toShown } from './far-messages.ts';
import type { FarDeps, RoadMachine } from './open-far.ts';
import { machineUnusable } from './road-errors.ts';
import { isAbandoned, serverLabel } from './server-label.ts';
import { explainSsh, type SshHost, toSshArgv, toSshHost } from './ssh.ts';

/** An allocation as a machine. */
export function createSlurmMachine(name: string, road: SlurmRoad, deps: FarDeps): RoadMachine {
  const allocation = new Allocation(name, road, deps);
  return {
    name,
    // The nodes of a cluster usually share home directories, but a node may lack them.
    roots: ['~/.cache/nacre', '/tmp/nacre-UID'],
    run: (argv) => allocation.run(argv),
    explain: (end) => allocation.explain(end),
    remove: () => allocation.remove(),
  };
}

const queueMs = 8_000;
const cancelMs = 10_000;

class Allocation {
  readonly #name: string;
  readonly #road: SlurmRoad;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #login: SshHost | undefined;
  // `remove` cancels by this name, because it is known before Slurm assigns a job id.
  readonly #jobName = `nacre-${randomHex(8)}`;
  #id: Promise<string> | undefined;
  #waiting: FarProgram | undefined;
  #sweeping: Promise<void> | undefined;
  #isRemoved = false;

  constructor(name: string, road: SlurmRoad, { environment }: FarDeps) {
    this.#name = name;
    this.#road = road;
    // The job id is read from a message of `salloc`, which is translated on some systems.
    this.#environment = { ...environment, LC_ALL: 'C' };
    this.#login = road.login === undefined ? undefined : toSshHost(road.login, road.config, environment);
  }

  async run(argv: readonly string[]): Promise<FarProgram> {
    const id = await this.#allocate();
    const far = this.#spawn(['srun', `--jobid=${id}`, ...stepOptions, ...argv]);
    // If a step failed because its allocation has ended, the next call requests a new one.
    void far.ended.then(async ({ code }) => {
      if (code !== 0 && !this.#isRemoved && !(await this.#isRunning(id))) this.#id = undefined;
    });
    return far;
  }

  explain(end: FarEnd): NacreError | undefined {
    if (this.#login && end.code === 255) return explainSsh(this.#name, this.#login, end);
    if (end.code === 0 || (end.code !== null && !/^(?:srun|salloc): /m.test(end.stderr))) return undefined;
    return explainSlurm(this.#name, end);
  }

  async remove(): Promise<void> {
    this.#isRemoved = true;
    this.#waiting?.stream.destroy();
    if (this.#id) await this.#output(['scancel', `--name=${this.#jobName}`]);
    this.#id = undefined;
    await this.#sweeping;
  }

  async #allocate(): Promise<string> {
    this.#id ??= this.#request();
    const id = this.#id;
    id.catch(() => {
      if (this.#id === id) this.#id = undefined;
    });
    if (await settlesWithin(id, queueMs)) return id;
    throw machineUnusable(
      this.#name,
      'its allocation is still pending in the Slurm queue',
      'Call again later; squeue --me shows the queue. The request is kept.',
    );
  }

  async #request(): Promise<string> {
    const far = this.#spawn(['salloc', ...toRequest(this.#road, this.#jobName)]);
    this.#waiting = far;
    far.stream.resume();
    const end = await far.ended;
    this.#waiting = undefined;
    const [, id] = /Granted job allocation (\d+)/.exec(end.stderr) ?? [];
    if (end.code !== 0 || id === undefined)
      throw (this.#login && explainSsh(this.#name, this.#login, end)) ?? explainSlurm(this.#name, end);
    this.#sweeping ??= this.#sweep();
    return id;
  }

  // Ends the allocations of servers that are dead.
  async #sweep(): Promise<void> {
    const lines = await this.#output(['squeue', '--me', '--noheader', '--format=%i|%j|%k']);
    const left = lines.split('\n').flatMap((line) => {
      const [id = '', job = '', label = ''] = line.trim().split('|');
      return job.startsWith('nacre-') && /^\d+$/.test(id) && isAbandoned(label) ? [id] : [];
    });
    if (left.length > 0) await this.#output(['scancel', ...left]);
  }

  async #isRunning(id: string): Promise<boolean> {
    const state = await this.#output(['squeue', `--jobs=${id}`, '--noheader', '--format=%T']);
    return state.trim() === 'RUNNING';
  }

  /** The output of a short command; empty if it fails or takes too long. */
  async #output(argv: readonly string[]): Promise<string> {
    const { stream } = this.#spawn(argv);
    const text = readText(stream);
    await settlesWithin(text, cancelMs);
    stream.destroy();
    return text;
  }

  #spawn(argv: readonly string[]): FarProgram {
    const [program = '', ...words] = argv;
    const far = spawnFar(
      this.#login ? toSshArgv(this.#name, this.#login, argv) : [program, ...words],
      this.#environment,
    );
    // `ended` reports the failure.
    far.stream.on('error', () => {});
    return far;
  }
}

const stepOptions: readonly string[] = [
  ...['--overlap', '--nodes=1', '--ntasks=1', '--quiet', '--chdir=/'],
  // Otherwise Slurm sends output only at the end of a line.
  '--unbuffered',
  // The server's other variables stay on its machine.
  '--export=HOME,PATH,USER,LOGNAME,LANG',
  '--mpi=none',
];

/** The arguments of `salloc`. */
export function toRequest(road: SlurmRoad, jobName: string): readonly string[] {
  const { partition, account, gres, cpus, memory, timeSeconds } = road;
  const option = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [`--${name}=${value}`];
  return [
    ...['--no-shell', '--nodes=1', '--ntasks=1', `--job-name=${jobName}`, `--comment=${serverLabel()}`],
    `--time=${Math.ceil(timeSeconds / 60)}`,
    ...option('partition', partition),
    ...option('account', account),
    ...option('gres', gres),
    ...option('cpus-per-task', cpus),
    ...option('mem', memory),
  ];
}

function explainSlurm(name: string, { stderr }: FarEnd): NacreError {
  if (/ENOENT|not found/.test(stderr))
    return machineUnusable(
      name,
      'salloc or srun was not found',
      'Install the client programs of Slurm, or set slurm.login to a login node.',
    );
  const said = toShown(stderr.replace(/^(?:salloc|srun): (?:error: )?/gm, ''));
  return machineUnusable(
    name,
    `Slurm says: ${said}`,
    `Correct machines.${name}.slurm in the settings; sinfo lists the partitions.`,
  );
}

const maxTextBytes = 1_048_576;

/** Reads at most `maxTextBytes`, because a login node could print without end. */
async function readText(stream: Duplex): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > maxTextBytes) break;
    }
  } catch {
    // The stream was destroyed because the program took too long.
  }
  return Buffer.concat(pieces).toString();
}
