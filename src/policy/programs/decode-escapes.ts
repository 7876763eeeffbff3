const simple: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
};

/** The dialect of the escapes: `echo -e`, the format of `printf`, or an argument for `%b`. */
export type EscapePlace = 'echo' | 'format' | '%b';

/** Decodes escapes; `undefined` if the result depends on the shell, the locale or something else unknown. */
export function decodeEscapes(text: string, place: EscapePlace): string | undefined {
  let certain = true;
  const decoded = text.replace(/\\([0-7]{1,4}|x[0-9a-fA-F]{0,2}|[\s\S]?)/g, (_, written: string) => {
    const found = (Object.hasOwn(simple, written) ? simple[written] : undefined) ?? numbered(written, place);
    certain &&= found !== undefined;
    return found ?? '';
  });
  return certain ? decoded : undefined;
}

function numbered(written: string, place: EscapePlace): string | undefined {
  if (/^x[0-9a-fA-F]{1,2}$/.test(written)) return character(Number.parseInt(written.slice(1), 16));
  // A `printf` format accepts up to three octal digits; `echo` and `%b` accept a zero and three more.
  const digits = place === 'format' ? /^([0-7]{1,3})([0-7]?)$/ : /^0([0-7]{1,3})()$/;
  const [, octal, rest] = digits.exec(written) ?? [];
  const decoded = octal === undefined ? undefined : character(Number.parseInt(octal, 8));
  return decoded === undefined ? undefined : decoded + rest;
}

/** The character with an ASCII code; NUL ends or disappears from a text, and other bytes depend on the locale. */
function character(code: number): string | undefined {
  return code > 0 && code < 128 ? String.fromCharCode(code) : undefined;
}
