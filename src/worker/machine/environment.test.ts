import { describe, expect, test } from 'vitest';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { createTestWorker } from '../../../tests/support/worker.ts';
import { filterEnvironment, forPipes, toAbsolutePath, toCommandEnvironment } from './environment.ts';

const none = { envPass: [], envWithhold: [] };

describe('E5: of the server’s environment', () => {
  const server = {
    PATH: '/usr/bin',
    JAVA_HOME: '/opt/java',
    SSH_AUTH_SOCK: '/run/agent',
    NACRE_TOKEN: 't1',
    GITHUB_TOKEN: 't2',
    DB_PASSWORD: 't3',
  };

  test('commands get everything except tokens and secrets, whose names are listed', () => {
    expect(filterEnvironment(server, none)).toEqual({
      env: { PATH: '/usr/bin', JAVA_HOME: '/opt/java', SSH_AUTH_SOCK: '/run/agent' },
      withheld: ['DB_PASSWORD', 'GITHUB_TOKEN', 'NACRE_TOKEN'],
    });
  });

  test.each([
    ['a name', ['GITHUB_TOKEN'], [], ['DB_PASSWORD', 'NACRE_TOKEN']],
    ['a name in other letters', ['github_token'], [], ['DB_PASSWORD', 'NACRE_TOKEN']],
    ['a pattern', ['*_TOKEN'], [], ['DB_PASSWORD']],
    ['everything', ['***'], [], []],
    [
      'a part of a name, which does not match',
      ['GITHUB', 'TOKEN'],
      [],
      ['DB_PASSWORD', 'GITHUB_TOKEN', 'NACRE_TOKEN'],
    ],
    ['more withheld', [], ['JAVA_*'], ['DB_PASSWORD', 'GITHUB_TOKEN', 'JAVA_HOME', 'NACRE_TOKEN']],
    ['both, where withholding wins', ['*'], ['GITHUB_*'], ['GITHUB_TOKEN']],
  ])('the settings pass on %s', (_, envPass, envWithhold, withheld) => {
    expect(filterEnvironment(server, { envPass, envWithhold }).withheld).toEqual(withheld);
  });

  test('a URL with a password is withheld, but not that of a proxy', () => {
    const urls = {
      DATABASE_URL: 'postgres://user:hush@db.example/app',
      DB: 'jdbc mysql://u:p@h',
      HTTPS_PROXY: 'http://user:hush@proxy.example:3128',
      REPOSITORY: 'https://example.com/a:b@c',
      REMOTE: 'ssh://git@example.com:22/x',
    };
    expect(filterEnvironment(urls, none).withheld).toEqual(['DATABASE_URL', 'DB']);
    expect(filterEnvironment(urls, { envPass: ['DATABASE_*'], envWithhold: [] }).withheld).toEqual(['DB']);
  });

  test('a pattern with many asterisks is matched quickly', () => {
    const name = `${'A'.repeat(20_000)}_TOKEN`;
    const rules = { envPass: [`${'*'.repeat(40)}B`], envWithhold: [] };
    expect(cpuMsOf(() => filterEnvironment({ [name]: 'x' }, rules))).toBeLessThan(500);
  });

  test('a command does not see secrets, and its state lists their names', async () => {
    const here = createTestWorker({
      environment: { PATH: '/usr/bin:/bin', API_KEY: 'hush', NVM_DIR: '/nvm' },
    });
    const { stdout, state } = await here.run('env; cat /proc/$$/environ');
    expect(stdout).not.toContain('hush');
    expect(stdout).toContain('NVM_DIR=/nvm');
    expect(state.withheldEnv).toEqual(['API_KEY']);
    await here.close();
  });
});

