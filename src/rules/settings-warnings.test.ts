import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { presetNames } from '../policy/presets.ts';
import { resolveSettings, type SettingSources } from '../settings/resolve-settings.ts';
import { allSettings } from './all-settings.ts';
import {
  warnIfNothingRuns,
  warnOfDeadEntries,
  warnOfIgnoredRules,
  warnOfRoots,
} from './settings-warnings.ts';

const resolve = (sources: SettingSources) => resolveSettings(sources, allSettings);
const project = (text: string) => ({ project: { path: '/p/nacre.yaml', text } });

describe('warnIfNothingRuns', () => {
  it('T5: warns while nothing may run, and shows how to change that', () => {
    expect(warnIfNothingRuns(resolve({}))).toEqual([
      expect.stringMatching(/is not set.*ALLOWED_COMMANDS=git,ls,cat/),
    ]);
    expect(warnIfNothingRuns(resolve({ env: { ALLOWED_COMMANDS: '' } }))).toEqual([
      expect.stringMatching(/allows no program.*ALLOWED_COMMANDS=git,ls,cat/),
    ]);
    const apart = { env: { ALLOWED_COMMANDS: 'git' }, ...project('allowed_commands: [ls]\n') };
    expect(warnIfNothingRuns(resolve(apart))).toEqual([expect.stringMatching(/allows no program/)]);
    expect(warnIfNothingRuns(resolve({ env: { ALLOWED_COMMANDS: 'git' } }))).toEqual([]);
    expect(warnIfNothingRuns(resolve({ env: { ALLOWED_COMMANDS: '*' } }))).toEqual([]);
    const rule = { verdict: 'allow', program: 'ls', reason: 'x', examples: { matches: ['ls'] } } as const;
    expect(warnIfNothingRuns({ ...resolve({}), policy: [rule] })).toEqual([]);
  });
});

describe('warnOfDeadEntries', () => {
  it('names entries that no command can match', () => {
    const dead = ['git*', 'ls | wc', 'if', '-l', 'A=b', '"git"', 'a\\ b', 'cat;ls', 'echo $HOME'];
    const fine = [
      '*',
      'git',
      'git status',
      '/opt/x/bin/y',
      './run.sh',
      '[',
      'g++',
      'a@b',
      'python3.12',
      'npm run',
      'time',
    ];
    const allowed = (list: readonly string[]) => resolve({ env: { ALLOWED_COMMANDS: list.join(',') } });
    expect(warnOfDeadEntries(allowed(fine))).toEqual([]);
    for (const entry of dead) {
      const [warning] = warnOfDeadEntries(allowed(['ls', entry]));
      expect(warning).toContain('ALLOWED_COMMANDS lists ');
      expect(warning).toContain('which no command can match');
    }
    for (const preset of presetNames)
      expect(warnOfDeadEntries(resolve({ env: { NACRE_PRESET: preset } })), preset).toEqual([]);
    expect(warnOfDeadEntries(resolve({ env: { SHELL_ALLOWLIST: 'git,ls -la|wc' } }))).toEqual([
      expect.stringContaining('SHELL_ALLOWLIST lists ls -la|wc, which'),
    ]);
  });
});

describe('warnOfIgnoredRules', () => {
  it('names programs that a project file tries to allow', () => {
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

describe('warnOfRoots', () => {
  it('T8: names every root that does not exist or is not a directory', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'here'));
    writeFileSync(join(folder, 'file'), '');
    const warn = (roots: string) => warnOfRoots(resolve({ env: { ALLOWED_CWD_ROOTS: roots } }), folder);
    expect(warn('')).toEqual([]);
    expect(warn(`here,${folder}`)).toEqual([]);
    expect(warn('here,gone,file,file/below')).toEqual([
      expect.stringMatching(/^ALLOWED_CWD_ROOTS lists gone, file, file\/below, /),
    ]);
  });
});

describe('S8: missing roots of shell_execute', () => {
  it('cause a warning if the tool is offered', () => {
    const warned = (tools: string) =>
      warnOfRoots(resolve({ env: { NACRE_TOOLS: tools, NACRE_SHELL_EXECUTE_CWD_ROOTS: '/no/such' } }), '/');
    expect(warned('shell-execute')).toEqual([
      expect.stringMatching(/^NACRE_SHELL_EXECUTE_CWD_ROOTS lists \/no\/such.*working_directory/),
    ]);
    expect(warned('terminal')).toEqual([]);
  });
});
