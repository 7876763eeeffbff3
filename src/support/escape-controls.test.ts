import { expect, it } from 'vitest';
import { escapeControls } from './escape-controls.ts';

it('keeps visible characters, and escapes those that a terminal obeys or hides', () => {
  expect(escapeControls('grün 字 👍 a\tb')).toBe('grün 字 👍 a\\u{9}b');
  expect(escapeControls('\u001b]0;title\u0007 \u009b2J \u202e\u2028\r\n')).toBe(
    '\\u{1b}]0;title\\u{7} \\u{9b}2J \\u{202e}\\u{2028}\\u{d}\\u{a}',
  );
});