describe('E7: a command', () => {
  const quiet = {
    NO_COLOR: '1',
    TERM: 'dumb',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
  };

  test('gets variables for quiet tools that override those of the server', () => {
    const env = toCommandEnvironment(forPipes({ TERM: 'xterm', PAGER: 'less', LANG: 'C.UTF-8' }), {}, {});
    expect(env).toMatchObject(quiet);
  });

  test('gets the variables of its caller, except for its marker', () => {
    const additions = { TERM: 'xterm', PAGER: 'less', MARK: 'forged', NEW: '1' };
    const env = toCommandEnvironment(forPipes({ LANG: 'C.UTF-8' }), additions, { MARK: 'true' });
    expect(env).toMatchObject({ ...quiet, TERM: 'xterm', PAGER: 'less', NEW: '1', MARK: 'true' });
  });

  test.each([
    [{}, { LC_CTYPE: 'C.UTF-8', LANG: 'C.UTF-8' }],
    [{ LANG: 'C' }, { LC_CTYPE: 'C.UTF-8', LANG: 'C' }],
    [{ LANG: '' }, { LC_CTYPE: 'C.UTF-8', LANG: 'C.UTF-8' }],
    [{ LANG: 'de_DE.UTF-8' }, { LANG: 'de_DE.UTF-8' }],
    [{ LANG: 'de_DE.utf8' }, { LANG: 'de_DE.utf8' }],
    [{ LANG: 'de_DE.UTF-8@euro' }, { LANG: 'de_DE.UTF-8@euro' }],
    [{ LANG: 'de_DE.ISO-8859-1' }, { LANG: 'de_DE.ISO-8859-1', LC_CTYPE: 'C.UTF-8' }],
    [{ LC_CTYPE: 'UTF-8' }, { LC_CTYPE: 'UTF-8' }],
    [
      { LANG: 'en_US.UTF-8', LC_CTYPE: 'POSIX' },
      { LANG: 'en_US.UTF-8', LC_CTYPE: 'C.UTF-8' },
    ],
    [
      { LANG: 'en_US.UTF-8', LC_ALL: 'C' },
      { LANG: 'en_US.UTF-8', LC_ALL: 'C.UTF-8' },
    ],
    [
      { LANG: 'C', LC_CTYPE: 'C', LC_ALL: 'en_US.UTF-8' },
      { LANG: 'C', LC_CTYPE: 'C', LC_ALL: 'en_US.UTF-8' },
    ],
  ])('of a server with %j has the UTF-8 locale %j', (base, locale) => {
    const { LANG, LC_CTYPE, LC_ALL } = toCommandEnvironment(base, {}, {});
    const found = Object.entries({ LANG, LC_CTYPE, LC_ALL }).filter(([, value]) => value !== undefined);
    expect(Object.fromEntries(found)).toEqual(locale);
  });

  test.each([{ LANG: 'C' }, { LC_ALL: 'C' }, { LC_CTYPE: 'C' }])(
    'whose caller sets %j has that locale',
    (additions) => {
      const { LANG, LC_CTYPE, LC_ALL } = toCommandEnvironment({}, additions, {});
      expect({ LANG, LC_CTYPE, LC_ALL }).toEqual({
        LANG: undefined,
        LC_CTYPE: undefined,
        LC_ALL: undefined,
        ...additions,
      });
    },
  );

  test('writes UTF-8', async () => {
    const here = createTestWorker({ environment: { PATH: '/usr/bin:/bin' } });
    expect((await here.run("printf '\\u00fc'; locale charmap")).stdout).toBe('üUTF-8\n');
    await here.close();
  });
});

describe('the PATH of a command', () => {
  const system = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';
  test.each([
    ['/usr/bin:/bin', '/usr/bin:/bin'],
    ['.:/usr/bin::bin:~/bin:/opt/bin:', '/usr/bin:/opt/bin'],
    ['.', system],
    ['', system],
    [undefined, system],
  ])('of %j is %j', (path, found) => {
    expect(toAbsolutePath(path)).toBe(found);
  });

  test.each([{ PATH: '.' }, { PATH: '' }, {}])(
    'never contains the working directory: %j',
    async (environment) => {
      const here = createTestWorker({ environment });
      const { stdout, state } = await here.run(
        'printf "#!/bin/sh\\necho trap" > nacre-trap; chmod +x nacre-trap; nacre-trap; ls -d .',
      );
      expect(stdout).toBe('.\n');
      expect(state.status).toBe('completed');
      const { programs } = await here.worker.inspect({
        cwd: undefined,
        roots: [],
        programs: ['ls', 'nacre-trap'],
      });
      expect(programs).toEqual({ ls: expect.stringMatching(/^\/.*\/ls$/), 'nacre-trap': null });
      await here.close();
    },
  );
});
