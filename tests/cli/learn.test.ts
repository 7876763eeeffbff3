import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createNacre } from '../../src/index.ts';
import { createTestDeps } from '../support/door-deps.ts';
import { serve } from '../support/http.ts';
import { createPlace, runInProcess, surroundingsOf, survivors } from '../support/nacre.ts';

let place = createPlace();
const nacre = (...argv: string[]) => runInProcess(argv, place);

afterEach(async () => {
  expect(await survivors(place.mark)).toEqual([]);
  place = createPlace();
});

/** Runs commands in one engine; refused ones are recorded as well. */
async function run(commands: readonly string[], settings: { allowedCommands?: string[] } = {}) {
  const { run: runOne, close } = await createNacre({ loginEnv: 'never', ...settings }, surroundingsOf(place));
  for (const command of commands) await runOne(command).catch(() => undefined);
  await close();
}

describe('S6: nacre learn', () => {
  it('suggests the programs that commands ran, with counts, and checks the list against them', async () => {
    await run([
      'cd . && echo a | cat',
      'echo a',
      'echo a',
      'greet() { printf hi; }; greet',
      'x=ls; y=$(echo s); l$y >/dev/null',
      'false',
      'rm -rf /',
    ]);
    await run(['echo b; uname'], { allowedCommands: ['echo'] });
    const { code, stdout } = await nacre('learn');
    expect(code).toBe(0);
    expect(stdout).toBe(`ALLOWED_COMMANDS=cat,echo,ls,printf

Number of commands that ran each program:
       4  echo
       1  cat
       1  ls
       1  printf

Refused because not listed; add the ones you want:
       1  uname

With this list, 6 of the 6 commands that ran would be allowed.
`);
    expect((await nacre('run', '--allow', 'cat,echo,ls,printf', 'cd . && echo a | cat')).stdout).toBe('a\n');
  });

  it('shows what its list would refuse, and leaves out rare programs', async () => {
    await run([
      'echo a; echo b',
      'echo c',
      '$(printf echo) x "$PATH"; e=$RANDOM; [ $e = x ] && "$e"; :',
      'uname >/dev/null',
    ]);
    const { stdout } = await nacre('learn', '--json', '--min', '2');
    const suggestion = JSON.parse(stdout);
    expect(suggestion).toMatchObject({ allowed_commands: ['echo'], commands: 4, would_run: 2 });
    expect(suggestion.left_out).toContainEqual({ program: 'uname', commands: 1 });
    expect(suggestion.would_not).toContainEqual({
      command: 'uname >/dev/null',
      times: 1,
      reason: 'uname is not allowed, because it is not in ALLOWED_COMMANDS.',
    });
    const text = (await nacre('learn', '--min', '2')).stdout;
    expect(text).toMatch(/^With this list, 2 of the 4 commands that ran would be allowed\.\n {7}1 {2}/m);
  });

  it('prints no control characters, and lists no name that a list cannot contain', async () => {
    await nacre('run', 'echo a');
    const folder = join(place.cwd, '.local/state/nacre/audit');
    const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
    const lines = readFileSync(join(folder, file), 'utf8').trim().split('\n');
    const evil = "'a,b' 2>/dev/null; '*'; $'\\\\e]0;x\\\\a'; $'\\\\u202e'";
    const forged = lines.map((line) =>
      line.replaceAll('cmd_', 'cmd_x').replace('"echo a"', JSON.stringify(evil)),
    );
    writeFileSync(join(folder, file), `${[...lines, ...forged].join('\n')}\nnonsense\n`);
    const { code, stdout } = await nacre('learn');
    expect(code).toBe(0);
    expect(stdout.split('\n')[0]).toBe('ALLOWED_COMMANDS=echo');
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it('includes commands that apps ran without a shell', async () => {
    const server = await serve({ env: { SHELL_ALLOWLIST: 'echo,env' } });
    await server.shell('echo', ['a;', 'rm']);
    await server.shell('env', ['echo', 'b']);
    expect(await server.close()).toEqual([]);
    const { stdout } = await runInProcess(['learn', '--json'], server);
    expect(JSON.parse(stdout)).toMatchObject({
      allowed_commands: ['echo', 'env'],
      commands: 0,
      would_run: 0,
    });
  });

  it('ignores the calls of nacre doctor', async () => {
    await run(['uname >/dev/null']);
    const { tryServer, close } = await createTestDeps([], place);
    await tryServer();
    await close();
    expect(JSON.parse((await nacre('learn', '--json')).stdout)).toMatchObject({ commands: 1, refused: [] });
  });

  it('filters by time and client, and fails if nothing is left', async () => {
    await nacre('run', 'echo a');
    expect((await nacre('learn', '--client', 'nacre run', '--since', '1h')).code).toBe(0);
    for (const flags of [
      ['--client', 'another'],
      ['--since', '2999-01-01'],
    ]) {
      const { code, stderr } = await nacre('learn', ...flags);
      expect([code, stderr]).toEqual([125, expect.stringContaining('has no matching command that ran')]);
    }
    const { code, stdout } = await nacre('learn', '--json', '--since', 'soon');
    expect([code, JSON.parse(stdout).error.code]).toEqual([125, 'invalid_request']);
  });
});
