// nacre's own files. Settings can name any path, so only files that nacre creates there are removed, never a whole
// folder.
import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { HttpAccess, PlaceAccess, ProcessAccess } from '../../door.ts';
import { findAt, type Removal } from './removal.ts';

type FileDeps = PlaceAccess & ProcessAccess & Pick<HttpAccess, 'http'>;

/** Files and folders to remove, in this order, and sentences about those that stay. */
export interface PlannedFiles {
  readonly services: readonly Removal[];
  readonly files: readonly Removal[];
  readonly kept: readonly string[];
}

/** Finds nacre's files in the state folder, the user's configuration folder and the service manager. */
export function planFiles(deps: FileDeps, keepSettings: boolean): PlannedFiles {
  const { places, machine } = deps;
  const configHome = configHomeOf(machine);
  const own = join(configHome, 'nacre');
  const usualSettings = join(own, 'config.yaml');
  const removesSettings = !keepSettings && places.settingsFile === usualSettings;
  return {
    services: planService(configHome),
    files: [
      ...planState(places.stateDir),
      ...tokensOf(deps, own).flatMap(planToken),
      ...(removesSettings ? planFile('the settings file', usualSettings, own) : []),
      ...helpersIn(machine.home, configHome).flatMap((path) =>
        planFile('the completion script or man page', path),
      ),
    ],
    kept: describeKept(deps, removesSettings),
  };
}

function configHomeOf({ env, home }: FileDeps['machine']): string {
  const { XDG_CONFIG_HOME: named = '' } = env;
  return isAbsolute(named) ? named : join(home, '.config');
}

function planService(configHome: string): readonly Removal[] {
  const folder = join(configHome, 'systemd', 'user');
  return [join(folder, 'default.target.wants', 'nacre.service'), join(folder, 'nacre.service')].flatMap(
    (path) => planFile('the systemd user unit', path),
  );
}

function planFile(what: string, path: string, folderToo?: string): readonly Removal[] {
  const found = findAt(path);
  if (found === undefined || found.isDirectory()) return [];
  const remove = () => {
    rmSync(path);
    if (folderToo !== undefined) removeIfEmpty(folderToo);
  };
  return [{ what, path, remove }];
}

const stateNames = [
  'approvals',
  'audit',
  'backups',
  'changes',
  'control',
  'recordings',
  'run',
  'worker',
  'workflows',
];

function planState(path: string): readonly Removal[] {
  if (!existsSync(path)) return [];
  const remove = () => {
    for (const name of stateNames) removeTree(join(path, name));
    removeIfEmpty(path);
    if (existsSync(path))
      throw new Error(`it also contains ${readdirSync(path).join(', ')}, which nacre did not create`);
  };
  return [
    ...planStores(join(path, 'changes', 'places')),
    {
      what: 'the state folder with audit log, kept changes, recordings, backups and sockets',
      path,
      remove,
    },
  ];
}

/** The kept changes of workspaces on other mounts, found by the symlinks in `places`. */
function planStores(places: string): readonly Removal[] {
  if (!existsSync(places)) return [];
  const stores = readdirSync(places).map((name) => readlinkSync(join(places, name)));
  return stores
    .filter((path) => basename(path).startsWith('.nacre-changes-') && findAt(path)?.isDirectory())
    .map((path) => ({ what: 'kept changes beside a workspace', path, remove: () => removeTree(path) }));
}

// Commands may have removed the owner's permissions on folders in kept changes, and overlayfs does so itself.
function removeTree(path: string): void {
  if (findAt(path)?.isDirectory()) openFolders(path);
  rmSync(path, { recursive: true, force: true });
}

function openFolders(path: string): void {
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) openFolders(join(path, entry.name));
}

function tokensOf({ http, cwd }: FileDeps, own: string): readonly string[] {
  const named = http.tokenFile === undefined ? [] : [resolve(cwd, http.tokenFile)];
  return [...new Set([...named, join(own, 'token')])];
}

// `token_file` may point to another file by mistake, so the file is removed only if it contains a single word.
function planToken(path: string): readonly Removal[] {
  if (!findAt(path)?.isFile() || !/^\S{8,512}\n?$/.test(readFileSync(path, 'utf8'))) return [];
  return planFile(
    'the token of nacre serve',
    path,
    dirname(path).endsWith('/nacre') ? dirname(path) : undefined,
  );
}

function helpersIn(home: string, configHome: string): readonly string[] {
  return [
    join(configHome, 'fish', 'completions', 'nacre.fish'),
    join(home, '.local', 'share', 'bash-completion', 'completions', 'nacre'),
    join(home, '.local', 'share', 'man', 'man1', 'nacre.1'),
  ];
}

function describeKept({ places }: FileDeps, removesSettings: boolean): readonly string[] {
  const { settingsFile, audit, stateDir } = places;
  return [
    ...(!removesSettings && existsSync(settingsFile) ? [`${settingsFile}: your settings`] : []),
    ...(audit.dir !== join(stateDir, 'audit') && existsSync(audit.dir)
      ? [`${audit.dir}: the audit log, in the folder that audit_dir names`]
      : []),
    ...(audit.keyPath === undefined ? [] : [`${audit.keyPath}: the key of the audit log`]),
    'nacre.yaml in projects',
  ];
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {}
}
