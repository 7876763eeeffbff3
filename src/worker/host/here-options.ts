// A server on another machine cannot name paths of this one, so the worker fills in its own home directory, environment, state
// folder and guard, and reads `~` in directories as its own home. It reads no settings of this machine.
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Facts, InspectQuery, Place } from '../../contract/facts.ts';
import type { SecretDigests } from '../../contract/secret-digests.ts';
import type { Elsewhere, FarMachine } from '../../contract/wire.ts';
import { toSecretDigests } from '../../support/secret-digests.ts';
import { type Environment, filterEnvironment } from '../machine/environment.ts';
import type { WorkerOptions } from '../worker-options.ts';

/** The options of a worker that come from its own machine. */
export type HereOptions = Pick<
  WorkerOptions,
  'stateDir' | 'home' | 'environment' | 'execGuard' | 'ownFiles' | 'highestLevel'
>;

/** The options of this machine; everything that the worker writes is below `root`. */
export function findHere(
  root: string,
  { environment, execGuard }: Pick<WorkerOptions, 'environment' | 'execGuard'>,
): HereOptions {
  const home = findHome(environment);
  return {
    stateDir: join(root, 'state'),
    home,
    environment,
    execGuard,
    ownFiles: [root],
    highestLevel: 'namespace',
  };
}

/** `HereOptions` for a server on another machine, with the directory of commands that name none. */
export function toHereOptions(
  here: HereOptions,
  elsewhere: Elsewhere,
): HereOptions & { readonly cwd: string } {
  return { ...here, cwd: findCwd(here, elsewhere) };
}

/** The worker's report about this machine. */
export function toFarMachine(here: HereOptions, elsewhere: Elsewhere): FarMachine {
  const platform = `${process.platform} ${process.arch}`;
  return { platform, home: here.home, cwd: findCwd(here, elsewhere) };
}

/** Digests of the variables of this machine that are withheld from commands; their values stay here. */
export function digestSecrets(
  { environment }: HereOptions,
  { secretRules }: Elsewhere,
): SecretDigests | undefined {
  if (!secretRules) return undefined;
  const { withheld } = filterEnvironment(environment, secretRules);
  return toSecretDigests(withheld.map((name) => environment[name] ?? ''));
}

/** A query whose directories begin with the home directory instead of `~`. */
export function expandQueryHome({ cwd, roots, ...query }: InspectQuery, home: string): InspectQuery {
  const expand = (path: string) => (/^~(?:\/|$)/.test(path) ? join(home, path.slice(1)) : path);
  return { ...query, cwd: cwd === undefined ? undefined : expand(cwd), roots: roots.map(expand) };
}

/** Facts whose `asked` fields have the directories as in the query, with `~`. */
export function withAskedPaths(facts: Facts, { cwd, roots }: InspectQuery): Facts {
  const named = (place: Place, asked: string | undefined): Place =>
    asked === undefined ? place : { ...place, asked };
  return {
    ...facts,
    cwd: named(facts.cwd, cwd),
    roots: facts.roots.map((place, index) => named(place, roots[index])),
  };
}

function findCwd({ home }: HereOptions, { cwd }: Elsewhere): string {
  return cwd !== undefined && isAbsolute(cwd) && isDirectory(cwd) ? cwd : isDirectory(home) ? home : '/';
}

function findHome({ HOME }: Environment): string {
  if (HOME !== undefined && isAbsolute(HOME)) return HOME;
  try {
    return homedir() || '/';
  } catch {
    // A user id without an account, as in containers.
    return '/';
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
