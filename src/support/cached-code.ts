// Loads a bundle with V8's compiled code, which the build or an earlier start has saved next to it: compiling takes
// longer than everything else that the bundle does. V8 refuses a cache of another version or other flags, but compares
// only the length of the source, and crashes if the cache is damaged. The name of a bundle therefore contains a hash of
// its content, that of a cache also the version of Node, and a cache ends with a checksum.
import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { constants, Script } from 'node:vm';

/** A loaded bundle. */
export interface CachedCode {
  readonly exports: unknown;
  /** Saves the compiled code, with all functions that have run; does nothing if V8 has used a cache. */
  save(): void;
}

/** Loads a CommonJS bundle. */
export function loadCachedCode(file: string): CachedCode {
  const source = readFileSync(file, 'latin1');
  const cachedData = readCache(file);
  const script = new Script(`(function (module, require, __filename) {${source}\n})`, {
    filename: file,
    ...(cachedData && { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = { exports: {} };
  script.runInThisContext()(module, createRequire(file), file);
  const isUsed = cachedData !== undefined && script.cachedDataRejected === false;
  return {
    exports: module.exports,
    save: () => (isUsed ? undefined : writeCache(file, script.createCachedData())),
  };
}

/** The file with the compiled code of a bundle, for this version of Node. */
export function cacheFile(file: string): string {
  return `${file}.${process.version}-${process.arch}.cache`;
}

// V8 executes what it reads, so a cache is trusted exactly as far as the bundle: its owner is the same, and no one else can
// write it.
function readCache(file: string): Buffer | undefined {
  try {
    const descriptor = openSync(cacheFile(file), 'r');
    try {
      const found = fstatSync(descriptor);
      const isOwn = found.isFile() && found.uid === statSync(file).uid && (found.mode & 0o022) === 0;
      return isOwn ? withoutChecksum(readFileSync(descriptor)) : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

const checksumBytes = 4;

function withChecksum(code: Buffer): Buffer {
  const end = Buffer.alloc(checksumBytes);
  end.writeInt32LE(checksumOf(code));
  return Buffer.concat([code, end]);
}

function withoutChecksum(bytes: Buffer): Buffer | undefined {
  if (bytes.length < checksumBytes) return undefined;
  const code = bytes.subarray(0, -checksumBytes);
  return bytes.readInt32LE(code.length) === checksumOf(code) ? code : undefined;
}

// Finds damage, not forgery. Node's own checksums would take longer to load than this takes to compute.
function checksumOf(code: Buffer): number {
  const whole = code.length - (code.length % 4);
  let sum = code.length;
  for (let at = 0; at < whole; at += 4) sum = (Math.imul(sum, 31) + code.readInt32LE(at)) | 0;
  for (let at = whole; at < code.length; at += 1) sum = (Math.imul(sum, 31) + code.readUInt8(at)) | 0;
  return sum;
}

// Only the owner of the bundle saves a cache, and only in a folder that others cannot write. A reader never sees half a file.
function writeCache(file: string, code: Buffer): void {
  const uid = process.getuid?.();
  const isOwn = (path: string) => {
    const found = statSync(path);
    return found.uid === uid && (found.mode & 0o022) === 0;
  };
  const unfinished = `${cacheFile(file)}.${process.pid}`;
  try {
    if (!isOwn(dirname(file)) || !isOwn(file)) return;
    writeFileSync(unfinished, withChecksum(code), { mode: 0o644, flag: 'wx' });
    renameSync(unfinished, cacheFile(file));
  } catch {
    // A folder that cannot be written, or a full disk: the next start compiles again.
    rmSync(unfinished, { force: true });
  }
}
