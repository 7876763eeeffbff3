import { describe, expect, test } from 'vitest';
import type { Facts } from '../../contract/facts.ts';
import { decide } from '../decide.ts';
import { understand } from '../understand.ts';

const cwd = '/root/project';
const list =
  'echo tee cp mv ln dd sed sort curl git cat sh bash eval printf read xargs env find ls dirname'.split(' ');
const facts: Facts = {
  cwd: { asked: cwd, path: cwd },
  roots: [],
  home: '/root',
  ownFiles: ['/srv/audit', '/root/.config/nacre'],
  programs: {},
};

function verdict(command: string, allow: readonly string[] | '*'): { verdict: string; rule: string } {
  const rules = {
    allow: allow === '*' ? ({ kind: 'all' } as const) : ({ kind: 'names', names: allow } as const),
    allowSetting: 'the list',
    danger: 'off',
  } as const;
  return decide(understand({ kind: 'shell', script: command }), facts, rules);
}

describe("P7: nacre's own files", () => {
  test.each([
    'echo x > ~/.config/nacre/config.yaml',
    'echo x >> "$HOME"/.config//nacre/./config.yaml',
    'echo x > ~/.conf*/nacr?/config.yaml',
    'echo x > /proc/self/root/root/.config/nacre/config.yaml',
    'echo x > /proc/$$/root/root/.config/nacre/config.yaml',
    'echo x > /dev/fd/../root/root/.config/nacre/config.yaml',
    'echo x > ../.config/nacre/config.yaml',
    'cd ~/.config/nacre && echo x > config.yaml',
    'cd ~/.config/nacre && rm config.yaml',
    'HOME=/tmp/h; echo x > ~/.config/nacre/config.yaml',
    'XDG_CONFIG_HOME=/c; echo x | tee $XDG_CONFIG_HOME/nacre/config.yaml',
    'ln -s ~/.config c; echo x > c/nacre/config.yaml',
    'ln -s / r; echo x > r/srv/audit/log',
    'ln ~/.config/nacre/config.yaml c',
    'cp a ~/.config/nacre/',
    'mv ~/.config/nacre old',
    'dd of=/root/.config/nacre/config.yaml',
    'sed -i s/a/b/ ~/.config/nacre/config.yaml',
    'some-program --output=/srv/audit/log',
    'vim ~/.config/nacre/config.yaml',
    "python3 -c \"open('/root/.config/nacre/config.yaml', 'w')\"",
    'echo x > $(ls -d ~/.config/nacre/config.yaml)',
    "bash -c 'echo x > ~/.config/nacre/config.yaml'",
    'nacre allow python3',
    'find ~/.config/nacre -delete',
  ])('no list allows %s', (command) => {
    expect(verdict(command, '*')).toMatchObject({ verdict: 'deny', rule: 'own_files' });
  });

  test.each([
    'cat ~/.config/nacre/config.yaml',
    'ls ~/.config/nacre',
    'git commit -m "describe ~/.config/nacre/config.yaml"',
    'grep -rn ".config/nacre" docs',
    'echo x > nacre/notes.txt',
    'nacre check ls',
    'rm -rf ./build/*',
  ])('* allows %s', (command) => {
    expect(verdict(command, '*')).toMatchObject({ verdict: 'allow' });
  });
});

describe('P7: files that run later', () => {
  test.each([
    'echo x > .gi[t]/config',
    'echo x > .g*/hooks/pre-commit',
    'echo x > "$(git rev-parse --git-path config)"',
    'd=$(git rev-parse --git-dir); echo x > "$d/config"',
    'git clone --bare a b; echo x > b/config',
    'git init --bare b && cp a b/hooks/post-update',
    'sort -o .git/config a',
    'echo x > /proc/self/cwd/.git/config',
    'ln -s . d; echo x > d/.git/config',
    'echo x > .envrc',
    'tee .vscode/tasks.json',
    'cp a .claude/settings.json',
    'mkdir -p .husky; echo x > .husky/pre-commit',
    'echo x > .mcp.json',
  ])('a list refuses %s', (command) => {
    expect(verdict(command, [...list, 'mkdir'])).toMatchObject({ verdict: 'deny' });
  });

  test.each([
    'echo x > out/*.txt',
    'echo x > "$(git rev-parse --show-toplevel)/notes.txt"',
    'echo x > config',
    'cp a .gitignore',
    'echo x > .github/workflows/ci.yml',
    'git clone a b; echo x > b/config',
    'sed -i s/a/b/ src/*.ts',
  ])('a list allows %s', (command) => {
    expect(verdict(command, list)).toMatchObject({ verdict: 'allow' });
  });
});
