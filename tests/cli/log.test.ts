import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createNacre } from '../../src/index.ts';
import { createPlace, endOf, runInProcess, startReal } from '../support/nacre.ts';

it('S10: log lines on stderr have the same id as the reply and the audit log', async () => {
  const place = createPlace({ NACRE_AUDIT_DIR: 'audit', MY_TOKEN: 'hidden-value' });
  const flags = ['--log-level', 'debug', '--log-format', 'json', '--json'];
  const { stdout, stderr } = await endOf(startReal(['run', ...flags, 'echo hidden-value'], place));
  const { id } = JSON.parse(stdout);
  const lines = stderr
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  expect(lines.map(({ event }) => event)).toEqual(['asked', 'decided', 'started', 'finished']);
  expect(new Set(lines.map((line) => line.id))).toEqual(new Set([id]));
  expect(stderr).not.toContain('hidden-value');
  const folder = join(place.cwd, 'audit');
  const records = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(records.join('')).toContain(id);
  // Without `--log-level` nothing is logged.
  expect(await runInProcess(['run', 'true'], place)).toMatchObject({ stderr: '' });
  expect((await runInProcess(['run', '--log-level', 'info', 'true'], place)).stderr).toMatch(
    /info {2}cmd_\w+ finished: nacre run/,
  );
  const nacre = await createNacre({ loginEnv: 'never' }, place);
  await nacre.run('true');
  expect(await nacre.metrics()).toContain('nacre_commands_total{outcome="completed"');
  await nacre.close();
  rmSync(place.cwd, { recursive: true });
});
