import { spawn } from 'node:child_process';
import { rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';

/**
 * Removes a folder that commands could write to. Unlike `fs.rm`, the program `rm` cannot be led out of it by a folder that is
 * replaced by a symlink meanwhile, or stopped by very deep folders; `chmod` opens folders that are closed to their owner.
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
  // Only on a machine without `rm` is there still something to remove.
  await rm(path, { recursive: true, force: true });
}

// A folder on a file system that no longer answers must not block the end of the server.
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
