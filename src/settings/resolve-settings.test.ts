import { describe, expect, it } from 'vitest';
import { NacreError } from '../contract/failure.ts';
import { defineSettings } from './define.ts';
import { parseFlags } from './parse-flags.ts';
import { resolveSettings } from './resolve-settings.ts';
import { s } from './schema.ts';

const declared = defineSettings({
  allowed: s
    .list(s.text())
    .optional()
    .meta({
      env: ['ALLOWED', 'NACRE_ALLOWED'],
      flag: '--allow',
      description: 'Programs.',
      everything: '*',
      project: 'intersect',
    }),
  roots: s.list(s.text()).default([]).meta({
    env: 'ROOTS',
    flag: '--roots',
    description: 'Directories.',
    path: true,
    project: 'alongside',
  }),
  ringBytes: s.int().min(4_096).max(65_536).default(8_192).meta({
    env: 'NACRE_RING_BYTES',
    flag: '--ring-bytes',
    description: 'Memory.',
    project: 'lower',
  }),
  danger: s.choice(['off', 'block']).default('block').meta({
    env: 'NACRE_DANGER',
    flag: '--danger',
    description: 'Danger.',
    project: 'stricter',
  }),
  families: s
    .list(s.choice(['one', 'two']))
    .min(1)
    .default(['one'])
    .meta({ flag: '--families', description: 'Families.', project: 'intersect' }),
  stateDir: s.text().min(1).optional().meta({
    env: 'NACRE_STATE_DIR',
    flag: '--state-dir',
    description: 'State.',
    path: true,
  }),
});

interface Given {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly project?: string;
  readonly user?: string;
}

function resolve({ argv = [], env = {}, project, user }: Given) {
  return resolveSettings(
    {
      flags: parseFlags(argv, declared),
      env,
      project: project === undefined ? undefined : { path: '/repo/nacre.yaml', text: project },
      user: user === undefined ? undefined : { path: '/home/me/config.yaml', text: user },
    },
    declared,
  );
}

function problemsOf(given: Given): string[] {
  try {
    resolve(given);
  } catch (error) {
    if (!(error instanceof NacreError) || error.code !== 'settings_invalid') throw error;
    const problems = error.details.problems as { where: string; message: string }[];
    return problems.map(({ where, message }) => `${where}: ${message}`);
  }
  return [];
}

describe('E8: where settings come from', () => {
  it('a flag wins over the environment, that over the user file, that over the default', () => {
    const user = 'ring_bytes: 5000\n';
    const env = { NACRE_RING_BYTES: '6000' };
    expect(resolve({ argv: ['--ring-bytes=7000'], env, user }).values.ringBytes).toBe(7_000);
    expect(resolve({ env, user }).values.ringBytes).toBe(6_000);
    expect(resolve({ user }).values.ringBytes).toBe(5_000);
    expect(resolve({}).values.ringBytes).toBe(8_192);
  });

  it('says where each value came from and what tightened it', () => {
    const { origins } = resolve({
      argv: ['--danger', 'off'],
      env: { ALLOWED: 'git,ls' },
      user: '# mine\nring_bytes: 8KiB\n',
      project: 'allowed: [git]\n\nring_bytes: 64KiB\n',
    });
    expect(origins).toMatchObject({
      danger: { source: 'flag', where: '--danger' },
      allowed: { source: 'environment', where: 'ALLOWED', tightenedBy: '/repo/nacre.yaml:1' },
      ringBytes: { source: 'user', where: '/home/me/config.yaml:2' },
      stateDir: { source: 'default', where: 'default' },
    });
    expect(origins.ringBytes).not.toHaveProperty('tightenedBy');
  });

  it('resolves without any source at all', () => {
    const { values, limits, warnings } = resolveSettings({}, declared);
    expect(values).toEqual({ roots: [], ringBytes: 8_192, danger: 'block', families: ['one'] });
    expect([limits, warnings]).toEqual([{}, []]);
  });

  it('reads no settings from an empty file or one with only comments', () => {
    for (const text of ['', '# nothing\n', '---\n', '{}']) {
      expect(resolve({ user: text, project: text }).values.ringBytes).toBe(8_192);
    }
  });

  it('T5: blanks and empty items are removed from a comma-separated list', () => {
    expect(resolve({ env: { ALLOWED: ' git , ls,,cat, ' } }).values.allowed).toEqual(['git', 'ls', 'cat']);
    expect(resolve({ user: 'allowed: "*"\n' }).values.allowed).toEqual(['*']);
  });

  it('T5: an empty list has no entries, a missing one is unset', () => {
    expect(resolve({ env: { ALLOWED: '' } }).values.allowed).toEqual([]);
    expect(resolve({}).values.allowed).toBeUndefined();
  });

  it('treats an empty variable as unset, except for a list', () => {
    const env = { NACRE_RING_BYTES: '', NACRE_STATE_DIR: ' ', NACRE_DANGER: '' };
    expect(resolve({ env }).values).toMatchObject({ ringBytes: 8_192, danger: 'block' });
  });

  it('resolves a relative path in a file against the folder of that file, and keeps it as it is elsewhere', () => {
    expect(resolve({ user: 'state_dir: state\nroots: [src, /abs]\n' }).values).toMatchObject({
      stateDir: '/home/me/state',
      roots: ['/home/me/src', '/abs'],
    });
    expect(resolve({ user: 'roots: "a, b"\n' }).values.roots).toEqual(['/home/me/a', '/home/me/b']);
    expect(resolve({ env: { ROOTS: 'src' }, argv: ['--state-dir=x'] }).values).toMatchObject({
      stateDir: 'x',
      roots: ['src'],
    });
  });
});

