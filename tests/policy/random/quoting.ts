import type { Dice } from './dice.ts';

/** Writes a text as one bash word with a random style of quoting. */
export function quoted(dice: Dice, text: string): string {
  if (text === '') return dice.pick(["''", '""', "$''"]);
  if (text.length > 1 && dice.once(4)) {
    const at = 1 + dice.below(text.length - 1);
    return quoted(dice, text.slice(0, at)) + quoted(dice, text.slice(at));
  }
  const styles: ((dice: Dice, text: string) => string)[] = [(_, plain) => single(plain), double, ansi];
  if (/^[\w./-]+$/.test(text))
    styles.push(
      (_, plain) => plain,
      (_, plain) => plain,
      escaped,
    );
  return dice.pick(styles)(dice, text);
}

/** Writes a text in single quotes. */
export function single(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function double(_dice: Dice, text: string): string {
  return `"${text.replace(/[\\"$`]/g, '\\$&')}"`;
}

function ansi(dice: Dice, text: string): string {
  return `$'${[...text].map((character) => ansiCharacter(dice, character)).join('')}'`;
}

function ansiCharacter(dice: Dice, character: string): string {
  const code = character.charCodeAt(0);
  if (code > 126) return character;
  const plain = /[\w ./;|&(){}$-]/.test(character);
  if (plain && !dice.once(3)) return character;
  return dice.pick([
    `\\x${code.toString(16).padStart(2, '0')}`,
    `\\${code.toString(8).padStart(3, '0')}`,
    `\\u${code.toString(16).padStart(4, '0')}`,
  ]);
}

function escaped(dice: Dice, text: string): string {
  return [...text].map((character) => (dice.once(2) ? `\\${character}` : character)).join('');
}
