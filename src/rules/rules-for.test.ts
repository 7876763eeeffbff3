import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { resolveSettings, type SettingSources } from '../settings/resolve-settings.ts';
import { allSettings } from './all-settings.ts';
import { execAllowFor, rulesOfCallers } from './exec-allow.ts';
import { rulesFor } from './rules-for.ts';
import { warnIfNothingRuns, warnOfIgnoredRules, warnOfRoots } from './settings-warnings.ts';

const resolve = (sources: SettingSources) => resolveSettings(sources, allSettings);
const project = (text: string) => ({ project: { path: '/p/nacre.yaml', text } });

describe('rulesFor', () => {
  it('P12: an unset list means nothing to tools and everything to the person at the command line', () => {
    expect(rulesFor('nothing', resolve({})).rules.allow).toEqual({ kind: 'none' });
    expect(rulesFor('everything', resolve({})).rules.allow).toEqual({ kind: 'all' });
    const listed = resolve({ env: { ALLOWED_COMMANDS: 'git, ls', NACRE_DANGER: 'off' } });
    for (const whenUnset of ['nothing', 'everything'] as const) {
      expect(rulesFor(whenUnset, listed)).toEqual({
        rules: {
          allow: { kind: 'names', names: ['git', 'ls'] },
          allowSetting: 'ALLOWED_COMMANDS',
          programDirs: [],
          danger: 'off',
          confirm: 'never',
          fileWrites: 'any',
          policy: undefined,
        },
        cwdRoots: [],
      });
    }
  });

  it('E8: the roots of a project stand beside those of the settings', () => {
    const sources = { env: { ALLOWED_CWD_ROOTS: '/a,/b' }, ...project('allowed_cwd_roots: [c]\n') };
    expect(rulesFor('nothing', resolve(sources)).cwdRoots).toEqual([['/a', '/b'], ['/p/c']]);
  });
});

describe('P12: what the kernel is held to', () => {
  const allowed = (remoteCallers: readonly ('model' | 'app')[] | undefined, env: Record<string, string>) =>
    execAllowFor(rulesOfCallers(remoteCallers, resolve({ env })));

  it('is the list of the person at the command line, or everything', () => {
    expect(allowed(undefined, { ALLOWED_COMMANDS: 'git,ls' })).toEqual(['git', 'ls']);
    expect(allowed(undefined, {})).toBeUndefined();
    expect(allowed(undefined, { ALLOWED_COMMANDS: '*' })).toBeUndefined();
  });

  it('is the list of a family where that is the only one that is offered', () => {
    const own = { NACRE_TOOLS: 'shell-execute', NACRE_SHELL_EXECUTE_ALLOWED_COMMANDS: 'ls' };
    expect(allowed(['model'], own)).toEqual(['ls']);
    expect(allowed(['model'], { ...own, ALLOWED_COMMANDS: 'git,ls' })).toEqual(['ls']);
    expect(allowed(['model'], { ...own, NACRE_TOOLS: 'shell-execute,bash' })).toBeUndefined();
    expect(allowed(['model'], { NACRE_TOOLS: 'terminal' })).toEqual([]);
  });

  it('is what tools and apps may run together where both are served', () => {
    const env = { ALLOWED_COMMANDS: 'git', SHELL_ALLOWLIST: 'ls,cat' };
    expect(allowed(['model', 'app'], env)).toEqual(['git', 'ls', 'cat']);
  });

  it('has what a written rule allows beyond the list', () => {
    const rules = (program: string) => [
      { rules: { ...ruled, policy: [{ verdict: 'allow', program, reason: '' } as const] } },
    ];
    const ruled = rulesFor('nothing', resolve({ env: { ALLOWED_COMMANDS: 'git' } })).rules;
    expect(execAllowFor(rules('jq'))).toEqual(['git', 'jq']);
    expect(execAllowFor(rules('*'))).toBeUndefined();
  });
});

describe('S8: the roots of shell_execute', () => {
  it('are told at the start where they do not exist, if the tool is offered', () => {
    const warned = (tools: string) =>
      warnOfRoots(resolve({ env: { NACRE_TOOLS: tools, NACRE_SHELL_EXECUTE_CWD_ROOTS: '/no/such' } }), '/');
    expect(warned('shell-execute')).toEqual([
      expect.stringMatching(/^NACRE_SHELL_EXECUTE_CWD_ROOTS names \/no\/such.*working_directory/),
    ]);
    expect(warned('terminal')).toEqual([]);
  });
});

describe('a list that a project narrows', () => {
  it.each([{ env: { ALLOWED_COMMANDS: 'git,ls' } }, {}])('says where, for refusals: %j', (sources) => {
    const { rules } = rulesFor(
      'everything',
      resolve({ ...sources, ...project('allowed_commands: [git]\n') }),
    );
    expect(rules.allow).toEqual({ kind: 'names', names: ['git'] });
    expect(rules.narrowedBy).toMatch(/nacre\.yaml/);
  });
});

describe('warnOfIgnoredRules', () => {
  it('names what a project would allow and cannot', () => {
    const rules = (verdict: string) =>
      project(
        `policy:\n  - { verdict: ${verdict}, program: curl, reason: x, examples: { matches: [curl x] } }\n`,
      );
    expect(warnOfIgnoredRules(resolve(rules('allow')))).toEqual([
      expect.stringMatching(/rules that allow curl; they are ignored.*your own settings file/),
    ]);
    expect(warnOfIgnoredRules(resolve(rules('deny')))).toEqual([]);
    expect(warnOfIgnoredRules(resolve({}))).toEqual([]);
  });
});

describe('warnIfNothingRuns', () => {
  it('T5: warns while nothing may run, and says how to change that', () => {
    expect(warnIfNothingRuns(resolve({}))).toEqual([
      expect.stringMatching(/is not set.*ALLOWED_COMMANDS=git,ls,cat/),
    ]);
    expect(warnIfNothingRuns(resolve({ env: { ALLOWED_COMMANDS: '' } }))).toEqual([
      expect.stringMatching(/leaves nothing.*ALLOWED_COMMANDS=git,ls,cat/),
    ]);
    const apart = { env: { ALLOWED_COMMANDS: 'git' }, ...project('allowed_commands: [ls]\n') };
    expect(warnIfNothingRuns(resolve(apart))).toEqual([expect.stringMatching(/leaves nothing/)]);
    expect(warnIfNothingRuns(resolve({ env: { ALLOWED_COMMANDS: 'git' } }))).toEqual([]);
    expect(warnIfNothingRuns(resolve({ env: { ALLOWED_COMMANDS: '*' } }))).toEqual([]);
    const rule = { verdict: 'allow', program: 'ls', reason: 'x', examples: { matches: ['ls'] } } as const;
    expect(warnIfNothingRuns({ ...resolve({}), policy: [rule] })).toEqual([]);
  });
});

describe('warnOfRoots', () => {
  it('T8: names every root that is missing or no directory, and nothing else', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'here'));
    writeFileSync(join(folder, 'file'), '');
    const warn = (roots: string) => warnOfRoots(resolve({ env: { ALLOWED_CWD_ROOTS: roots } }), folder);
    expect(warn('')).toEqual([]);
    expect(warn(`here,${folder}`)).toEqual([]);
    expect(warn('here,gone,file,file/below')).toEqual([
      expect.stringMatching(/^ALLOWED_CWD_ROOTS names gone, file, file\/below, /),
    ]);
  });
});