describe('E8: a project file', () => {
  it('narrows a list, lowers a number and makes a choice stricter', () => {
    const project = 'allowed: [git, rm]\nring_bytes: 4096\ndanger: block\n';
    const { values } = resolve({ argv: ['--allow=git,ls', '--danger=off'], project });
    expect(values).toMatchObject({ allowed: ['git'], ringBytes: 4_096, danger: 'block' });
  });

  it('never loosens a value from another source, nor a default', () => {
    const project = 'allowed: "*"\nring_bytes: 65536\ndanger: off\n';
    expect(resolve({ argv: ['--allow=git'], project }).values).toMatchObject({
      allowed: ['git'],
      ringBytes: 8_192,
      danger: 'block',
    });
  });

  it('does not turn an unset list of programs into one that allows any', () => {
    const { values, limits, origins } = resolve({ project: 'allowed: [git]\n' });
    expect(values.allowed).toBeUndefined();
    expect(limits.allowed).toEqual(['git']);
    expect(origins.allowed.tightenedBy).toBe('/repo/nacre.yaml:1');
  });

  it('adds a limit to the directories that are set', () => {
    const { values, limits } = resolve({ env: { ROOTS: '/home' }, project: 'roots: [.]\n' });
    expect(values.roots).toEqual(['/home']);
    expect(limits.roots).toEqual(['/repo/.']);
  });

  it('may not set a setting with project: never, and the error lists where to set it', () => {
    expect(problemsOf({ project: 'danger: block\nstate_dir: /elsewhere\n' })).toEqual([
      '/repo/nacre.yaml:2: state_dir is not allowed in a project file; use --state-dir, NACRE_STATE_DIR, state_dir in the user file.',
    ]);
  });

  it('stops the start if it empties a list that must not be empty', () => {
    expect(problemsOf({ argv: ['--families=one'], project: 'families: [two]\n' })).toEqual([
      '/repo/nacre.yaml:1: families: ["two"] and the value of --families have no entry in common.',
    ]);
  });
});

