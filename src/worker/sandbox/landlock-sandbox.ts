// The sandbox `workspace` without namespaces: Landlock restricts files, seccomp restricts sockets.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import type { Isolation, SupervisionLevel } from '../../contract/isolation.ts';
import { isTooWide } from '../../support/is-too-wide.ts';
import { overlapsUserConfig } from '../../support/overlaps-user-config.ts';
import { probeGuard, type WorkingGuard } from '../guard/create-guard.ts';
import type { FileRules } from '../guard/guard-rules.ts';
import { foldersAbove } from '../guard/list-readable.ts';
import { type Homes, keyStoreNames } from './homes.ts';
import { toCanonical } from './own-files.ts';
import { type SandboxDeps, type SandboxPlan, toNetwork } from './sandbox-plan.ts';

/** The parts of a file sandbox by Landlock that all commands of a server share. */
export interface LandlockSandbox extends WorkingGuard {
  /** Existing folders for temporary files, which every command may write. */
  readonly temporary: readonly string[];
  /** The folder for caches of programs, because the home directory is not writable. */
  readonly cacheFolder: string;
  /** Further sentences for `landlockGaps`. */
  readonly gaps?: readonly string[] | undefined;
}

const temporaryFolders = ['/tmp', '/var/tmp', '/dev/shm'];

/** The canonical folders for temporary files: those of the system, and TMPDIR if it is a folder of its own. */
export function findTemporary(tmpdir: string | undefined, { all }: Pick<Homes, 'all'>): readonly string[] {
  const own = toCanonical(tmpdir ?? '').filter(
    (folder) => !all.some((home) => isTooWide(folder, home) || overlapsUserConfig(folder, home)),
  );
  return [...new Set([...temporaryFolders.flatMap(toCanonical), ...own])];
}

/** Tests the sandbox with the guard at `guardPath`: returns a guard that works, or the reason why it does not work. */
export function probeLandlock(
  guardPath: string,
  { bashPath, folder }: { readonly bashPath: string; readonly folder: string },
): ReturnType<typeof probeGuard> {
  const files = { hidden: [folder], shown: [], writable: [], openable: [], sockets: false, signals: false };
  const script = '{ : > "$0/probe"; } 2> /dev/null || echo denied';
  return probeGuard(guardPath, { files }, { bashPath, script, words: [folder] });
}

/** The rules of a plan for the guard; throws `isolation_unavailable` for a workspace that contains a hidden path. */
export function toFileRules(plan: SandboxPlan, landlock: LandlockSandbox): FileRules {
  const hidden = toHidden(plan);
  const { temporary, cacheFolder } = landlock;
  for (const folder of plan.writable) refuseIfAbove(folder, hidden);
  return {
    hidden,
    shown: plan.shown.paths,
    writable: [...plan.writable, ...writableTemporary(temporary, hidden), cacheFolder],
    openable: plan.extraMounts.flatMap((mount) => (mount.kind === 'bind' ? [mount.to] : [])),
    sockets: toNetwork(plan.isolation) === 'on',
    signals: plan.isolation.processes === 'host',
  };
}

/** Changes when an entry is created or removed next to a hidden path; a shell started before could not read it. */
export function stampOf({ hidden }: FileRules): string {
  return foldersAbove(hidden)
    .map((folder) => statSync(folder, { throwIfNoEntry: false })?.mtimeMs)
    .join(' ');
}

// Also hides key stores that do not exist yet, so that they are not readable once they do.
function toHidden({
  homes,
  shown,
  keyStores,
  ownFiles,
  writable,
}: Pick<SandboxPlan, 'homes' | 'shown' | 'keyStores' | 'ownFiles' | 'writable'>): readonly string[] {
  const later = shown.homes.flatMap((home) => keyStoreNames.map((name) => join(home, name)));
  const isVisible = (path: string) => !isIn(path, homes) || isIn(path, [...shown.paths, ...writable]);
  const keys = [...keyStores, ...later.filter((path) => !shown.listed.includes(path))].filter(isVisible);
  return [...new Set([...homes, ...keys, ...ownFiles])];
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

function writableTemporary(temporary: readonly string[], hidden: readonly string[]): readonly string[] {
  return temporary.filter((folder) => !isAbove(folder, hidden));
}

function isAbove(folder: string, paths: readonly string[]): boolean {
  return paths.some((path) => path.startsWith(`${folder}/`));
}

function refuseIfAbove(folder: string, hidden: readonly string[]): void {
  const inside = hidden.find((path) => path.startsWith(`${folder}/`));
  if (inside === undefined) return;
  throw new NacreError(
    'isolation_unavailable',
    `The sandbox workspace would leave ${folder} writable, and Landlock could not hide ${inside} in it.`,
    { hint: 'Choose a workspace without keys and without files of nacre. Nothing was run.' },
  );
}

/** Sentences for `Enforcement.gaps`: what Landlock leaves open that a sandbox in namespaces does not. */
export function landlockGaps(
  { version, temporary, gaps = [] }: LandlockSandbox,
  { homes, shown, ownFiles }: Pick<SandboxDeps, 'homes' | 'shown' | 'ownFiles'>,
  isolation: Isolation,
  level: SupervisionLevel,
): readonly string[] {
  const hidden = toHidden({
    homes: homes.hidden,
    shown,
    keyStores: [],
    ownFiles: ownFiles.find(),
    writable: [],
  });
  const shared = writableTemporary(temporary, hidden);
  const withheld = temporary.filter((folder) => !shared.includes(folder));
  const canSignal = level === 'group' && (version < scopeVersion || isolation.processes === 'host');
  return [
    'A command can change the mode, owner, times and attributes of files outside of the workspace (Landlock does not restrict chmod).',
    'System V shared memory, semaphores and message queues are those of the machine.',
    'The names and sizes of hidden files are visible.',
    ...(isolation.unprotected.includes('*') ? [] : [settingsWritable]),
    ...shared.map((folder) => `${folder} is shared with other programs.`),
    ...withheld.map((folder) => `${folder} is read-only, because it contains keys or files of nacre.`),
    ...(toNetwork(isolation) === 'on' ? [socketsReachable] : []),
    ...(toNetwork(isolation) === 'on' && version < scopeVersion ? [abstractReachable] : []),
    ...gaps,
    ...(level === 'group'
      ? [
          `A command sees other processes and can change their priority${canSignal ? ', and can signal them' : ''}.`,
        ]
      : []),
  ];
}

/** Whether commands cannot reach nacre's own files: not even its control socket, which Landlock does not restrict. */
export function landlockHidesOwnFiles(isolation: Isolation): boolean {
  return isolation.sandbox !== 'off' && toNetwork(isolation) === 'off';
}

const scopeVersion = 6;
const socketsReachable =
  'A command can reach Unix sockets of other programs (Docker, D-Bus, agents, nacre), and these are not restricted.';
const settingsWritable =
  'A command can change files in the workspace that programs outside of the sandbox run, such as .git/hooks, .git/config, .vscode and .envrc (Landlock cannot except a path in a writable folder); replies name those that changed.';
const abstractReachable = 'A command can reach abstract Unix sockets.';

/** The gap of `network_allow`, which needs a network namespace: no host is reachable instead. */
export function networkAllowGap({ networkAllow }: Pick<Isolation, 'networkAllow'>): readonly string[] {
  return networkAllow.length === 0
    ? []
    : ['network_allow has no effect without a network namespace: no host can be reached.'];
}
