// Where the shell stands after `cd`: the directories that are known, the endings of those that are not, and whether `/` may be one.
import { findProtectedPlace } from '../danger/protected-places.ts';
import { type Arg, prefixOf } from '../words/arg.ts';
import { normalisePath } from '../words/paths.ts';
import { noTrails, placesOf, type Shell } from './shell.ts';
import { followed, relativePath } from './trails.ts';
import { isReadFromFile, mayBeAnywhere } from './unknown-writes.ts';
import { textIfKnown } from './variable.ts';
import type { Walk } from './walk.ts';

/** Follows `cd` or `pushd` to a path; `back` is set for a return to the previous directory, or to one of the stack. */
export function changeDirectory(
  { links }: Pick<Walk, 'links'>,
  shell: Shell,
  path: Arg | undefined,
  back?: 'previous' | 'stack',
): void {
  const before = placesOf(shell);
  shell.isAnywhere = mayEndAnywhere(shell, path);
  const returned = back === 'previous' ? shell.previous : back === 'stack' ? shell.stacked : undefined;
  const places = returned ?? changedPlaces(shell, path);
  shell.isRead = shell.isAnywhere && (shell.isRead || path?.pieces.some(isReadFromFile) === true);
  shell.trails = changedTrails(shell, path);
  const cwd = changedDirectory(shell, path);
  // The link may be replaced, so its target is only one of the possible directories.
  shell.cwd = links.size === 0 ? cwd : cwd?.flatMap((place) => withTarget(place, links));
  shell.places = shell.cwd === undefined ? places : [];
  shell.previous = before;
}

function withTarget(place: string, links: Walk['links']): string[] {
  const target = links.get(place);
  return target === undefined ? [place] : [place, target];
}

/** The directories that may be the current one after `cd`: the root after `cd "$x/"`, and after `cd ../../..` in an unknown one. */
function changedPlaces(shell: Shell, path: Arg | undefined): readonly string[] {
  const text = path?.text;
  if (path === undefined || text === '-') return [];
  if (text === undefined) return findProtectedPlace(path, shell.cwd, '/root')?.kind === 'root' ? ['/'] : [];
  const cdPath = shell.variables.get('CDPATH');
  const searched = (cdPath && textIfKnown(cdPath))?.split(':').filter((place) => place.startsWith('/')) ?? [];
  const climbed =
    shell.cwd === undefined && shell.trails.some((trail) => /^\.\.\/\.\.\/\.\./.test(followed(trail, text)));
  return [
    ...(climbed ? ['/'] : []),
    ...[...shell.places, ...searched].flatMap((place) => normalisePath(text, place) ?? []),
  ];
}

function mayEndAnywhere({ isAnywhere }: Shell, path: Arg | undefined): boolean {
  if (path === undefined || path.text?.startsWith('/')) return false;
  if (path.text !== undefined) return isAnywhere && path.text !== '-';
  return mayBeAnywhere(path.pieces) || /^(?:\.\/)*\.[^/]*$/.test(prefixOf(path));
}

function changedTrails({ cwd, trails }: Shell, path: Arg | undefined): readonly string[] {
  const text = path?.text;
  if (text === undefined) return knownEnding(path);
  if (cwd !== undefined || /^(?:\/|-$)/.test(text)) return noTrails;
  return trails.map((trail) => followed(trail, text));
}

/** The folders that a path such as `"$x/.git"` ends with. */
function knownEnding(path: Arg | undefined): readonly string[] {
  const last = path?.pieces.at(-1);
  const slash = typeof last === 'string' ? last.indexOf('/') : -1;
  return typeof last !== 'string' || slash < 0 ? noTrails : [relativePath(last.slice(slash + 1))];
}

function changedDirectory(shell: Shell, path: Arg | undefined): readonly string[] | undefined {
  const text = path?.text;
  if (text === undefined || text === '-') return undefined;
  if (text === '') return shell.cwd;
  const from = text.startsWith('/') ? ['/'] : searchDirectories(shell, text);
  return from?.flatMap((cwd) => normalisePath(text, cwd) ?? []);
}

/** Returns the directories that `cd` searches for a relative path: the current one and those in CDPATH. */
function searchDirectories(shell: Shell, text: string): readonly string[] | undefined {
  const variable = shell.variables.get('CDPATH');
  if (variable === undefined || /^\.\.?(?:\/|$)/.test(text)) return shell.cwd;
  const path = textIfKnown(variable);
  if (path === undefined || shell.cwd === undefined) return undefined;
  return [...shell.cwd, ...path.split(':').filter((place) => place.startsWith('/'))];
}
