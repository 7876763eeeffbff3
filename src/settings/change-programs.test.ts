import { describe, expect, it } from 'vitest';
import { changePrograms } from './change-programs.ts';

const presets = { dev: ['git', 'npm'], full: ['*'] };
const allow = (text: string, program: string, project?: string) =>
  changePrograms(text, { verdict: 'allow', programs: [program], project }, presets);
const deny = (text: string, program: string, project?: string) =>
  changePrograms(text, { verdict: 'deny', programs: [program], project }, presets).text;

const denied =
  'policy:\n  - { verdict: deny, program: curl, reason: The user denied it., examples: { matches: [curl] } }\n';

describe('allowing a program', () => {
  it('adds it to the list, and keeps the preset and its comment', () => {
    expect(allow('preset: dev # mine\n', 'docker').text).toBe(
      'preset: dev # mine\nallowed_commands: [docker]\n',
    );
    expect(allow('allowed_commands: [git] # few\n', 'docker').text).toBe(
      'allowed_commands: [git, docker] # few\n',
    );
  });

  it('changes nothing if the list or the preset has it, and says so', () => {
    for (const text of [
      'preset: dev\n',
      'allowed_commands: npm, git\n',
      'preset: full\n',
      'allowed_commands: ["*"]\n',
    ])
      expect(allow(text, 'git')).toEqual({ text, notes: ['git was already in your list.'] });
  });

  it('warns if it starts a new list', () => {
    expect(allow('', 'git').notes).toEqual([expect.stringContaining('this is now the whole list')]);
  });

  it('for a project adds a rule for that folder', () => {
    const { text } = allow('preset: dev\n', 'docker', '/home/a b/app');
    expect(text).toBe(
      'preset: dev\npolicy:\n  - { verdict: allow, program: docker, cwd: /home/a b/app, reason: The user allowed it in this project., examples: { matches: [docker] } }\n',
    );
    expect(allow(text, 'docker', '/home/a b/app')).toMatchObject({ text });
  });

  it('removes the rule that denied it, and is refused for a project while it is denied everywhere', () => {
    expect(allow(`preset: dev\n${denied}`, 'curl').text).toBe('preset: dev\nallowed_commands: [curl]\n');
    expect(() => allow(denied, 'curl', '/app')).toThrow('denies curl everywhere');
  });
});

describe('denying a program', () => {
  const notesOf = (text: string, program: string) =>
    changePrograms(text, { verdict: 'deny', programs: [program] }, presets).notes;

  it('says that it was denied already, and that a path is not the name', () => {
    expect(notesOf(denied, 'curl')).toEqual(['curl was already denied.']);
    expect(notesOf('', 'curl')).toEqual([]);
    expect(notesOf('', '/usr/bin/curl')).toEqual([
      'Only the path /usr/bin/curl is denied; nacre deny curl also denies the name.',
    ]);
  });

  it('adds a rule once, and removes it from the list and from projects', () => {
    const text = allow('allowed_commands: [git, curl]\n', 'curl').text;
    expect(deny(text, 'curl')).toBe(`allowed_commands: [git]\n${denied}`);
    expect(deny(denied, 'curl')).toBe(denied);
    const inProject = allow('preset: dev\n', 'curl', '/app').text;
    expect(deny(inProject, 'curl')).toBe(`preset: dev\n${denied}`);
  });

  it('keeps rules about some arguments', () => {
    const own = 'policy:\n  - verdict: allow\n    program: curl\n    args: [--version]\n';
    expect(deny(own, 'curl')).toBe(`${own}${denied.slice('policy:\n'.length)}`);
  });

  it('for a project does not change the list', () => {
    const text = deny('allowed_commands: [curl]\n', 'curl', '/app');
    expect(text).toContain(
      'allowed_commands: [curl]\npolicy:\n  - { verdict: deny, program: curl, cwd: /app,',
    );
    expect(allow(text, 'curl', '/app').text).toBe('allowed_commands: [curl]\n');
  });
});
