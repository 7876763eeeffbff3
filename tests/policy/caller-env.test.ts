import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { McpServer } from '../mcp/shared-servers.ts';
import { serve, type TestServer } from '../support/http.ts';
import { connect } from '../support/mcp.ts';

const run = 'a[$(touch ran)]';

/** Variables of the caller that would choose code, or that bash evaluates; a list refuses each of them. */
const refused: readonly (readonly [name: string, value: string])[] = [
  ['RANDOM', run],
  ['SRANDOM', run],
  ['OPTIND', run],
  ['HISTCMD', run],
  ['SECONDS', run],
  ['LINENO', run],
  ['BASH_ENV', './evil'],
  ['ENV', './evil'],
  ['PS4', '$(touch ran)'],
  ['PROMPT_COMMAND', 'touch ran'],
  ['SHELLOPTS', 'xtrace'],
  ['BASHOPTS', 'expand_aliases'],
  ['PATH', '.'],
  ['LD_PRELOAD', './evil.so'],
  ['LD_AUDIT', './evil.so'],
  ['GIT_SSH_COMMAND', 'touch ran'],
  ['GIT_EXTERNAL_DIFF', 'touch ran'],
  ['GIT_CONFIG_COUNT', '1'],
  ['GIT_CONFIG_KEY_0', 'core.pager'],
  ['GIT_DIR', './evil'],
  ['GIT_SOME_NEW_VARIABLE', 'x'],
  ['PAGER', 'touch ran'],
  ['EDITOR', 'touch ran'],
  ['HOME', '/tmp/evil'],
];

const allowed: readonly (readonly [name: string, value: string])[] = [
  ['GIT_AUTHOR_NAME', 'a; touch ran'],
  ['FOO', run],
  ['PAGER', 'cat'],
  ['TZ', 'UTC'],
];

describe('P7: variables that the caller passes are judged like assignments', () => {
  let terminal: McpServer;
  let execute: McpServer;
  let http: TestServer;

  beforeAll(async () => {
    const env = { ALLOWED_COMMANDS: 'git,ls', NACRE_EXEC: 'off' };
    [terminal, execute, http] = await Promise.all([
      connect({ env }),
      connect({ env, args: ['--tools', 'shell-execute'] }),
      serve({ env: { SHELL_ALLOWLIST: 'git,ls', NACRE_EXEC: 'off' } }),
    ]);
  });
  afterAll(async () => {
    const left = await Promise.all([terminal.close(), execute.close(), http.close()]);
    expect(left.flat()).toEqual([]);
  });

  /** Calls a tool and says whether the command ran. */
  async function ran({ client }: McpServer, name: string, args: Record<string, unknown>): Promise<boolean> {
    const { isError } = await client.callTool({ name, arguments: { command: 'git --version', ...args } });
    return isError !== true;
  }

  const doors = {
    execute_command: (env: Record<string, string>) => ran(terminal, 'execute_command', { env }),
    start_command: (env: Record<string, string>) => ran(terminal, 'start_command', { env }),
    shell_execute: (environment: Record<string, string>) => ran(execute, 'shell_execute', { environment }),
    'POST /api/shell': async (env: Record<string, string>) =>
      (await http.shell('git', ['--version'], { env })).status === 200,
  };

  test.each(Object.entries(doors))('%s refuses variables that choose code', async (_door, call) => {
    const results = await Promise.all(
      refused.map(async ([name, value]) => [name, await call({ [name]: value })]),
    );
    expect(results.filter(([, wasRun]) => wasRun)).toEqual([]);
    expect([terminal.cwd, execute.cwd, http.cwd].some((cwd) => existsSync(join(cwd, 'ran')))).toBe(false);
  });

  test.each(Object.entries(doors))('%s passes data on', async (_door, call) => {
    const results = await Promise.all(
      allowed.map(async ([name, value]) => [name, await call({ [name]: value })]),
    );
    expect(results.filter(([, wasRun]) => !wasRun)).toEqual([]);
  });
});