describe('E8: an invalid setting stops the start', () => {
  it('with an error that names the setting, its source, its value and the accepted values', () => {
    const accepted = 'expected a whole number from 4096 to 65536, or with kB, MB, GB, KiB, MiB or GiB.';
    expect(problemsOf({ argv: ['--ring-bytes=12'] })).toEqual([
      `--ring-bytes: ring_bytes cannot be "12"; ${accepted}`,
    ]);
    expect(problemsOf({ env: { NACRE_RING_BYTES: '1GiB' } })).toEqual([
      `NACRE_RING_BYTES: ring_bytes cannot be "1GiB"; ${accepted}`,
    ]);
    expect(problemsOf({ user: '\n\nring_bytes: 4096.5\n' })).toEqual([
      `/home/me/config.yaml:3: ring_bytes cannot be 4096.5; ${accepted}`,
    ]);
    expect(problemsOf({ project: 'danger: maybe\n' })).toEqual([
      '/repo/nacre.yaml:1: danger cannot be "maybe"; expected one of off, block.',
    ]);
    expect(problemsOf({ argv: ['--families=one,three'] })).toEqual([
      '--families: families cannot be "one,three"; expected a comma-separated list of one, two.',
    ]);
  });

  it('with one error that lists the problems of all sources', () => {
    const problems = problemsOf({
      argv: ['--bogus', '--danger=x'],
      env: { NACRE_RING_BYTES: 'many' },
      project: 'unknown: 1\n',
      user: 'danger: 5\nallowed: {git: true}\n',
    });
    expect(problems.map((problem) => problem.split(': ')[0])).toEqual([
      '--bogus',
      '/repo/nacre.yaml:1',
      '--danger',
      'NACRE_RING_BYTES',
      '/home/me/config.yaml:1',
      '/home/me/config.yaml:2',
    ]);
  });

  it('even if another source outranks the invalid value', () => {
    expect(problemsOf({ argv: ['--danger=off'], env: { NACRE_DANGER: 'x' } })).toHaveLength(1);
  });

  it('with one sentence for a single problem, and a next step', () => {
    const attempt = () => resolve({ argv: ['--danger=x'] });
    expect(attempt).toThrow(/^--danger: danger cannot be "x"; expected one of off, block\.$/);
    expect(attempt).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('nothing was started') }),
    );
  });

  it('if a key is unknown, with a suggestion', () => {
    expect(problemsOf({ user: 'dangr: off\n' })).toEqual([
      '/home/me/config.yaml:1: There is no setting dangr. Did you mean danger?',
    ]);
    expect(problemsOf({ user: 'ringBytes: 5000\n' })[0]).toContain('Did you mean ring_bytes?');
    expect(problemsOf({ user: '? [a, b]\n: 1\n' })[0]).toContain('There is no setting');
    expect(problemsOf({ user: '__proto__: 1\n' })[0]).toContain('There is no setting __proto__.');
  });

  it('if a key appears twice', () => {
    expect(problemsOf({ user: 'danger: off\nring_bytes: 5000\ndanger: block\n' })).toEqual([
      '/home/me/config.yaml:3: This key appears twice in the file; keep one.',
    ]);
  });

  it('if a key has no value', () => {
    expect(problemsOf({ user: 'danger:\nallowed:\nstate_dir: null\nring_bytes: ~' })).toHaveLength(4);
    expect(problemsOf({ user: 'danger:' })[0]).toContain('danger cannot be empty');
    expect(problemsOf({ argv: ['--state-dir='] })).toEqual([
      '--state-dir: state_dir cannot be ""; expected a path.',
    ]);
  });

  it('if a file is not valid YAML, with a hint to quote "*"', () => {
    expect(problemsOf({ user: 'danger: [off\n' })[0]).toMatch(
      /^\/home\/me\/config\.yaml:\d: The file is not valid YAML/,
    );
    expect(problemsOf({ user: 'allowed: *\n' })[0]).toContain('Write "*" in quotes.');
    expect(problemsOf({ user: 'allowed: *all\n' })[0]).toContain('Write "*" in quotes.');
    expect(problemsOf({ user: 'allowed: !secret git\n' })[0]).toContain('not valid YAML');
    expect(problemsOf({ user: '- danger\n' })).toEqual([
      '/home/me/config.yaml:1: The file must be a mapping of keys to values.',
    ]);
  });

  it('if the aliases of a file expand to too much data', () => {
    const bomb = `allowed: &a [x]\n${'bcdefgh'
      .split('')
      .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[index]}`).join(', ')}]`)
      .join('\n')}\n`;
    expect(problemsOf({ project: bomb }).join('\n')).toContain('Excessive alias count');
  });

  it('if two variables contradict each other, but not if they agree', () => {
    expect(problemsOf({ env: { ALLOWED: 'git', NACRE_ALLOWED: 'ls' } })).toEqual([
      'NACRE_ALLOWED: allowed is also set by ALLOWED, to a different value; set only one of them.',
    ]);
    expect(resolve({ env: { ALLOWED: 'git', NACRE_ALLOWED: 'git' } }).values.allowed).toEqual(['git']);
    expect(resolve({ env: { NACRE_ALLOWED: 'git' } }).origins.allowed.where).toBe('NACRE_ALLOWED');
  });
});

it('warns about unknown NACRE_ variables', () => {
  const { warnings } = resolve({
    env: { NACRE_RING_BYTE: '1', NACRE_ZZZZZZZZ: '1', OTHER: '1', NACRE_DANGER: 'off' },
  });
  expect(warnings).toEqual([
    'NACRE_RING_BYTE is not a setting and has no effect. Did you mean NACRE_RING_BYTES?',
    'NACRE_ZZZZZZZZ is not a setting and has no effect.',
  ]);
});
