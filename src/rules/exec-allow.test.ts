import { describe, expect, it } from 'vitest';
import { resolveSettings } from '../settings/resolve-settings.ts';
import { allSettings } from './all-settings.ts';
import { execAllowFor, rulesOfCallers } from './exec-allow.ts';
import { rulesFor } from './rules-for.ts';

const resolve = (env: Record<string, string>) => resolveSettings({ env }, allSettings);

describe('P12: the programs that Landlock permits', () => {
  const allowed = (remoteCallers: readonly ('model' | 'app')[] | undefined, env: Record<string, string>) =>
    execAllowFor(rulesOfCallers(remoteCallers, resolve(env)))?.names;

  it('are those of the local user, or all', () => {
    expect(allowed(undefined, { ALLOWED_COMMANDS: 'git,ls' })).toEqual(['git', 'ls']);
    expect(allowed(undefined, {})).toBeUndefined();
    expect(allowed(undefined, { ALLOWED_COMMANDS: '*' })).toBeUndefined();
  });

  it('are those of a tool family if it is the only one offered', () => {
    const own = { NACRE_TOOLS: 'shell-execute', NACRE_SHELL_EXECUTE_ALLOWED_COMMANDS: 'ls' };
    expect(allowed(['model'], own)).toEqual(['ls']);
    expect(allowed(['model'], { ...own, ALLOWED_COMMANDS: 'git,ls' })).toEqual(['ls']);
    expect(allowed(['model'], { ...own, NACRE_TOOLS: 'shell-execute,bash' })).toBeUndefined();
    expect(allowed(['model'], { NACRE_TOOLS: 'terminal' })).toEqual([]);
  });

  it('are the union for tools and apps if both are served', () => {
    const env = { ALLOWED_COMMANDS: 'git', SHELL_ALLOWLIST: 'ls,cat' };
    expect(allowed(['model', 'app'], env)).toEqual(['git', 'ls', 'cat']);
  });

  it('include programs that a policy rule allows', () => {
    const rules = (program: string) => [
      { rules: { ...ruled, policy: [{ verdict: 'allow', program, reason: '' } as const] } },
    ];
    const ruled = rulesFor('terminal', resolve({ ALLOWED_COMMANDS: 'git' })).rules;
    expect(execAllowFor(rules('jq'))?.names).toEqual(['git', 'jq']);
    expect(execAllowFor(rules('*'))).toBeUndefined();
  });
});
