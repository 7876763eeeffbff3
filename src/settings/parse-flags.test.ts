import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defineSettings, listSettings } from './define.ts';
import { listGiven, parseFlags } from './parse-flags.ts';
import { resolveSettings } from './resolve-settings.ts';
import { s } from './schema.ts';

const declared = defineSettings({
  json: s.boolean().default(false).meta({ flag: '--json', description: 'Answer in JSON.' }),
  color: s.boolean().default(true).meta({ flag: '--color', description: 'Use colours.' }),
  input: s
    .text()
    .optional()
    .meta({ flag: ['--input', '-i'], description: 'Text for stdin.' }),
  timeoutMs: s.int().min(1).max(600_000).default(30_000).meta({ flag: '--timeout-ms', description: 'Time.' }),
  allow: s.list(s.text()).default([]).meta({ flag: '--allow', description: 'Programs.' }),
});

const parse = (...argv: string[]) => parseFlags(argv, declared);
const valuesOf = (...argv: string[]) => resolveSettings({ flags: parse(...argv) }, declared).values;

describe('parseFlags', () => {
  it('reads a value that follows a flag or is attached with =', () => {
    const values = valuesOf('--input', 'one', '--timeout-ms=5s', '--allow=git, ls');
    expect(values).toMatchObject({ input: 'one', timeoutMs: 5_000, allow: ['git', 'ls'] });
    expect(valuesOf('-i', 'one').input).toBe('one');
    expect(valuesOf('--input=a=b').input).toBe('a=b');
    expect(valuesOf('--input', '-').input).toBe('-');
    expect(valuesOf('--input=--json')).toMatchObject({ input: '--json', json: false });
  });

  it('round-trips through listGiven', () => {
    const argv = ['--no-color', '-i', 'x y=z', '--allow', 'git', '--json', '--allow=ls,cat'];
    const given = listGiven(parse(...argv), listSettings(declared));
    const again = given.map(({ flags: [flag], text }) => `${flag}=${text}`);
    expect(valuesOf(...again)).toEqual(valuesOf(...argv));
  });

  it('reads switches, their negation and their explicit values', () => {
    expect(valuesOf()).toMatchObject({ json: false, color: true });
    expect(valuesOf('--json', '--no-color')).toMatchObject({ json: true, color: false });
    expect(valuesOf('--json=off', '--color=yes')).toMatchObject({ json: false, color: true });
  });

  it('joins a list that is spread over several flags', () => {
    expect(valuesOf('--allow', 'git', '--allow=ls,cat').allow).toEqual(['git', 'ls', 'cat']);
    expect(valuesOf('--allow=').allow).toEqual([]);
  });

  it('keeps positionals in order, including negative numbers and a single dash', () => {
    expect(parse('run', '-', '--json', '-5', 'more').positionals).toEqual(['run', '-', '-5', 'more']);
  });

  it('reads no flag after --', () => {
    const parsed = parse('--json', '--', '--color', 'x', '--', '--bogus');
    expect(parsed.positionals).toEqual(['--color', 'x', '--', '--bogus']);
    expect(parsed.problems).toEqual([]);
  });

  it('stops at the first positional with stopAtPositional', () => {
    const parsed = parseFlags(['--json', 'git', '--json', '--', '-x'], declared, { stopAtPositional: true });
    expect(parsed.positionals).toEqual(['git', '--json', '--', '-x']);
    expect([...parsed.given.keys()]).toEqual(['json']);
  });

  it('returns all words after -- unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        expect(parse('--json', '--', ...words)).toMatchObject({ positionals: words, problems: [] });
      }),
    );
  });

  it('never throws, and reports every unknown flag', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^-{0,3}[a-z]{0,6}(=.{0,3})?$/)), (words) => {
        const { given, positionals, problems } = parse(...words);
        expect(given.size + positionals.length + problems.length).toBeLessThanOrEqual(words.length);
      }),
    );
  });
});

describe('E8: a wrong command line', () => {
  const problemsOf = (...argv: string[]) => parse(...argv).problems;

  it('names an unknown flag and suggests the nearest one', () => {
    expect(problemsOf('--inptu', 'x')).toEqual([
      { where: '--inptu', message: 'Unknown flag. Did you mean --input?' },
    ]);
    expect(problemsOf('-x')).toMatchObject([{ where: '-x' }]);
    expect(problemsOf('--no-input')).toMatchObject([{ where: '--no-input' }]);
    expect(problemsOf('--no-bogus=1')).toMatchObject([{ where: '--no-bogus' }]);
  });

  it('reports a missing value', () => {
    expect(problemsOf('--timeout-ms')).toEqual([
      { where: '--timeout-ms', message: 'timeout_ms needs a value: --timeout-ms=MS.' },
    ]);
    expect(problemsOf('--input', '--json')).toMatchObject([{ where: '--input' }]);
  });

  it('refuses a value for a negated switch, and a flag that occurs twice', () => {
    expect(problemsOf('--no-json=1')).toMatchObject([{ message: 'This flag takes no value.' }]);
    expect(problemsOf('--input=a', '-i', 'b')).toMatchObject([
      { where: '-i', message: 'input is set twice; set it once.' },
    ]);
    expect(problemsOf('--json', '--no-json')).toMatchObject([{ where: '--no-json' }]);
  });

  it('stops the start with one error for all its problems', () => {
    expect(() => valuesOf('--bogus', '--timeout-ms=0', '--json=perhaps')).toThrow(
      /3 settings are invalid:\n- --bogus: .*\n- --json: json cannot be "perhaps".*\n- --timeout-ms: timeout_ms cannot be "0"/,
    );
  });
});
