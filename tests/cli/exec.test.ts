import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPlace } from '../support/nacre.ts';
import { needLandlock, needPrograms } from '../support/needs.ts';
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

// A filter for system calls 444 to 446, which fail with ENOSYS as in a container that forbids Landlock.
const withoutLandlock = `
my @steps = ([0x20, 0, 0, 0], [0x35, 0, 2, 444], [0x25, 1, 0, 446], [6, 0, 0, 0x50026], [6, 0, 0, 0x7fff0000]);
my $filter = join '', map { pack 'SCCL', @$_ } @steps;
my $program = pack 'S x6 P', scalar @steps, $filter;
my $prctl = shift @ARGV;
syscall $prctl + 0, 38, 1, 0, 0, 0;
syscall($prctl + 0, 22, 2, $program, 0, 0) == 0 or die "seccomp: $!";
exec @ARGV;`;

test('where the kernel cannot enforce a closed list, commands run, and check and doctor say so', (context) => {
  needPrograms(context, '/usr/bin/perl');
  const place = createPlace({ ALLOWED_COMMANDS: 'ls,git' });
  const prctl = process.arch === 'arm64' ? '167' : '157';
  const nacre = (...words: readonly string[]) => {
    const args = [
      '-e',
      withoutLandlock,
      prctl,
      process.execPath,
      join(process.cwd(), 'dist/cli.js'),
      ...words,
    ];
    const { stdout, stderr } = spawnSync('/usr/bin/perl', args, { ...place, encoding: 'utf8', input: '' });
    return `${stdout}${stderr}`;
  };
  const reason = /nothing is enforced by the kernel, because the kernel does not offer Landlock/;
  expect(nacre('run', 'ls -d .')).toBe('.\n');
  expect(nacre('check', 'ls')).toMatch(reason);
  expect(nacre('doctor')).toMatch(reason);
});
