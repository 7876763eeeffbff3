import { safeCut } from './surrogates.ts';
import { isUnsafe, specialCharacters, toVisible } from './visible-character.ts';
import type { VisibleLine } from './visible-line.ts';

/** The longest OSC, DCS, SOS, PM or APC string that is removed; one packet of kitty graphics has 4 KiB. */
export const maxStringChars = 8_192;

/** The longest parameters of a CSI (`ESC [`) sequence that is removed. */
export const maxParameterChars = 256;

/** How a NUL is printed: as `␀`, as a line end for NUL-separated text, or unchanged for programs. */
export type NulMeaning = 'picture' | 'newline' | 'keep';

/**
 * Removes terminal sequences from text that arrives in pieces and applies those that change the visible line.
 *
 * Only a well-formed sequence is removed. A string that is broken off by a line end, another escape or
 * `maxStringChars` is printed as text, so that a stray introducer never swallows the output after it.
 */
export class VtStripper {
  readonly #line: VisibleLine;
  readonly #nul: NulMeaning;
  #state: 'ground' | 'escape' | 'csi' | 'string' | 'string-escape' = 'ground';
  /** The visible form of the introducer, in case the sequence turns out to be text. */
  #opener = '';
  #body = '';

  constructor(line: VisibleLine, nul: NulMeaning) {
    this.#line = line;
    this.#nul = nul;
  }

  feed(text: string): void {
    let at = 0;
    while (at < text.length) at = this.#step(text, at);
  }

  /** Ends the output: drops an unfinished sequence, and prints an unfinished string as text. */
  end(): void {
    if (this.#state === 'string') this.#showAsText();
    this.#state = 'ground';
  }

  #step(text: string, at: number): number {
    if (this.#state === 'ground') return this.#ground(text, at);
    if (this.#state === 'csi') return this.#csi(text, at);
    if (this.#state === 'escape') return this.#escape(text, at);
    return this.#state === 'string' ? this.#string(text, at) : this.#stringEscape(text, at);
  }

  #ground(text: string, at: number): number {
    const next = findSpecial(text, at);
    if (next > at) this.#line.print(at === 0 && next === text.length ? text : text.slice(at, next));
    if (next === text.length) return next;
    const state = openers.get(text.charCodeAt(next));
    if (state === undefined) return this.#control(text, next);
    this.#open(state, toVisible(text.charCodeAt(next)));
    return next + 1;
  }

  #control(text: string, at: number): number {
    const code = text.codePointAt(at) ?? 0;
    const end = at + (code > 0xffff ? 2 : 1);
    if (code === 0x0d) this.#line.carriageReturn();
    else if (code === 0x08) this.#line.moveBy(-1);
    else if (code === 0x00 && this.#nul !== 'picture')
      this.#line.print(this.#nul === 'newline' ? '\n' : '\0');
    else if (!silent.has(code)) this.#line.print(isUnsafe(code) ? toVisible(code) : text.slice(at, end));
    return end;
  }

  #escape(text: string, at: number): number {
    const code = text.charCodeAt(at);
    if (code >= 0x20 && code <= 0x2f && this.#body.length < maxParameterChars) this.#body += text[at];
    else if (code < 0x30 || code > 0x7e) return this.#showAsText(at);
    else this.#afterEscape(text.charAt(at));
    return at + 1;
  }

  #afterEscape(final: string): void {
    const state = this.#body === '' ? openersAfterEscape.get(final) : undefined;
    const effect = this.#body === '' ? escapeEffects[final] : undefined;
    this.#state = 'ground';
    effect?.(this.#line);
    if (state !== undefined) this.#open(state, this.#opener + final);
  }

  #csi(text: string, at: number): number {
    for (let i = at; i < text.length; i += 1) {
      const code = text.charCodeAt(i);
      if (code >= 0x40 && code <= 0x7e) return this.#endCsi(text, at, i);
      if (code < 0x20 || code > 0x7e || this.#body.length + i - at >= maxParameterChars) {
        this.#body += text.slice(at, i);
        return this.#showAsText(i);
      }
    }
    this.#body += text.slice(at);
    return text.length;
  }

  #endCsi(text: string, at: number, final: number): number {
    this.#state = 'ground';
    const effect = csiEffects[text.charAt(final)];
    if (effect === undefined) return final + 1;
    const parameters = this.#body + text.slice(at, final);
    if (parameters === '') effect(this.#line, []);
    else if (/^[\d;]+$/.test(parameters)) effect(this.#line, parameters.split(';').map(Number));
    return final + 1;
  }

  #string(text: string, at: number): number {
    const next = findFrom(stringEnds, text, at);
    if (this.#body.length + next - at > maxStringChars) {
      const cut = safeCut(text, at + maxStringChars - this.#body.length);
      this.#body += text.slice(at, cut);
      return this.#showAsText(cut);
    }
    this.#body += text.slice(at, next);
    if (next === text.length) return next;
    if (text[next] === '\n') return this.#showAsText(next);
    this.#state = text[next] === '\x1b' ? 'string-escape' : 'ground';
    return next + 1;
  }

  #stringEscape(text: string, at: number): number {
    if (text[at] === '\\') {
      this.#state = 'ground';
      return at + 1;
    }
    this.#showAsText();
    this.#open('escape', toVisible(0x1b));
    return at;
  }

  #open(state: 'escape' | 'csi' | 'string', opener: string): void {
    this.#state = state;
    this.#opener = opener;
    this.#body = '';
  }

