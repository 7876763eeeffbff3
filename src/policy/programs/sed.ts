import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, mayBecomeCode, patternOf, toArg } from '../words/arg.ts';
import { copyName } from './copy-name.ts';
import { mayEndText } from './names-in-code.ts';
import { unknownOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { scriptIn } from './script-file.ts';
import { readSedScript, type SedAction } from './sed-script.ts';
import { writesTo } from './written-files.ts';

/** `sed`: scripts that run commands or write files. */
export const sedPrograms: readonly ProgramEntry[] = [
  {
    names: ['sed', 'gsed', 'ssed'],
    closed: [],
    options: {
      short: 'nbe:f:Ei::l:rsuz',
      long: 'quiet silent debug expression= file= follow-symlinks in-place[=] line-length= null-data zero-terminated posix regexp-extended separate sandbox unbuffered binary help version',
    },
    effects: sedEffects,
    runs: [
      ["sed '1e touch x' a", 'touch'],
      ["sed '$e touch x' a", 'touch'],
      'sed e a',
      "sed 's/a/b/e' a",
      "sed 's|a|touch x|ge' a",
      "sed -n '/x/w out' a",
      "sed 's/a/b/w out' a",
      "sed -e p -e 'w out' a",
      "sed --expression='1e touch' a",
      "sed --expr '1e touch' a",
      "sed '1{p;e touch x\n}' a",
      "sed '1!e touch' a",
      "sed '\\,a,e touch' a",
      "sed 'y/a/b/;e touch' a",
      "sed '1,+3e touch' a",
      "sed 's/[/]/x/e' a",
      'sed "$script" a',
      'for f in *; do sed -n "$f"p a; done',
      `sed -n "$(awk '{ print $2 }' <<< 'x 1e') touch x" a`,
      'echo \'1e touch x\' > f; sed -n "$(cat f)p" a',
      "sed -f - a <<< 'e touch'",
      "sed -f <(echo 'w out') a",
      'sed --file=/dev/fd/3 a',
      "sed -ne 'W out' a",
      "sed 'a\\\ntext\ne touch' a",
      "sed ':a e touch x' a",
      "sed 'v;1e touch x' a",
      "sed 's/a/b/ e' a",
      "sed 's/[[:x]/e;1e touch/' a",
      "sed 'y/[/]/;1e touch/;s/]//' a",
      "sed -e 'a\\' -e foo -e 'e touch x' a",
      "sed '1e touch\\\nx' a",
      "sed -i '1i touch x' ~/.bashrc",
      "sed --in-place='.git/hooks/*' p post-checkout",
      'sed -ibak/../.git/hooks/* p post-checkout',
      "sed -i.bak 's/a/b/' .git/config",
      'sed --new-option p a',
      "sed -s -n '$!{N;ba}e touch' a",
      'for f in *; do sed "s|x|$f|" a; done',
      'for f in src/*; do sed "s/x/$f/" a; done',
    ],
    harmless: [
      "sed 's/a/b/g' a",
      "sed -n '1,10p' a",
      "sed -i 's/foo/bar/' a",
      "sed -i.bak -E 's/(a|b)/\\1/I' a",
      "sed '/exec/d;/we/p' a",
      "sed 's/e/w/' a",
      "sed -n '/start/,/end/{/x/!p}' a",
      'sed "s/$a/$b/" x',
      `sed -n "\${n}p" x`,
      "sed ':a;N;$!ba;s/\\n/ /g' a",
      "sed 's#/usr#/opt#' a",
      "sed 'a hello; e touch' a",
      "sed '$d' a",
      "sed 's/a/b/w /dev/stdout' a",
      'sed -f script.sed a',
      'for f in *.md; do sed "s/NAME/$f/" a; done',
      'sed = a',
      "sed 's/x/\\n/;1i\\\n text' a",
      "sed -e 's/a/b/' -e '$ a last' a",
      "sed '5q' a",
      "sed 's/[^/]*$//' a",
      "sed 's/[[:space:]]*$//' a",
      "sed -n '$!{N;P;D}' a",
      "sed -e ':a' -e '$!{N;ba' -e '}' a",
      "sed 's/[]/]/x/g; s/[^]]/y/' a",
      "sed '/^#/d; /^$/d' a",
      "sed 'n;d' a",
      "sed -i -e '1i\\\n#!/bin/sh' -e '$a end' a",
      "sed '/a/,/b/ s/x/y/' a",
      "sed '0~3d;1~2p' a",
      ['sed "s|x|$PWD|;s|y|$(date +%F)|" a', 'date'],
      ['sed "s|x|$(git rev-parse --short HEAD)|" a', 'git'],
      ['sed "s|x|$(cat VERSION)|" a', 'cat'],
    ],
  },
];

function sedEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  if (options.has('help', 'version')) return [];
  const given = options.values('e', 'expression');
  const inline = given.length > 0 || options.has('f', 'file');
  // Sed joins the scripts with newlines, so text that one of them begins may end in the next one.
  const scripts = inline ? (given.length > 1 ? [joinLines(given)] : given) : options.operands.slice(0, 1);
  const files = options.values('f', 'file').flatMap((file) => fileEffects(call, file));
  return [
    ...unknownOptions(call),
    ...inPlace(call, inline ? options.operands : options.operands.slice(1)),
    ...(options.has('sandbox')
      ? []
      : [...files, ...scripts.flatMap((script) => scriptEffects(call, script))]),
  ];
}

