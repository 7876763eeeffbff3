import { describe, expect, it } from 'vitest';
import { readAliases, readDeclarations } from './read-declarations.ts';

describe('readDeclarations', () => {
  it('parses values with any content as bash quotes them', () => {
    const printed = [
      'declare -- plain="a \\"b\\" \\$c \\`d\\` \\\\"',
      "declare -x escaped=$'tab\\there, it\\'s \\303\\244'",
      'declare -- two="first',
      'declare -- inside=\'second"',
      'declare -a list=([0]="x" [1]=$\'y"\\n\')',
      'declare -x nothing',
      '',
    ].join('\n');
    const found = readDeclarations(printed);
    expect(found.map(({ name }) => name)).toEqual(['plain', 'escaped', 'two', 'list', 'nothing']);
    expect(found.map(({ value }) => value)).toEqual([
      'a "b" $c `d` \\',
      "tab\there, it's ä",
      "first\ndeclare -- inside='second",
      undefined,
      undefined,
    ]);
  });

  it('parses very long values', () => {
    const long = 'x'.repeat(20_000_000);
    expect(readDeclarations(`declare -- a="${long}"\ndeclare -- b="1"\n`).map(({ name }) => name)).toEqual([
      'a',
      'b',
    ]);
    const dollars = '\\$'.repeat(5_000_000);
    expect(readDeclarations(`declare -- a="${dollars}"\n`)[0]?.value).toBe('$'.repeat(5_000_000));
  });
});

describe('readAliases', () => {
  it('parses texts with quotes and newlines', () => {
    const printed = "alias a='echo it'\\''s'\nalias -- -b='one\ntwo'\nalias c=''\nalias d=\\'\n";
    expect([...readAliases(printed)]).toEqual([
      ['a', "echo it's"],
      ['-b', 'one\ntwo'],
      ['c', ''],
      ['d', "'"],
    ]);
  });
});
