// Finds a Node binary to upload to a machine that has none: `process.execPath` if the platform matches, or one from npm's cache.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { FarMessage } from './far-messages.ts';
import { missingNode, nodePackages } from './road-errors.ts';

/** A Node binary. */
export interface FoundNode {
  readonly data: Buffer;
  /** SHA-256 in hex. */
  readonly digest: string;
}

/** Finds a Node binary for the platform that `need` describes; throws an error with the next step if there is none. */
export function findNode(
  machine: string,
  need: FarMessage,
  environment: Readonly<Record<string, string>>,
): FoundNode {
  const name = need.os === 'Linux' && need.libc === 'glibc' ? nodePackages.get(need.arch ?? '') : undefined;
  const data = name === undefined ? undefined : (ownNode(name) ?? cachedNode(name, environment));
  if (!data) throw missingNode(machine, need);
  return { data, digest: createHash('sha256').update(data).digest('hex') };
}

function ownNode(name: string): Buffer | undefined {
  if (name !== `node-${process.platform}-${process.arch}` || !usesGlibc()) return undefined;
  return readFileSync(process.execPath);
}

function usesGlibc(): boolean {
  const { header } = process.report.getReport() as { readonly header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime !== undefined;
}

// The newest version of the package in npm's cache.
function cachedNode(name: string, environment: Readonly<Record<string, string>>): Buffer | undefined {
  const home = environment.HOME ?? '/';
  const cache = join(environment.npm_config_cache ?? join(home, '.npm'), '_cacache');
  const found = listEntries(join(cache, 'index-v5'), `/${name}/-/${name}-`)
    .toSorted((one, other) => compareVersions(other.version, one.version))
    .find(({ content }) => existsSync(join(cache, content)));
  if (!found || compareVersions(found.version, [20, 19, 0]) < 0) return undefined;
  return fromTar(gunzipSync(readFileSync(join(cache, found.content))), 'package/bin/node');
}

interface CacheEntry {
  readonly version: readonly number[];
  /** The path of the package below the cache. */
  readonly content: string;
}

function listEntries(index: string, part: string): readonly CacheEntry[] {
  if (!existsSync(index)) return [];
  const files = readdirSync(index, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return files.flatMap(({ parentPath, name }) => {
    const text = readFileSync(join(parentPath, name), 'utf8');
    return text.includes(part) ? text.split('\n').flatMap((line) => toEntry(line, part)) : [];
  });
}

function toEntry(line: string, part: string): readonly CacheEntry[] {
  try {
    const { key, integrity } = JSON.parse(line.slice(line.indexOf('\t') + 1)) as Record<string, string>;
    const version = key?.split(part)[1]?.replace(/\.tgz$/, '');
    const [algorithm, hash] = integrity?.split('-') ?? [];
    if (version === undefined || algorithm === undefined || hash === undefined) return [];
    const hex = Buffer.from(hash, 'base64').toString('hex');
    const content = join('content-v2', algorithm, hex.slice(0, 2), hex.slice(2, 4), hex.slice(4));
    return [{ version: version.split('.').map(Number), content }];
  } catch {
    return [];
  }
}

function compareVersions(one: readonly number[], other: readonly number[]): number {
  const at = [0, 1, 2].find((index) => one[index] !== other[index]);
  return at === undefined ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

// A tar archive is a header of 512 bytes per file, with its name and its size in octal, and the file in blocks of 512 bytes.
function fromTar(tar: Buffer, path: string): Buffer | undefined {
  for (let at = 0; at + 512 <= tar.length; ) {
    const name = tar.toString('latin1', at, at + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8) || 0;
    if (name === path) return tar.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return undefined;
}
