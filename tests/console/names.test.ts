import { describe, expect, test } from 'vitest';
import { toAgentName, toName, toTitle } from '../../src/console/words.ts';

describe('a name without a visible character', () => {
  const agent = { key: '1_a', client: '', folder: '/home/me/web-shop', door: 'mcp' };

  test.each(['', '   ', '\t\n', '\u00a0\u3000', '\u2800\u2800'])('%j is replaced', (blank) => {
    expect(toAgentName({ ...agent, client: blank })).toBe('mcp · web-shop');
    expect(toAgentName({ ...agent, client: 'codex', folder: `/home/me/${blank}` })).toBe('codex');
    expect(toName(blank, 'A page without a name')).toBe('A page without a name');
  });

  test('of a zero-width character is shown with its code', () => {
    expect(toAgentName({ ...agent, client: '\u200b' })).toBe('[U+200B] · web-shop');
  });

  test('is not the title of a command: its first line with text is', () => {
    expect(toTitle('\n  \nmake test\nmake clean')).toBe('make test');
    expect(toTitle(' \n ')).toBe('(blank)');
  });
});
