import { afterAll } from 'vitest';
import { processesWith } from '../support/processes.ts';
import { removeTemporaryFolders, temporaryFolders } from '../support/temporary-folder.ts';

// Cline leaves a daemon of its own, which would run for ever in a folder that is gone.
afterAll(() => {
  for (const pid of temporaryFolders().flatMap(processesWith)) kill(pid);
  removeTemporaryFolders();
});

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended in the meantime.
  }
}
