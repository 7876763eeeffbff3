// Prepares a worker, so that it can start commands:
// 1. the environment of commands, with that of the login shell where the settings ask for it,
// 2. bash, the server's folders and FIFOs, and a sweep of what dead servers left,
// 3. the `LimitEnforcer`, the `ExecGuard`, and the best `Starter` that works here,
// 4. persistent shells on top of that starter.
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Place } from '../contract/facts.ts';
import { NacreError, shuttingDown } from '../contract/failure.ts';
import { makeFolder } from '../support/make-folder.ts';
import { umaskOfCommands } from '../support/umask.ts';
import { ChangesStore } from './changes/changes-store.ts';
import { LayerHelper } from './changes/layer-helper.ts';
import { findOtherStores } from './changes/places.ts';
import { ExecEnforcer } from './exec/exec-enforcer.ts';
import { isDeadServer } from './folders/instance-folder.ts';
import { createServerFolders, memoryFolders, type ServerFolders } from './folders/server-folders.ts';
import { instanceVariable, sweepProcesses } from './folders/sweep-processes.ts';
import { createCgroups } from './limits/cgroups.ts';
import { createLimitEnforcer, type LimitEnforcer } from './limits/limit-enforcer.ts';
import { type Bash, findBash } from './machine/bash.ts';
import { type Environment, filterEnvironment, toAbsolutePath } from './machine/environment.ts';
import { toPlace } from './machine/inspect.ts';
import { type LoginEnvironment, readLoginEnvironment } from './machine/login-environment.ts';
import { findNamespaceFault } from './machine/namespace-fault.ts';
import { withoutShellVariables } from './machine/shell-variables.ts';
import { ForwardedPorts } from './room/forwarded-ports.ts';
import { findHomes, type Homes } from './sandbox/homes.ts';
import { findTemporary, probeLandlock } from './sandbox/landlock-sandbox.ts';
import { usualLayerFolders } from './sandbox/layer-folders.ts';
import { OwnFiles } from './sandbox/own-files.ts';
import { WorkspaceProtection } from './sandbox/protected-paths.ts';
import { findShown } from './sandbox/shown-in-home.ts';
import { defaultDirectory } from './sandbox/workspace.ts';
import { ShellSessions } from './shell/shell-sessions.ts';
import { chooseStarter, type StarterMachine } from './start/choose-starter.ts';
import type { SupervisedDeps } from './start/keeper-plan.ts';
import type { Starter } from './start/starter.ts';
import { loadPty } from './terminal/load-pty.ts';
import type { WorkerOptions } from './worker-options.ts';

/** The result of `Preparation`: a worker that can start commands. */
export interface PreparedWorker {
  readonly bash: Bash;
  readonly folders: ServerFolders;
  /** The `defaultDirectory`, resolved. */
  readonly ownPlace: Place;
  readonly homes: Homes;
  /** The PATH of commands. */
  readonly path: string;
  readonly starter: Starter;
  readonly machine: StarterMachine;
  readonly shells: ShellSessions;
  readonly limitEnforcer: LimitEnforcer;
  readonly exec: ExecEnforcer;
  readonly changes: ChangesStore;
  readonly ports: ForwardedPorts;
  /** Names of variables that commands do not get. */
  readonly withheld: readonly string[];
  /** The server's variables, withheld ones included. */
  readonly allVariables: Environment;
  readonly loginNote: string;
  /** Resolves when `sweepProcesses` has killed the processes of dead servers. */
  readonly sweeping: Promise<unknown>;
}

