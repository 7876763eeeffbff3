import { describe, expect, it } from 'vitest';
import { execListFor } from '../policy/to-exec-list.ts';
import { resolveSettings } from '../settings/resolve-settings.ts';
import { allSettings } from './all-settings.ts';
import { execAllowFor, noteOnApps } from './exec-allow.ts';
import { rulesFor } from './rules-for.ts';

const resolve = (env: Record<string, string>) => resolveSettings({ env }, allSettings);

describe('P12: the usual programs that Landlock permits', () => {
  const allowed = (remoteCallers: readonly ('model' | 'app')[] | undefined, env: Record<string, string>) =>
    execAllowFor(remoteCallers, resolve(env))?.names;

  it('are those of the local user, or all', () => {
    expect(allowed(undefined, { ALLOWED_COMMANDS: 'git,ls' })).toEqual(['git', 'ls']);
    expect(allowed(undefined, {})).toBeUndefined();
    expect(allowed(undefined, { ALLOWED_COMMANDS: '*' })).toBeUndefined();
  });

  it('are those of the first tool family', () => {
    const own = { NACRE_TOOLS: 'shell-execute', NACRE_SHELL_EXECUTE_ALLOWED_COMMANDS: 'ls' };
    expect(allowed(['model'], own)).toEqual(['ls']);
    expect(allowed(['model'], { ...own, ALLOWED_COMMANDS: 'git,ls' })).toEqual(['ls']);
    expect(allowed(['model'], { ...own, NACRE_TOOLS: 'bash' })).toBeUndefined();
    expect(allowed(['model'], { NACRE_TOOLS: 'terminal' })).toEqual([]);
  });

  it('do not contain those of apps that the same server serves', () => {
    const env = { ALLOWED_COMMANDS: 'git', SHELL_ALLOWLIST: 'ls,npm' };
    expect(allowed(['model', 'app'], env)).toEqual(['git']);
    expect(noteOnApps(['model', 'app'], resolve(env))).toContain('listed programs may run others (npm)');
    expect(noteOnApps(['model'], resolve(env))).toBeUndefined();
    expect(noteOnApps(['model', 'app'], resolve({ ...env, SHELL_ALLOWLIST: 'ls' }))).toBeUndefined();
  });
});

describe('the programs of rules', () => {
  const { rules } = rulesFor('terminal', resolve({ ALLOWED_COMMANDS: 'git' }));
  const withRule = (program: string) => ({
    ...rules,
    policy: [{ verdict: 'allow', program, reason: '' } as const],
  });

  it('include those that a policy rule allows', () => {
    expect(execListFor(withRule('jq'))).toMatchObject({ names: ['git', 'jq'] });
    expect(execListFor(withRule('*'))).toBe('any');
  });

  it('are one object for equal rules, so that shells are shared', () => {
    expect(execListFor({ ...rules })).toBe(execListFor({ ...rules }));
  });
});
