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

/** Where the escapes stand: in echo -e, in printf's format, or in a word for printf's %b. */
export type EscapePlace = 'echo' | 'format' | '%b';

/** What escapes become; undefined when it depends on the shell, the locale or anything else that is not known here. */
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
  if (/^x[0-7][0-9a-fA-F]$/.test(written)) return String.fromCharCode(Number.parseInt(written.slice(1), 16));
  // A format takes up to three digits, echo and %b a zero and three more.
  const digits = place === 'format' ? /^([01][0-7]{2})([0-7]?)$/ : /^0([01][0-7]{2})()$/;
  const [, octal, rest] = digits.exec(written) ?? [];
  return octal === undefined ? undefined : String.fromCharCode(Number.parseInt(octal, 8)) + rest;
}
