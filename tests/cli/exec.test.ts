import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needLandlock } from '../support/needs.ts';
import { own, runSteps, type StepResult } from '../support/run-steps.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;
const users = [
  ['the user of the tests', {}],
  ...(isRoot ? [['an ordinary user', { uid: nobody, gid: nobody }] as const] : []),
] as const;

const python = '/usr/bin/python3';
const script = `${python} escape.py`;

// A copy that every user can read, even if the sources are in a private folder.
let installed = '';
beforeAll(() => {
  installed = temporaryFolder();
  chmodSync(installed, 0o755);
  cpSync('dist', join(installed, 'dist'), { recursive: true });
  writeFileSync(join(installed, 'package.json'), '{"type":"module"}');
  for (const name of ['koffi', '@koromix'])
    cpSync(join('node_modules', name), join(installed, 'node_modules', name), { recursive: true });
});

beforeEach((context) => needLandlock(context));

describe.each(users)('as %s', (_user, identity) => {
  let results: readonly StepResult[] = [];

  beforeAll(async () => {
    const home = temporaryFolder();
    const project = join(home, 'project');
    mkdirSync(project);
    const program = "import os\nprint('read', flush=True)\nos.execv('/usr/bin/id', ['id'])\n";
    writeFileSync(join(project, 'escape.py'), program);
    own(identity, home, project);
    results = await runSteps({ home, project, cli: join(installed, 'dist/cli.js'), identity }, [
      { settings: { allowedCommands: [python], exec: 'enforce' }, scripts: [script] },
      { settings: { allowedCommands: [python], exec: 'enforce' } },
      { settings: { allowedCommands: [python] }, scripts: [script] },
      { settings: { allowedCommands: ['*'], exec: 'enforce' }, scripts: [script] },
    ]);
  }, 60_000);

  test('with exec: enforce a listed interpreter cannot start an unlisted program', () => {
    expect(results[0]?.outcomes[0]).toMatchObject({
      stdout: 'read\n',
      stderr: expect.stringContaining('Permission denied'),
      exitCode: 1,
    });
  });

  test('without exec: enforce, or with every program allowed, it can', () => {
    for (const step of [2, 3]) expect(results[step]?.outcomes[0]?.stdout).toContain('uid=');
  });

  test('the report says that Landlock is available and that the list is enforced', () => {
    expect(results[1]?.report).toMatchObject({ landlock: 'available', exec: 'enforced' });
  });
});
