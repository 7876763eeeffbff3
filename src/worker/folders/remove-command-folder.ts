import { spawn } from 'node:child_process';
import { rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';

/**
 * Removes a folder that commands could write to. Unlike `fs.rm`, the program `rm` does not follow a folder that is
 * replaced by a symlink meanwhile, and does not fail on very deep folders; `chmod` restores the owner's permissions on
 * folders.
 */
export async function removeCommandFolder(path: string): Promise<void> {
  if (removeEmpty(path)) return;
  const script = 'chmod -R u+rwx -- "$1" 2>/dev/null; exec rm -rf -- "$1"';
  const child = spawn('/bin/sh', ['-c', script, 'sh', path], {
    cwd: '/',
    env: plainPath,
    stdio: 'ignore',
    timeout: removeMs,
    killSignal: 'SIGKILL',
  });
  await new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  // Files remain here only on a machine without `rm`.
  await rm(path, { recursive: true, force: true });
}

// A file system that no longer responds must not block the exit of the server.
const removeMs = 30_000;
const plainPath = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };

function removeEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
