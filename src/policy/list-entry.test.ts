import { describe, expect, test } from 'vitest';
import { decideCommand } from './decide-command.ts';
import { programOfEntry } from './entry-words.ts';
import { toAllowList } from './settings.ts';

describe('P3: an entry with arguments allows the program with exactly these first words', () => {
  test.each(['git status', 'git  status --short', '/usr/bin/git status', 'cd src && git status'])(
    '%s is allowed',
    (command) => {
      expect(decideCommand(command, ['git status', 'npm run lint']).verdict).toBe('allow');
    },
  );

  test.each(['git', 'git log', 'git -C x status', 'git "$x"', 'npm run build', 'npm run', 'status'])(
    '%s is refused',
    (command) => {
      expect(decideCommand(command, ['git status', 'npm run lint']).verdict).toBe('deny');
    },
  );

  test('the refusal names the entries for this program', () => {
    const { reason } = decideCommand('git push', ['git status', 'git log']);
    expect(reason).toContain('git status');
    expect(reason).toContain('git log');
  });

  test('what the arguments would run is judged as under every list', () => {
    expect(decideCommand("git -c core.pager='touch x' log", ['git -c']).verdict).toBe('deny');
  });

  test('the program of an entry is its first word', () => {
    expect(['git', ' git  status', ''].map(programOfEntry)).toEqual(['git', 'git', '']);
  });

  test('a project’s list narrows to the entry with more words', () => {
    expect(toAllowList(['git', 'ls'], ['git status'], 'nothing')).toEqual({
      kind: 'names',
      names: ['git status'],
    });
    expect(toAllowList(['git status', 'git log'], ['git'], 'nothing')).toEqual({
      kind: 'names',
      names: ['git status', 'git log'],
    });
  });
});

describe('P3: a program that is called by its path', () => {
  test.each(['/usr/bin/ls', '//usr/./bin/ls', '/bin/ls', '/usr/bin/../bin/ls'])(
    '%s is allowed if ls is listed',
    (command) => {
      expect(decideCommand(command, ['ls']).verdict).toBe('allow');
    },
  );

  test.each([
    '/tmp/link/../../usr/bin/ls',
    'lnk/../../usr/bin/ls',
    '/proc/123/root/usr/bin/ls',
    '/proc/self/root/usr/bin/ls',
    './ls',
    '/usr/bin/..',
  ])('%s is refused, because a link may lead to another file', (command) => {
    expect(decideCommand(command, ['ls', '..']).verdict).toBe('deny');
  });

  test.each([
    '.venv/bin/python x.py',
    './venv/bin/python3 -m pytest',
    'services/api/.venv/bin/python x.py',
    '.venv/bin/pip install x',
    'source .venv/bin/activate',
    '. venv/bin/activate && python x.py',
    '/usr/bin/python3 -V',
  ])('%s counts as python', (command) => {
    expect(decideCommand(command, ['python', 'python3', 'pip']).verdict).toBe('allow');
  });

  test.each([
    ['.venv/bin/ls', 'ls'],
    ['.venv/bin/python x.py', 'ls'],
    ['.venv/bin/pip install x', 'python'],
    ['source .venv/bin/other', 'python'],
    ['source .venv/bin/activate', 'ls'],
    ['/tmp/.venv/bin/python x.py', 'python'],
    ['../.venv/bin/python x.py', 'python'],
    ['echo x > .venv/bin/activate', 'echo'],
  ])('%s is refused if only %s is listed', (command, listed) => {
    expect(decideCommand(command, [listed]).verdict).toBe('deny');
  });
});
