import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestEngine } from '../../../tests/support/engine.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createMask } from '../../audit/redact.ts';
import { createRecordings } from '../../recordings/recordings.ts';
import { stackLayers } from './stack-layers.ts';

let dir = '';
beforeEach(() => {
  dir = temporaryFolder();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('S6: output is masked before it is recorded', async () => {
  const mask = createMask(['hunter2-value']);
  const recordings = createRecordings(dir, { keepDays: 1, maxBytes: 1_048_576 });
  const here = createTestEngine({ wrap: (backend) => stackLayers(backend, { mask, recordings }) });
  const { id, stdout } = await here.run('echo it is hunter2-value');
  expect(stdout).toBe('it is *************\n');
  await here.close();
  const recording = readFileSync(join(dir, `${id}.cast`), 'utf8');
  expect(recording).toContain('it is *************');
  expect(recording).not.toContain('hunter2');
});

test('output is neither masked nor recorded by default', async () => {
  const here = createTestEngine({ wrap: (backend) => stackLayers(backend, {}) });
  expect(await here.run('echo TOKEN=abc')).toMatchObject({ stdout: 'TOKEN=abc\n' });
  await here.close();
});
