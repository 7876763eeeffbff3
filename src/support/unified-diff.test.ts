import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runDirectly } from '../../tests/support/layered.ts';
import { needPrograms } from '../../tests/support/needs.ts';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { unifiedDiff } from './unified-diff.ts';

describe('unifiedDiff', () => {
  it('shows added and removed lines with three lines of context', () => {
    expect(unifiedDiff('1\n2\n3\n4\n5\n', '1\n2\n3\n4\nfive\n')).toBe(
      '@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five\n',
    );
    expect(unifiedDiff('', 'a')).toBe('@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n');
    expect(unifiedDiff('a\n', 'a\n')).toBe('');
  });

  it('gives what patch needs to turn one text into the other', (context) => {
    needPrograms(context, 'patch');
    const folder = temporaryFolder();
    const [file, diff] = [join(folder, 'file'), join(folder, 'diff')];
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
    fc.assert(
      fc.property(lines, lines, (one, other) => {
        const [before, after] = [one, other].map((text) => text.map((line) => `${line}\n`).join(''));
        const hunks = unifiedDiff(before ?? '', after ?? '');
        expect(hunks === '').toBe(before === after);
        if (before === after) return;
        writeFileSync(file, before ?? '');
        writeFileSync(diff, `--- file\n+++ file\n${hunks}`);
        expect(runDirectly(folder, 'patch -s file diff')).toBe(0);
        expect(after === '' || readFileSync(file, 'utf8') === after).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('shows texts with too many differences as replaced', () => {
    const lines = (word: string) => Array.from({ length: 5_000 }, (_, index) => `${word}${index}\n`).join('');
    const diff = unifiedDiff(lines('a'), lines('b'));
    expect(diff.startsWith('@@ -1,5000 +1,5000 @@\n-a0\n-a1\n')).toBe(true);
  });
});
