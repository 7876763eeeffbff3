// The files that a worker needs on another machine, as one upload that is named by its digest.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The files of a worker as the loader expects them: the length of a list as u32, the list as JSON, the contents. */
export interface WorkerUpload {
  /** The SHA-256 of `data` in hex. */
  readonly digest: string;
  readonly data: Buffer;
  /** The text of dist/loader.cjs, which receives the upload. */
  readonly loader: string;
}

interface UploadedFile {
  readonly path: string;
  readonly content: Buffer;
}

const uploads = new Map<string, WorkerUpload>();

/** Reads the files in the folder of `program`, which is dist/worker.js. */
export function readWorkerUpload(program: string): WorkerUpload {
  const known = uploads.get(program);
  if (known) return known;
  const data = toUpload(workerFiles(program));
  const digest = createHash('sha256').update(data).digest('hex');
  const loader = readFileSync(join(dirname(program), 'loader.cjs'), 'utf8');
  const upload = { digest, data, loader };
  uploads.set(program, upload);
  return upload;
}

/** The worker, the guard that restricts commands, and the addon for terminals if it is installed. */
export function workerFiles(program: string): readonly UploadedFile[] {
  const folder = dirname(program);
  return [
    { path: 'package.json', content: Buffer.from('{"type":"module"}\n') },
    { path: 'worker.js', content: readFileSync(program) },
    { path: 'exec-guard.pl', content: readFileSync(join(folder, 'exec-guard.pl')) },
    ...terminalFiles(program),
  ];
}

// The JavaScript part of the package only chooses the addon of its platform.
function terminalFiles(program: string): readonly UploadedFile[] {
  const scope = '@lydell';
  const require = createRequire(program);
  const files = [
    ['node-pty', 'package.json', 'requireBinary.js'],
    ['node-pty-linux-x64', 'package.json', 'pty.node'],
    ['node-pty-linux-arm64', 'package.json', 'pty.node'],
  ].flatMap(([name, ...names]) => names.map((file) => `${scope}/${name}/${file}`));
  return files.flatMap((path) => {
    const found = resolveIfInstalled(require, path);
    return found === undefined ? [] : [{ path: `node_modules/${path}`, content: readFileSync(found) }];
  });
}

function resolveIfInstalled(require: NodeJS.Require, path: string): string | undefined {
  try {
    return require.resolve(path);
  } catch {
    return undefined;
  }
}

function toUpload(files: readonly UploadedFile[]): Buffer {
  const list = Buffer.from(
    JSON.stringify(files.map(({ path, content }) => ({ path, size: content.length }))),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32BE(list.length);
  return Buffer.concat([length, list, ...files.map(({ content }) => content)]);
}
