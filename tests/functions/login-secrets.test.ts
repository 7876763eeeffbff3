import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createNacre } from '../../src/index.ts';
import { createPlace, survivors } from '../support/nacre.ts';

it('S6: secrets that only the login shell sets are redacted from the first record on', async () => {
  const place = createPlace();
  const shell = join(place.cwd, 'shell');
  writeFileSync(shell, '#!/bin/bash\nexport LOGIN_TOKEN=from-the-profile\nexec /bin/bash -c "$2"\n');
  chmodSync(shell, 0o755);
  const env = { ...place.env, SHELL: shell };
  const nacre = await createNacre(
    { loginEnv: 'always', tools: ['shell-execute'], auditDir: 'audit', redactOutput: true },
    { cwd: place.cwd, env },
  );
  const { metadata } = await nacre.tools.shellExecute.run({
    command: 'echo "[$LOGIN_TOKEN] from-the-profile"',
  });
  await nacre.close();
  expect(metadata.stdout).toBe('[] ****************\n');
  const dir = join(place.cwd, 'audit');
  const records = readdirSync(dir).map((name) => readFileSync(join(dir, name), 'utf8'));
  expect(records.join('')).toContain('[redacted]');
  expect(records.join('')).not.toContain('from-the-profile');
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true });
});
