import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { Capture } from './capture.ts';

describe('Capture', () => {
  it('reads a file that took the place of a FIFO at the end of the command', async () => {
    const path = join(temporaryFolder(), 'stdout');
    writeFileSync(path, 'written');
    let text = '';
    const capture = new Capture(openSync(path, 'r'), (bytes) => {
      text += Buffer.from(bytes).toString();
      return true;
    });
    expect(capture.isOpen()).toBe(true);
    expect(capture.drain()).toBe(true);
    await capture.ended;
    expect(text).toBe('written');
  });
});
