// Checks a lock while no descriptor is left, and has one again afterwards, as a step that closes its own file.
import { closeSync, existsSync, mkdtempSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from '../../src/support/file-lock.ts';

const path = join(mkdtempSync(join(tmpdir(), 'lock-')), 'lock');
const open: number[] = [];

function useAllDescriptors(): void {
  try {
    for (;;) open.push(openSync('/dev/null', 'r'));
  } catch {}
}

function checkLock(): string {
  let steps = 0;
  try {
    return withLock(path, (assertHeld) => {
      steps += 1;
      if (steps > 1) return 'the step was repeated';
      useAllDescriptors();
      try {
        assertHeld();
        return 'held';
      } finally {
        closeSync(open.pop() ?? -1);
      }
    });
  } catch (error) {
    return (error as Error).message;
  } finally {
    for (const fd of open.splice(0)) closeSync(fd);
  }
}

const found = checkLock();
console.log(JSON.stringify({ found, next: withLock(path, () => 'works'), isLeft: existsSync(path) }));
