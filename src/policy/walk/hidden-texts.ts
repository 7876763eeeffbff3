import { decodeBase64 } from '../programs/base64.ts';

/**
 * The texts that a command may run in a way that is not followed: its literals, the quoted parts of these (strings in inline code),
 * and what common decoders make of them and of the words in `source`. Only texts that name a dangerous program where a command begins are returned.
 * With `mayReorder`, the words of the literals are also put together in another order, as a program could.
 */
export function hiddenTexts(
  source: string,
  literals: Iterable<string>,
  mayReorder: boolean,
): ReadonlySet<string> {
  const decoded = decodedIn(source);
  const forms = [...decoded, ...decoded.flatMap(quotedIn), ...quotedIn(source)];
  const texts = new Set(literals);
  for (const literal of texts) {
    const joined = joinedStrings(literal);
    const inside = joined === literal ? [] : quotedIn(joined);
    for (const text of [literal, ...quotedIn(literal), ...inside]) forms.push(...formsOfText(text));
  }
  if (mayReorder) forms.push(...assembled(texts));
  return new Set(forms.filter((form) => startsDangerous.test(form)).map(withoutVariables));
}

/** Joins string literals that inline code concatenates: `"r" + "m"`. */
function joinedStrings(text: string): string {
  return /["']/.test(text) ? text.replace(/(["'])\s{0,4}[+.,]?\s{0,4}\1/g, '') : text;
}

const flags = /^-[a-zA-Z]*[rR]|^--recursive$/;
const targets = /^(?:[~/.]|\$HOME\b|of=\/)/;

/** Dangerous commands that a program could assemble from words of the literals, in any order: `/`, `-rf` and `rm`. */
function assembled(literals: Iterable<string>): string[] {
  const words = new Set<string>();
  for (const literal of literals) {
    if (isWholeCommand.test(literal)) continue;
    for (const part of [literal, ...replacements(literal)])
      for (const word of part.split(/[^\w/~.$*=-]+/)) words.add(word);
  }
  const names = [...words].filter((word) => deleting.test(word));
  if (names.length === 0) return [];
  const isRecursive = [...words].some((word) => flags.test(word));
  return names.flatMap((name) =>
    [...words]
      .filter((word) => targets.test(word) || (name === 'kill' && word === '-1'))
      .map(
        (target) => `${name} ${isRecursive || name !== 'rm' ? (worstOptions.get(name) ?? '') : ''} ${target}`,
      ),
  );
}

/** Matches a destructive program with an operand at the beginning of a command, which is judged as written. */
const isWholeCommand =
  /(?:^|[\n;&|])[ \t]{0,8}(?:rm|dd|mkfs|shred|wipefs|chmod|chown|kill)[ \t]{1,8}(?:-[\w=-]{1,40}[ \t]{1,8}){0,8}[^-\s]/;

const deleting = /^(?:rm|dd|mkfs(?:\.\w+)?|shred|wipefs|chmod|chown|kill)$/;

const worstOptions = new Map([
  ['rm', '-rf'],
  ['kill', '-9'],
  ['chmod', '-R 777'],
  ['chown', '-R 0'],
]);

/** Programs that the danger rules judge, or that start such programs, at the beginning of a command. */
const startsDangerous =
  /(?:^|[\n;&|({`])[ \t]*(?:(?:sudo|doas|exec|command|nohup|env|time|nice|eval|then|do|else)[ \t]+)*(?:\/(?:usr\/)?s?bin\/)?(?:rm|rmdir|find|dd|mv|cp|tee|tar|rsync|shred|truncate|unlink|mkfs|mkswap|wipefs|blkdiscard|fdisk|sfdisk|sgdisk|parted|chmod|chown|chgrp|kill|killall5?|pkill|skill|fuser|shutdown|reboot|halt|poweroff|init|telinit|systemctl|run0|crontab|sh|bash|xargs|perl|python3?|cd|for|while|echo|cat|printf)(?![\w-])|[^\s;&|(){}]{1,32}[ \t]*\([ \t]*\)[ \t]*\{|>[ \t]*\/(?:dev|etc|proc|bin|boot)\//;

/** The parts in quotes; each kind of quote is read by itself, because code of several languages may be mixed. */
function quotedIn(text: string): string[] {
  return [...text.matchAll(/'([^']*)'|(?<=q[qwx]?)[({[/]([^)}\]/]*)/g), ...text.matchAll(/"([^"]*)"/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
}

function formsOfText(text: string): string[] {
  const reversed = [...text].reverse().join('');
  const forms = [text, text.toLowerCase(), reversed, rotated(text), unescaped(text), ...decodedIn(text)];
  if (scheduled.test(text)) forms.push(text.replace(scheduled, '').replace(/^root[ \t]+/gm, ''));
  // In LESSOPEN, a command follows a bar.
  if (/^\|/.test(text)) forms.push(text.replace(/^\|+-?/, ''));
  // Without the conversions of `date`, `seq` and `printf`, the rest of a format is printed as it is.
  if (/[%+\\]/.test(text)) forms.push(text.replace(/^\+/, '').replace(/%[-#0-9.]*[a-zA-Z]|\\[ntr0]/g, ''));
  if (makeReference.test(text)) forms.push(withMakeVariables(text));
  for (const { index } of [...text.matchAll(substitutions)].slice(0, 16))
    forms.push(...replacements(text.slice(index)));
  return forms;
}

const makeReference = /\$\(\w+\)/;

/** A Makefile with the values of the variables that it sets. */
function withMakeVariables(text: string): string {
  const values = new Map(
    [...text.matchAll(/^(\w{1,40})[ \t]{0,9}[:?]{0,2}=[ \t]{0,9}(\S{1,200})$/gm)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  );
  return text.replace(/\$\((\w+)\)/g, (reference, name) => values.get(name) ?? reference);
}

/** The beginning of a command of sed, at the start of a script or after another command, an address or a brace. */
const substitutions = /(?<=^|[\s;{}$/\d!])s(?=[^\w\s\\])/g;

/** The fields before a command in a crontab, and the name of a setting in a unit of systemd. */
const scheduled =
  /^[ \t]{0,8}(?:(?:[\d*,/-]{1,20}[ \t]{1,8}){5}|@[a-z]{1,10}[ \t]{1,8}|Exec\w{1,20}=[-@:+!]{0,3})/gm;

// The parts of a command of sed, such as `s/.*/rm -rf \//e`.
function replacements(text: string): string[] {
  const delimiter = text.charAt(1);
  if (!text.startsWith('s') || delimiter === '' || /[\w\s\\]/.test(delimiter)) return [];
  return text
    .replaceAll(`\\${delimiter}`, '\0')
    .split(delimiter)
    .slice(1, 3)
    .map((part) => part.replaceAll('\0', delimiter));
}

/** Words in base64 and hexadecimal digits, decoded. */
function decodedIn(text: string): string[] {
  return text
    .split(/[\s"'`()<>,;|]+/)
    .flatMap((word) => {
      const plain = /^[A-Za-z0-9+/]{8,}={0,2}$/.test(word) ? decodeBase64(word) : undefined;
      const digits = /^(?:[0-7][0-9a-f]){4,}$/i.test(word) ? [fromHex(word)] : [];
      return plain === undefined ? digits : [plain, ...digits];
    })
    .concat(numbersIn(text));
}

/** The text of a list of character codes: `[114, 109, 32]`. */
function numbersIn(text: string): string[] {
  return [...text.matchAll(/(?<!\d)(?:\d{2,3},\s?){3,400}\d{2,3}(?!\d)/g)].map(([list]) =>
    list
      .split(',')
      .map((code) => String.fromCharCode(Number(code)))
      .join(''),
  );
}

function fromHex(digits: string): string {
  return digits.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
}

/** Rotates letters by 13 places. */
function rotated(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const first = letter < 'a' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });
}

/** Decodes `\x72`, `\u0072` and `\162`, which most languages read alike. */
function unescaped(text: string): string {
  return text.replace(/\\(?:x([0-9a-f]{2})|u00([0-9a-f]{2})|0?([0-7]{2,3}))/gi, (_, hex, unicode, octal) =>
    String.fromCharCode(Number.parseInt(hex ?? unicode ?? octal, octal === undefined ? 16 : 8)),
  );
}

/** A variable of the text is not empty here just because it is not known: `rm -rf "$1"/` deletes a folder. */
function withoutVariables(text: string): string {
  return text.replace(/\$\{?(?!HOME\b)\w+\}?/g, 'unknown_word');
}
