import { join } from 'node:path';
import {
  type Change,
  type ChangeKind,
  type ChangeList,
  changeKinds,
  type FileType,
  type FileVersion,
} from '../../contract/changes.ts';

const wordsPerChange = 9;

/** The place of a change: the number of its folder, the path in it, and the folder or layer that has the old version. */
export interface ChangePlace {
  readonly index: number;
  readonly inFolder: string;
  readonly oldRoot: string;
}

/** The changes that the helper has listed, and the place of each. */
export interface ParsedList {
  readonly list: ChangeList;
  readonly places: readonly ChangePlace[];
}

/** Parses the helper's list of changes; `folders` are the folders of the workspace. */
export function parseList(words: readonly Buffer[], folders: readonly string[]): ParsedList {
  const [created = 0, changed = 0, deleted = 0, mode = 0, bytes = 0, , found = 0] = words
    .slice(0, 7)
    .map(Number);
  const rows = Array.from({ length: found / wordsPerChange }, (_, index) =>
    words.slice(7 + index * wordsPerChange, 7 + (index + 1) * wordsPerChange).map(String),
  );
  const changes = rows.map((row) => toChange(row, folders));
  const conflicts = words.slice(7 + found).map((path) => toPath(String(path), folders));
  return { list: { created, changed, deleted, mode, bytes, changes, conflicts }, places: rows.map(toPlace) };
}

function toPlace(row: readonly string[]): ChangePlace {
  return { ...splitPath(row[1] ?? ''), oldRoot: row[8] ?? '' };
}

/** The name of a path in requests to the helper: the number of its folder, and the path in it; undefined outside of all. */
export function toHelperPath(path: string, folders: readonly string[]): string | undefined {
  const [only] = folders;
  const absolute = path.startsWith('/') ? path : join(only ?? '/', path);
  const clean = join(absolute, '.').replace(/\/$/, '');
  const index = folders.findIndex((folder) => clean === folder || clean.startsWith(`${folder}/`));
  return index < 0 ? undefined : `${index}${clean.slice(folders[index]?.length)}`;
}

function toChange(words: readonly string[], folders: readonly string[]): Change {
  const [kind, path = '', oldMode, oldBytes, newMode, newBytes, conflict, links] = words;
  const [before, after] = [toVersion(oldMode, oldBytes), toVersion(newMode, newBytes)];
  const hasLinks = Number(links) > 1 && before?.type === 'file';
  return {
    kind: toKind(kind),
    path: toPath(path, folders),
    ...(before && { before }),
    ...(after && { after }),
    ...(conflict === '1' && { conflict: true }),
    ...(hasLinks && { links: Number(links) }),
  };
}

function toKind(word: string | undefined): ChangeKind {
  return changeKinds.find((kind) => kind === word) ?? 'changed';
}

function toVersion(mode = '', bytes = ''): FileVersion | undefined {
  if (mode === '') return undefined;
  const bits = Number(mode);
  return { type: fileTypes[bits >> 12] ?? 'file', mode: bits & 0o7777, bytes: Number(bytes) };
}

const fileTypes: Readonly<Record<number, FileType>> = {
  1: 'fifo',
  2: 'device',
  4: 'folder',
  6: 'device',
  8: 'file',
  10: 'symlink',
  12: 'socket',
};

function toPath(path: string, folders: readonly string[]): string {
  const { index, inFolder } = splitPath(path);
  return folders.length === 1 ? inFolder : join(folders[index] ?? '/', inFolder);
}

function splitPath(path: string): Pick<ChangePlace, 'index' | 'inFolder'> {
  const [, index, inFolder = '.'] = /^(\d+)\/?([\s\S]*)$/.exec(path) ?? [];
  return { index: Number(index), inFolder };
}
