import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createDisplay } from './display.ts';
import { layOutTable } from './table.ts';

const columns = [
  { title: 'ID' },
  { title: 'TOOK', alignRight: true, isOptional: true },
  { title: 'CLIENT', isOptional: true },
  { title: 'COMMAND' },
];
const row = (id: string, took: string, client: string, command: string) =>
  [id, took, client, command].map((text) => ({ text }));
const rows = [
  row('a', '5 ms', 'claude-code', 'git log --oneline'),
  row('bcd', '12 ms', '漢字', 'x'.repeat(60)),
];
const wide = (width: number) => ({
  ...createDisplay(new PassThrough(), {}),
  isForPeople: true,
  columns: width,
});

describe('layOutTable', () => {
  it('aligns columns and cuts nothing in a pipe', () => {
    expect(layOutTable(columns, rows, createDisplay(new PassThrough(), { COLUMNS: '40' }))).toBe(
      [
        'ID    TOOK  CLIENT       COMMAND',
        'a     5 ms  claude-code  git log --oneline',
        `bcd  12 ms  漢字         ${'x'.repeat(60)}`,
        '',
      ].join('\n'),
    );
  });

  it('cuts the last column at a terminal', () => {
    expect(layOutTable(columns, rows, wide(50)).split('\n')[2]).toBe(
      `bcd  12 ms  漢字         ${'x'.repeat(24)}…`,
    );
  });

  it('leaves out optional columns, the rightmost first, rather than cutting the last one too short', () => {
    expect(layOutTable(columns, rows, wide(40)).split('\n')[0]).toBe('ID    TOOK  COMMAND');
    expect(layOutTable(columns, rows, wide(30)).split('\n')[0]).toBe('ID   COMMAND');
    expect(layOutTable(columns, rows, wide(4)).split('\n')[0]).toBe('ID   …');
  });
});
