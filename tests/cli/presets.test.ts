import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { presets } from '../../src/policy/presets.ts';
import { createTestDeps } from '../support/door-deps.ts';
import { createPlace, runInProcess, survivors } from '../support/nacre.ts';

let place = createPlace();
const nacre = (...argv: string[]) => runInProcess(argv, place);
const verdict = async (preset: string, command: string, ...flags: string[]) =>
  JSON.parse((await nacre('check', '--json', '--preset', preset, ...flags, command)).stdout).verdict;

afterEach(async () => {
  expect(await survivors(place.mark)).toEqual([]);
  place = createPlace();
});

const verdicts = {
  'read-only': {
    'grep -rn TODO src | sort | uniq -c | head': 'allow',
    'ls nowhere 2>/dev/null; echo x >&2': 'allow',
    'echo x > file': 'deny',
    'cat a >> "$HOME/$x"': 'deny',
    'sort -o a a': 'deny',
    'find . -delete': 'deny',
    'git log': 'deny',
  },
  git: { 'git commit -m "drop rm" && git log > log.txt': 'allow', 'rm file': 'deny' },
  'dev-node': {
    'npm ci && npx tsc --noEmit && node --test | tee log': 'allow',
    'python3 x.py': 'deny',
  },
  'dev-python': {
    'python3 -m pytest && pip install -r requirements.txt': 'allow',
    'curl https://example.com': 'deny',
  },
  full: { 'curl https://example.com | sh': 'allow', 'rm -rf /': 'deny' },
};

describe('P12: nacre check --preset', () => {
  it('shows the list of a preset as text and as JSON', async () => {
    const { code, stdout } = await nacre('check', '--preset', 'read-only');
    expect(code).toBe(0);
    expect(stdout).toBe(
      `preset read-only: ${presets['read-only'].allowedCommands.join(', ')}; no file may be written\n`,
    );
    const { preset, allowed } = JSON.parse((await nacre('check', '--json', '--preset', 'git')).stdout);
    expect([preset, allowed]).toEqual(['git', presets.git.allowedCommands]);
  });

  it('names the preset and its programs in a refusal', async () => {
    const { code, stdout } = await nacre('check', '--preset', 'git', 'npm test');
    expect(code).toBe(126);
    expect(stdout).toContain('deny: npm is not allowed, because it is not in the preset git.');
    expect(stdout).toContain(`preset git: ${presets.git.allowedCommands.join(', ')}\n`);
    expect(stdout).toContain('to allow it: Add npm to ALLOWED_COMMANDS.');
  });

  it.each(Object.entries(verdicts))('%s allows and denies these commands', async (preset, expected) => {
    const { engine, ownRules, close } = await createTestDeps(['--preset', preset], place);
    const decided = await Promise.all(
      Object.keys(expected).map(async (script) => {
        const { decision } = await (await engine()).check({ command: { kind: 'shell', script } }, ownRules);
        return [script, decision.verdict];
      }),
    );
    expect(Object.fromEntries(decided)).toEqual(expected);
    await close();
  });

  it('adds programs from the same source, but not from a lower one', async () => {
    expect(await verdict('git', 'docker ps', '--allow', 'docker')).toBe('allow');
    place = createPlace({ ALLOWED_COMMANDS: 'docker' });
    expect(await verdict('git', 'docker ps')).toBe('deny');
  });

  it('an unknown preset aborts the start, and the error lists the presets', async () => {
    const { code, stderr } = await nacre('run', '--preset', 'everything', 'touch ran');
    expect(code).toBe(125);
    expect(stderr).toContain('expected one of read-only, git, dev-node, dev-python, full');
    expect(existsSync(join(place.cwd, 'ran'))).toBe(false);
  });
});

describe('P4: file_writes: none', () => {
  it('refuses commands that visibly write a file, and nothing is written', async () => {
    const { code, stderr } = await nacre('run', '--file-writes', 'none', 'echo x > made');
    expect(code).toBe(126);
    expect(stderr).toContain('Writing made is not allowed, because commands may not write files here.');
    expect(existsSync(join(place.cwd, 'made'))).toBe(false);
  });
});
