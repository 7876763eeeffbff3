import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSettings, listSettings } from './define.ts';
import { listGiven, parseFlags } from './parse-flags.ts';
import { resolveSettings } from './resolve-settings.ts';

const declared = defineSettings({
  json: z.boolean().default(false).meta({ flag: '--json', description: 'Answer in JSON.' }),
  color: z.boolean().default(true).meta({ flag: '--color', description: 'Use colours.' }),
  input: z
    .string()
    .optional()
    .meta({ flag: ['--input', '-i'], description: 'What stdin gets.' }),
  timeoutMs: z.int().min(1).max(600_000).default(30_000).meta({ flag: '--timeout-ms', description: 'Time.' }),
  allow: z.array(z.string()).default([]).meta({ flag: '--allow', description: 'Programs.' }),
});

const parse = (...argv: string[]) => parseFlags(argv, declared);
const valuesOf = (...argv: string[]) => resolveSettings({ flags: parse(...argv) }, declared).values;

describe('parseFlags', () => {
  it('reads values that follow a flag or are attached to it', () => {
    const values = valuesOf('--input', 'one', '--timeout-ms=5s', '--allow=git, ls');
    expect(values).toMatchObject({ input: 'one', timeoutMs: 5_000, allow: ['git', 'ls'] });
    expect(valuesOf('-i', 'one').input).toBe('one');
    expect(valuesOf('--input=a=b').input).toBe('a=b');
    expect(valuesOf('--input', '-').input).toBe('-');
    expect(valuesOf('--input=--json')).toMatchObject({ input: '--json', json: false });
  });

  it('can be written for another command line, which reads the same', () => {
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

  it('joins a list that is given in several flags', () => {
    expect(valuesOf('--allow', 'git', '--allow=ls,cat').allow).toEqual(['git', 'ls', 'cat']);
    expect(valuesOf('--allow=').allow).toEqual([]);
  });

  it('keeps words that are no flags in order, also numbers and a lone dash', () => {
    expect(parse('run', '-', '--json', '-5', 'more').positionals).toEqual(['run', '-', '-5', 'more']);
  });

  it('takes nothing after -- for a flag', () => {
    const parsed = parse('--json', '--', '--color', 'x', '--', '--bogus');
    expect(parsed.positionals).toEqual(['--color', 'x', '--', '--bogus']);
    expect(parsed.problems).toEqual([]);
  });

  it('stops at the first word that is no flag when asked to', () => {
    const parsed = parseFlags(['--json', 'git', '--json', '--', '-x'], declared, { stopAtPositional: true });
    expect(parsed.positionals).toEqual(['git', '--json', '--', '-x']);
    expect([...parsed.given.keys()]).toEqual(['json']);
  });

  it('whatever follows -- arrives unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        expect(parse('--json', '--', ...words)).toMatchObject({ positionals: words, problems: [] });
      }),
    );
  });

  it('never throws, and explains every flag that it does not know', () => {
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

  it('names an unknown flag and the one that may be meant', () => {
    expect(problemsOf('--inptu', 'x')).toEqual([
      { where: '--inptu', message: 'This flag is not known. Did you mean --input?' },
    ]);
    expect(problemsOf('-x')).toMatchObject([{ where: '-x' }]);
    expect(problemsOf('--no-input')).toMatchObject([{ where: '--no-input' }]);
    expect(problemsOf('--no-bogus=1')).toMatchObject([{ where: '--no-bogus' }]);
  });

  it('asks for a value where there is none', () => {
    expect(problemsOf('--timeout-ms')).toEqual([
      { where: '--timeout-ms', message: 'timeout_ms needs a value: --timeout-ms=MS.' },
    ]);
    expect(problemsOf('--input', '--json')).toMatchObject([{ where: '--input' }]);
  });

  it('refuses a value for a negated switch, and a flag given twice', () => {
    expect(problemsOf('--no-json=1')).toMatchObject([{ message: 'This flag takes no value.' }]);
    expect(problemsOf('--input=a', '-i', 'b')).toMatchObject([
      { where: '-i', message: 'input is given twice; give it once.' },
    ]);
    expect(problemsOf('--json', '--no-json')).toMatchObject([{ where: '--no-json' }]);
  });

  it('stops the start with everything that is wrong with it', () => {
    expect(() => valuesOf('--bogus', '--timeout-ms=0', '--json=perhaps')).toThrow(
      /3 settings are wrong:\n- --bogus: .*\n- --json: json cannot be "perhaps".*\n- --timeout-ms: timeout_ms cannot be "0"/,
    );
  });
});