function joinLines(scripts: readonly Arg[]): Arg {
  const [first] = scripts;
  const pieces = scripts.flatMap(({ pieces }, index) => (index === 0 ? pieces : ['\n', ...pieces]));
  return toArg(pieces, first ?? { pos: 0, end: 0 });
}

/** `sed -i` writes its files, and a copy of each whose name the suffix chooses. */
function inPlace({ options }: ProgramCall, files: readonly Arg[]): Effect[] {
  const given = options.given.filter(({ name }) => name === 'i' || name === 'in-place');
  if (given.length === 0) return [];
  const suffixes = given.flatMap(({ value }) => {
    // A glob that matches nothing stays as written.
    const suffix = value?.text ?? (value && patternOf(value)) ?? '';
    return suffix === '' ? [] : [suffix];
  });
  const copies = files.flatMap((file) =>
    suffixes.map((suffix) => knownArg(copyName(file.text ?? 'file', suffix), file)),
  );
  return [...files, ...copies].map((path) => ({ does: 'write', path }));
}

function fileEffects(call: ProgramCall, file: Arg): Effect[] {
  const script = scriptIn(call, file);
  if (script === 'file') return [];
  return script === 'unknown'
    ? [{ does: 'unknown', at: file, reason: `${call.name} would run what it reads` }]
    : scriptEffects(call, script);
}

function scriptEffects(call: ProgramCall, script: Arg): Effect[] {
  if (mayBecomeCode(script))
    return [{ does: 'unknown', at: script, reason: `the script for ${call.name} cannot be known` }];
  // Replace unknown text with digits, which are valid in an address, a pattern and a replacement; a file name is valid only in
  // the last two.
  const text = script.pieces
    .map((piece) => (typeof piece === 'string' ? piece : piece.hole === 'glob' ? '{' : '1'))
    .join('');
  const read = readSedScript(text);
  if (read === undefined)
    return [{ does: 'unknown', at: script, reason: `the script for ${call.name} is not understood` }];
  const cut: Effect[] = mayEndText(script, read.texts)
    ? [{ does: 'unknown', at: script, reason: `a name in the script for ${call.name} may end its command` }]
    : [];
  return [...cut, ...read.actions.flatMap((action) => actionEffects(action, script, call))];
}

function actionEffects(action: SedAction, at: Arg, { name }: ProgramCall): Effect[] {
  if (action.kind === 'write') {
    if (/^\/dev\/(?:stdout|stderr)$/.test(action.text)) return [];
    return [
      { does: 'refuse', at, rule: 'writes', reason: `${name} would write the file ${action.text}` },
      ...writesTo(knownArg(action.text, at), []),
    ];
  }
  if (action.text === '')
    return [{ does: 'unknown', at, reason: `${name} would run the text that it edits` }];
  return [{ does: 'shell', text: knownArg(action.text, at) }];
}
