import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { toEnterCommand } from '../../src/worker/changes/enter-layers.ts';
import type { Layer } from '../../src/worker/changes/layer.ts';
import { toPerlCommand } from '../../src/worker/changes/layer-calls.ts';

/** Runs a script of bash in a folder that a layer covers. */
export async function runInLayer(layer: Layer, script: string): Promise<number | null> {
  const [program = '', ...args] = toEnterCommand(layer.folders) ?? [];
  const [first] = layer.folders;
  const inFolder = `cd ${JSON.stringify(first?.folder)} && ${script}`;
  const child = spawn(program, [...args, 'bash', '-c', inFolder], { stdio: ['ignore', 'ignore', 'ignore'] });
  return new Promise((resolve) => child.once('exit', resolve));
}

/** Runs a script of bash in a folder. */
export function runDirectly(folder: string, script: string): number | null {
  return spawnSync('bash', ['-c', script], { cwd: folder, stdio: 'ignore' }).status;
}

/**
 * A folder as lines of text: type, mode, content, target and, if wanted, time of everything in it. A time after `now` is
 * shown as `now`, because two runs of a command never have the same.
 */
export function describeTree(
  folder: string,
  { times = false, links = true, now = Number.POSITIVE_INFINITY } = {},
): readonly string[] {
  const inodes = new Map<number, string>();
  const toTime = (ms: number) => (ms >= now ? 'now' : Math.floor(ms));
  const walk = (path: string): readonly string[] => {
    const status = lstatSync(join(folder, path));
    const mode = (status.mode & 0o177777).toString(8);
    const first = inodes.get(status.ino);
    if (!status.isDirectory() && status.nlink > 1 && first === undefined) inodes.set(status.ino, path);
    const content = status.isSymbolicLink()
      ? readlinkSync(join(folder, path))
      : status.isFile()
        ? createHash('sha256')
            .update(readFileSync(join(folder, path)))
            .digest('hex')
            .slice(0, 12)
        : '';
    const link = first === undefined || !links ? '' : ` = ${first}`;
    const line = `${path} ${mode} ${content}${times ? ` ${toTime(status.mtimeMs)}` : ''}${link}`;
    if (!status.isDirectory()) return [line];
    const names = readdirSync(join(folder, path)).sort();
    return [line, ...names.flatMap((name) => walk(join(path, name)))];
  };
  return walk('.');
}

/** The names of the extended attributes that overlayfs has left in a folder, each after its path. */
export function findOverlayAttributes(folder: string): readonly string[] {
  const [perl = '', ...args] = toPerlCommand(attributesScript) ?? [];
  const { stdout } = spawnSync(perl, [...args, folder], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

// The 13th number of `toPerlCommand` is that of llistxattr().
const attributesScript = String.raw`
use File::Find;
my $call = (split /,/, shift)[12] + 0;
find({ no_chdir => 1, wanted => sub {
    my ($path, $list) = ($_, "\0" x 4096);
    my $length = syscall $call, $path, $list, 4096;
    print map { "$path $_\n" } grep { /overlay/ } split /\0/, substr $list, 0, $length if $length > 0;
} }, @ARGV);
`;