/** Prepares a worker at the first use; a failed attempt is repeated at the next use. */
export class Preparation {
  readonly #options: WorkerOptions;
  readonly #memoryFolders: readonly string[];
  readonly #ownFiles: OwnFiles;
  #login: Promise<LoginEnvironment> | null = null;
  #preparing: Promise<PreparedWorker> | null = null;
  #isClosed = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#memoryFolders = memoryFolders(options.environment);
    const { stateDir, ownFiles } = options;
    this.#ownFiles = new OwnFiles([stateDir, ...ownFiles, ...this.#memoryFolders], () =>
      findOtherStores(stateDir),
    );
  }

  /** True once `get` was called, so that there may be sessions. */
  get hasBegun(): boolean {
    return this.#preparing !== null;
  }

  /** Returns the prepared worker; throws `shutting_down` after `refuse`. */
  async get(): Promise<PreparedWorker> {
    if (this.#isClosed) throw shuttingDown();
    this.#preparing ??= this.#prepare().catch((error: unknown) => {
      this.#preparing = null;
      throw error;
    });
    return this.#preparing;
  }

  /** Reads the server's environment once, so that every use sees the values that commands could see. */
  login(): Promise<LoginEnvironment> {
    this.#login ??= readVariables(this.#options);
    return this.#login;
  }

  /** Makes `get` throw from now on. */
  refuse(): void {
    this.#isClosed = true;
  }

  /** Closes everything that `get` has prepared and removes the server's folders. */
  async close(): Promise<void> {
    this.refuse();
    const prepared = await this.#preparing?.catch(() => null);
    await prepared?.ports.closeAll();
    await prepared?.shells.closeAll();
    await prepared?.starter.close();
    await prepared?.changes.close();
    await prepared?.sweeping;
    await prepared?.limitEnforcer.close();
    this.#ownFiles.close();
    await prepared?.folders.remove();
  }

  async #prepare(): Promise<PreparedWorker> {
    const options = this.#options;
    checkProc();
    const login = await this.login();
    const path = toAbsolutePath(login.env.PATH);
    const allVariables = { ...login.env, PATH: path };
    const { env, withheld } = filterEnvironment(allVariables, options);
    const bash = await findBash(options.bash, path);
    const ownPlace = await toPlace(defaultDirectory(options), options.cwd);
    const homes = findHomes(options.home);
    const folders = await createServerFolders(options.stateDir, this.#memoryFolders, options.table);
    const found = { bash, folders, path, env };
    try {
      const started = await prepareStart(options, { ...found, ownFiles: this.#ownFiles, homes });
      const ports = new ForwardedPorts({ ...env, [instanceVariable]: basename(folders.path) });
      return { ...started, ...found, ports, ownPlace, homes, withheld, allVariables, loginNote: login.note };
    } catch (error) {
      await folders.remove();
      throw error;
    }
  }
}

// Without /proc even `mkfifo` and `ps` fail, with messages that do not name the cause.
function checkProc(): void {
  if (process.platform !== 'linux' || existsSync('/proc/self/stat')) return;
  throw new NacreError('resources_unavailable', 'nacre needs /proc, which is not mounted here.', {
    hint: 'Mount it with mount -t proc proc /proc, or start the container or chroot with it. Nothing was run.',
  });
}

// Start-up files of the login shell may set variables that configure bash again, so its result is filtered too.
async function readVariables({ environment, loginEnv }: WorkerOptions): Promise<LoginEnvironment> {
  const { env, note } = await readLoginEnvironment(withoutShellVariables(environment), loginEnv);
  return { env: withoutShellVariables(env), note };
}

interface StartParts extends Pick<PreparedWorker, 'bash' | 'folders' | 'path'> {
  readonly env: Environment;
  readonly ownFiles: OwnFiles;
  readonly homes: Homes;
}

async function prepareStart(
  options: WorkerOptions,
  found: StartParts,
): Promise<
  Pick<PreparedWorker, 'starter' | 'machine' | 'shells' | 'limitEnforcer' | 'exec' | 'changes' | 'sweeping'>
> {
  const { table } = options;
  const name = basename(found.folders.path);
  const cgroups = options.cgroups === false ? null : createCgroups(name);
  void cgroups?.sweep((owner) => isDeadServer(owner, table)).catch(() => {});
  const sweeping = sweepProcesses(table, options.environment[instanceVariable]).catch(() => []);
  const isRoot = process.getuid?.() === 0;
  const limitEnforcer = createLimitEnforcer({
    limits: options,
    cgroups,
    isRoot,
    umask: options.umask ?? umaskOfCommands(),
  });
  const machine = createStarterMachine(options, found);
  const deps = toStartDeps(options, found, limitEnforcer, isRoot);
  const exec = new ExecEnforcer(options, { path: found.path, bashPath: found.bash.path });
  const usual = { ...options, exec: await exec.for(undefined) };
  if (options.changes !== 'direct')
    for (const folder of usualLayerFolders(deps)) deps.changes.prepare(folder);
  const starter = await chooseStarter(deps, usual, machine);
  const shells = new ShellSessions({
    starter,
    table,
    folder: join(found.folders.path, 'shells'),
    cwd: options.cwd,
    sandbox: options.sandbox,
    idleMs: options.sessionIdleMs,
    bounds: options.shellBounds,
  });
  await deps.changes.tidy((server) => isDeadServer(server, table));
  return { starter, machine, shells, limitEnforcer, exec, changes: deps.changes, sweeping };
}

// Each check runs once, at its first use; one that failed for lack of resources runs again.
function createStarterMachine(
  options: WorkerOptions,
  { bash, folders, path, homes }: StartParts,
): StarterMachine {
  const { execGuard, environment } = options;
  let landlock: ReturnType<StarterMachine['findLandlock']> | undefined;
  let fault: ReturnType<StarterMachine['findFault']> | undefined;
  return {
    findLandlock() {
      landlock ??= probeLandlock(execGuard, { bashPath: bash.path, folder: folders.path }).catch((error) => {
        landlock = undefined;
        throw error;
      });
      return landlock;
    },
    findFault() {
      fault ??= findNamespaceFault(path);
      return fault;
    },
    leaveSharedMemory: () => folders.leaveSharedMemory(),
    prepareLandlock({ program, version }) {
      const cacheFolder = join(folders.path, 'cache');
      makeFolder(cacheFolder);
      return { program, version, cacheFolder, temporary: findTemporary(environment.TMPDIR, homes) };
    },
  };
}

function toStartDeps(
  options: WorkerOptions,
  { bash, folders, path, env, ownFiles, homes }: StartParts,
  limitEnforcer: LimitEnforcer,
  isRoot: boolean,
): SupervisedDeps {
  const { table, keep, cwd, warmShells, homeShow: added } = options;
  // nacre's own program files must also stay visible.
  const programs = [path, dirname(bash.path), dirname(process.execPath)].join(':');
  return {
    ...{ table, keep, cwd, homes, warmShells, env, path, ownFiles, limitEnforcer, isRoot },
    protection: new WorkspaceProtection(options.unprotected, cwd),
    shown: findShown({ homes, path: programs, added }),
    isolation: options,
    bashPath: bash.path,
    fifos: folders.fifos,
    instance: { [instanceVariable]: basename(folders.path) },
    loadPty: () => loadPty(options.loadPty),
    roomsFolder: join(folders.path, 'rooms'),
    changes: createChanges(options, basename(folders.path)),
    scriptPath: (id: string) => join(folders.path, 'scripts', id),
  };
}

function createChanges(options: WorkerOptions, instance: string): ChangesStore {
  const { stateDir, changesBytes, changesDays, changesFileBytes: maxFileBytes } = options;
  const limits = { maxBytes: changesBytes, maxAgeMs: changesDays * 86_400_000 };
  return new ChangesStore({ stateDir, instance, maxFileBytes, ...limits }, new LayerHelper());
}