  #showAsText(resumeAt = 0): number {
    this.#state = 'ground';
    this.#line.print(this.#opener);
    let at = 0;
    while (at < this.#body.length) {
      const next = findSpecial(this.#body, at);
      this.#line.print(this.#body.slice(at, next));
      at = next < this.#body.length ? this.#control(this.#body, next) : next;
    }
    this.#body = '';
    return resumeAt;
  }
}

const stringEnds = /[\x07\n\x1b\x9c]/g;

/** Controls without a visible effect: BEL, and SO and SI, which `tput sgr0` prints. */
const silent = new Set([0x07, 0x0e, 0x0f]);

const openers = new Map([
  [0x1b, 'escape'],
  [0x9b, 'csi'],
  ...[0x90, 0x98, 0x9d, 0x9e, 0x9f].map((code) => [code, 'string'] as const),
] as const);

const openersAfterEscape = new Map([
  ['[', 'csi'],
  ...['P', 'X', ']', '^', '_'].map((final) => [final, 'string'] as const),
] as const);

const leaveRow = (line: VisibleLine) => line.leaveRow();
const saveCursor = (line: VisibleLine) => line.saveCursor();
const restoreCursor = (line: VisibleLine) => line.restoreCursor();

const escapeEffects: Readonly<Record<string, (line: VisibleLine) => void>> = {
  '7': saveCursor,
  '8': restoreCursor,
  D: leaveRow,
  E: leaveRow,
  M: leaveRow,
};

type CsiEffect = (line: VisibleLine, parameters: readonly number[]) => void;

const goTo: CsiEffect = (line, [, column]) => {
  line.leaveRow();
  line.moveTo((column || 1) - 1);
};
const eraseParts = ['to-end', 'to-start', 'all'] as const;

// Earlier rows are already printed, so `J` (erase display) can only clear the rest of this line.
const csiEffects: Readonly<Record<string, CsiEffect>> = {
  A: leaveRow,
  B: leaveRow,
  C: (line, [n]) => line.moveBy(n || 1),
  D: (line, [n]) => line.moveBy(-(n || 1)),
  E: leaveRow,
  F: leaveRow,
  G: (line, [n]) => line.moveTo((n || 1) - 1),
  H: goTo,
  J: (line, [n]) => ((n ?? 0) === 0 ? line.erase('to-end') : undefined),
  K: (line, [n]) => {
    const part = eraseParts[n ?? 0];
    if (part !== undefined) line.erase(part);
  },
  d: leaveRow,
  f: goTo,
  s: saveCursor,
  u: restoreCursor,
};

// Coloured text has short runs, for which a loop is faster than starting the regular expression.
function findSpecial(text: string, at: number): number {
  const near = Math.min(text.length, at + 24);
  for (let i = at; i < near; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 0x20 && code !== 0x09 && code !== 0x0a) return i;
    if (code > 0x7e) return findFrom(specialCharacters, text, i);
  }
  return findFrom(specialCharacters, text, near);
}

function findFrom(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex - 1 : text.length;
}
