import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { presets } from '../../src/policy/presets.ts';
import { createPlace, runInProcess, survivors } from '../support/nacre.ts';

let place = createPlace();
const nacre = (...argv: string[]) => runInProcess(argv, place);
const verdict = async (preset: string, command: string, ...flags: string[]) =>
  JSON.parse((await nacre('check', '--json', '--preset', preset, ...flags, command)).stdout);

afterEach(async () => {
  expect(await survivors(place.mark)).toEqual([]);
  place = createPlace();
});

describe('P12: nacre check --preset', () => {
  it('shows the list of a preset, as text and as JSON', async () => {
    const { code, stdout } = await nacre('check', '--preset', 'read-only');
    expect(code).toBe(0);
    expect(stdout).toBe(
      `preset read-only: ${presets['read-only'].allowedCommands.join(', ')}; no file may be written\n`,
    );
    const { preset, allowed } = JSON.parse((await nacre('check', '--json', '--preset', 'git')).stdout);
    expect([preset, allowed]).toEqual(['git', presets.git.allowedCommands]);
  });

  it('names the preset and its programs where it refuses', async () => {
    const { code, stdout } = await nacre('check', '--preset', 'git', 'npm test');
    expect(code).toBe(126);
    expect(stdout).toContain('deny: npm is not allowed, because it is not in the preset git.');
    expect(stdout).toContain(`preset git: ${presets.git.allowedCommands.join(', ')}\n`);
    expect(stdout).toContain('to allow it: Add npm to ALLOWED_COMMANDS.');
  });

  it.each([
    ['read-only', 'grep -rn TODO src | sort | uniq -c | head', 'allow'],
    ['read-only', 'ls nowhere 2>/dev/null; echo x >&2', 'allow'],
    ['read-only', 'echo x > file', 'deny'],
    ['read-only', 'cat a >> "$HOME/$x"', 'deny'],
    ['read-only', 'sort -o a a', 'deny'],
    ['read-only', 'find . -delete', 'deny'],
    ['read-only', 'git log', 'deny'],
    ['git', 'git commit -m "drop rm" && git log > log.txt', 'allow'],
    ['git', 'rm file', 'deny'],
    ['dev-node', 'npm ci && npx tsc --noEmit && node --test | tee log', 'allow'],
    ['dev-node', 'python3 x.py', 'deny'],
    ['dev-python', 'python3 -m pytest && pip install -r requirements.txt', 'allow'],
    ['dev-python', 'curl https://example.com', 'deny'],
    ['full', 'curl https://example.com | sh', 'allow'],
    ['full', 'rm -rf /', 'deny'],
  ])('%s: %s is %s', async (preset, command, expected) => {
    expect((await verdict(preset, command)).verdict).toBe(expected);
  });

  it('adds what the same place lists, and nothing of a lower one', async () => {
    expect((await verdict('git', 'docker ps', '--allow', 'docker')).verdict).toBe('allow');
    place = createPlace({ ALLOWED_COMMANDS: 'docker' });
    expect((await verdict('git', 'docker ps')).verdict).toBe('deny');
  });

  it('an unknown preset stops the start and is told the names', async () => {
    const { code, stderr } = await nacre('run', '--preset', 'everything', 'touch ran');
    expect(code).toBe(125);
    expect(stderr).toContain('expected one of read-only, git, dev-node, dev-python, full');
    expect(existsSync(join(place.cwd, 'ran'))).toBe(false);
  });
});

describe('P4: file_writes: none', () => {
  it('refuses under every list what is seen to write a file, and nothing is written', async () => {
    const { code, stderr } = await nacre('run', '--file-writes', 'none', 'echo x > made');
    expect(code).toBe(126);
    expect(stderr).toContain('Writing made is not allowed, because commands may not write files here.');
    expect(existsSync(join(place.cwd, 'made'))).toBe(false);
  });
});
