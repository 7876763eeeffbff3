import { withRecursive } from '../danger/deletes.ts';
import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import {
  type Arg,
  foreignText,
  knownArg,
  prefixOf,
  toArg,
  unknown,
  unknownArg,
  withoutPrefix,
  wordText,
} from '../words/arg.ts';
import { mayChooseCode } from '../words/environment.ts';
import { fileContents } from '../words/output.ts';
import { allOf, startsAfter, startsOperands, unclearStart } from './effects.ts';
import { writeOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { splitWords } from './split-words.ts';
import { listedItem, startsEndlessly } from './stdin-items.ts';
import { writtenTo } from './written-files.ts';

const archOptions = {
  short: 'v3BFILRSTXZhV',
  long: 'verbose 3gb 4gb uname-2.6 32bit fdpic-funcptrs short-inode whole-seconds sticky-timeouts read-implies-exec addr-compat-layout mmap-page-zero addr-no-randomize list show[=] pid= help version',
  stop: true,
};

/** Programs that start the program named in their arguments: `env`, `sudo`, `timeout`, `xargs` … */
export const wrapperPrograms: readonly ProgramEntry[] = [
  {
    names: ['env'],
    closed: [],
    options: {
      short: 'i0u:C:S:v',
      long: 'ignore-environment null unset= chdir= split-string= block-signal[=] default-signal[=] ignore-signal[=] list-signal-handling debug help version',
      stop: true,
    },
    effects: envEffects,
    runs: [
      ['env touch x', 'touch'],
      ['env -i A=1 touch x', 'touch'],
      ['env -u HOME -C /tmp touch x', 'touch'],
      ["env -S 'touch x'", 'touch'],
      ["env --split='A=1 touch x'", 'touch'],
      ['env -vS"touch x"', 'touch'],
      ['env - touch x', 'touch'],
      'env LD_PRELOAD=./x.so',
      'env PATH=. env',
      'env "$cmd"',
      ['env -S "to\\uch \'a b\' \\"c\\d\\""', 'touch'],
      "env -S '$x y'",
      'env -S "$x"',
      ['env -C / -u A B=1 touch x', 'touch'],
    ],
    harmless: ['env', 'env -0', 'env A=1 B=2', ['env A=1 ls -l', 'ls']],
  },
  {
    names: ['nice'],
    closed: [],
    options: { short: 'n:0123456789', long: 'adjustment= help version', stop: true },
    effects: startsOperands,
    runs: [
      ['nice touch x', 'touch'],
      ['nice -n 5 touch x', 'touch'],
      ['nice --adj=5 touch x', 'touch'],
      ['nice -10 touch x', 'touch'],
    ],
    harmless: ['nice', ['nice -n "$N" ls', 'ls']],
  },
  {
    names: ['nohup', 'setsid', 'unbuffer', 'catchsegv'],
    closed: [],
    open: ['unbuffer', 'catchsegv'],
    options: { short: 'cfwp', long: 'ctty fork wait help version', stop: true },
    effects: startsOperands,
    runs: [
      ['nohup touch x', 'touch'],
      ['setsid -w touch x', 'touch'],
      ['nohup -- touch x', 'touch'],
    ],
    harmless: [['nohup ls', 'ls'], 'nohup --help'],
  },
  {
    names: ['setarch', 'linux32', 'linux64', 'i386', 'x86_64'],
    closed: [],
    options: archOptions,
    effects: archEffects,
    runs: [
      ['setarch x86_64 -R touch x', 'touch'],
      ['setarch -R touch x', 'touch'],
      ['linux32 touch x', 'touch'],
      'setarch x86_64',
    ],
    harmless: ['setarch --list', ['setarch -R ls', 'ls'], ['setarch x86_64 ls', 'ls']],
  },
  {
    names: ['timeout', 'gtimeout'],
    closed: [],
    options: {
      short: 'k:s:vfp',
      long: 'foreground kill-after= preserve-status signal= verbose help version',
      stop: true,
    },
    effects: startsAfter(1),
    runs: [
      ['timeout 3 touch x', 'touch'],
      ['timeout -s KILL 3 touch x', 'touch'],
      ['timeout --kill=1 --fore 3s touch x', 'touch'],
      'timeout $x ls',
    ],
    harmless: [['timeout 3 ls', 'ls'], ['timeout $((2*60)) ls', 'ls'], 'timeout --help'],
  },
  {
    names: ['stdbuf'],
    closed: [],
    options: { short: 'i:o:e:', long: 'input= output= error= help version', stop: true },
    effects: startsOperands,
    runs: [
      ['stdbuf -oL touch x', 'touch'],
      ['stdbuf --output=L touch x', 'touch'],
    ],
    harmless: [['stdbuf -o0 ls', 'ls']],
  },
  {
    names: ['ionice'],
    closed: [],
    options: {
      short: 'c:n:p:P:tu:',
      long: 'class= classdata= pid= pgid= ignore uid= help version',
      stop: true,
    },
    effects: (call) => (call.options.has('p', 'P', 'u', 'pid', 'pgid', 'uid') ? [] : startsOperands(call)),
    runs: [['ionice -c 3 touch x', 'touch']],
    harmless: ['ionice -p 123', ['ionice -c2 -n7 ls', 'ls']],
  },
  {
    names: ['time', 'gtime'],
    closed: [],
    options: {
      short: 'apqvVf:o:',
      long: 'append format= output= portability quiet verbose help version',
      stop: true,
    },
    effects: allOf(startsOperands, writeOptions('o', 'output')),
    runs: [['/usr/bin/time -f %e touch x', 'touch'], '/usr/bin/time -o .envrc pwd'],
    harmless: [['command time ls', 'command', 'ls']],
  },
  {
    names: ['sudo', 'sudoedit'],
    options: {
      short: 'AbBEeHhiKklnPSsvVC:D:g:h:p:R:r:t:T:U:u:',
      long: 'askpass background bell close-from= chdir= preserve-env[=] edit group= set-home help host= login list non-interactive preserve-groups prompt= chroot= role= stdin shell type= command-timeout= other-user= user= version validate remove-timestamp reset-timestamp no-update',
      stop: true,
    },
    effects: sudoEffects,
    runs: [
      ['sudo touch x', 'touch'],
      ['sudo -u bob -E A=1 touch x', 'touch'],
      ['sudo --user=bob -- touch x', 'touch'],
      ['sudo -s touch x', 'touch'],
      'sudo -i',
      'sudo -e /etc/hosts',
      'sudo LD_PRELOAD=x ls',
      'sudo $x',
    ],
    harmless: ['sudo -v', 'sudo -l', ['sudo -n ls', 'ls']],
  },
  {
    names: ['run0'],
    options: {
      short: 'u:g:D:hV',
      long: 'user= group= nice= chdir= setenv= background= unit= property= description= slice= slice-inherit machine= via-shell pty pipe no-ask-password shell-prompt-prefix= lightweight= same-root-dir help version',
      stop: true,
    },
    effects: startsOperands,
    runs: [
      ['run0 touch x', 'touch'],
      ['run0 --user=bob --setenv A=1 touch x', 'touch'],
      'run0 --some-new-option touch x',
    ],
    harmless: ['run0 --version', ['run0 ls', 'ls']],
  },
  {
    names: ['doas'],
    options: { short: 'C:u:Lns', stop: true },
    effects: (call) => [...shellAsked(call), ...startsOperands(call)],
    runs: [['doas touch x', 'touch'], ['doas -u bob touch x', 'touch'], 'doas -s'],
    harmless: [['doas ls', 'ls']],
  },
  {
    names: ['xargs', 'gxargs'],
    closed: ['echo'],
    options: {
      short: '0a:d:E:e::I:i::L:l::n:oP:prs:tx',
      long: 'null arg-file= delimiter= eof[=] replace[=] max-lines[=] max-args= max-procs= interactive no-run-if-empty max-chars= show-limits verbose exit open-tty process-slot-var= help version',
      stop: true,
    },
    effects: xargsEffects,
    runs: [
      ['ls | xargs touch', 'ls', 'touch'],
      ['xargs -n 2 -P4 touch', 'touch'],
      ['xargs -I{} touch {}', 'touch'],
      ['xargs --replace=X --max-procs=3 touch X', 'touch'],
      'xargs -I{} sh -c {}',
      'xargs bash -c',
      'xargs env',
      'xargs -I% % -l',
      'find xargs | xargs xargs',
      "printf '%s\\n' xargs touch | xargs -n1 xargs",
      "xargs -I{} sh -c 'ls {}'",
      'xargs --process-slot-var=PATH ls',
    ],
    harmless: [
      'xargs -n 1',
      ['find . -print0 | xargs -0 grep -n foo', 'find', 'grep'],
      ['xargs -r ls', 'ls'],
      ['xargs -I{} bash -c \'ls "$1"\' _ {}', 'bash', 'ls'],
    ],
  },
  {
    names: ['busybox', 'toybox'],
    options: { short: '', long: 'list list-full install help', stop: true },
    effects: startsOperands,
    runs: [
      ['busybox touch x', 'touch'],
      ["busybox sh -c 'touch x'", 'sh', 'touch'],
    ],
    harmless: ['busybox --list', ['busybox ls', 'ls']],
  },
];

/** `setarch` accepts an architecture first and options after it; without a program it starts a shell. */
function archEffects(call: ProgramCall): Effect[] {
  const { options, name } = call;
  const [first] = options.operands;
  const machine =
    /^(?:x86_64|i[3-6]86|linux(?:32|64)|uname26|aarch64|arm\w*|ppc\w*|s390x?|mips\w*|sparc\w*)$/;
  const named = name === 'setarch' && machine.test(first?.text ?? '');
  const after = parseOptions(call.args.slice(call.args.indexOf(first ?? call.self) + 1), archOptions);
  const argv = named ? after.operands : options.operands;
  const asks = options.has('list', 'show', 'pid', 'h', 'V', 'help', 'version');
  if (argv.length > 0) return [...unclearStart(call), { does: 'start', argv }];
  return asks ? [] : [{ does: 'unknown', at: call.self, reason: `${name} starts a shell` }];
}

const assignment = /^([A-Za-z_][A-Za-z0-9_]*)=/;

function envEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  const split = options.last('S', 'split-string');
  const inserted = split === undefined ? [] : splitWords(split);
  const words = [...inserted, ...options.operands].filter(
    (word, index) => !(index === 0 && word.text === '-'),
  );
  return [...unclearStart(call), ...startWithAssignments(words, options.last('C', 'chdir'))];
}

/** Leading words of the form `NAME=value` are variables; the rest is a program. */
export function startWithAssignments(words: readonly Arg[], cwd: Arg | undefined): Effect[] {
  const count = words.findIndex((word) => !assignment.test(prefixOf(word)));
  const variables = count < 0 ? words : words.slice(0, count);
  const env = variables.map((word): [string, Arg] => {
    const name = assignment.exec(prefixOf(word))?.[1] ?? '';
    return [name, withoutPrefix(word, name.length + 1)];
  });
  const argv = count < 0 ? [] : words.slice(count);
  return [{ does: 'start', argv, env, cwd }];
}

function sudoEffects(call: ProgramCall): Effect[] {
  const { options, self } = call;
  if (call.name === 'sudoedit' || options.has('e', 'edit')) {
    return [{ does: 'refuse', at: self, reason: 'sudo -e starts an editor' }];
  }
  if (options.has('l', 'list', 'v', 'validate', 'K', 'k', 'V', 'version', 'help')) return [];
  const run = startWithAssignments(options.operands, options.last('D', 'chdir'));
  return [...shellAsked(call), ...unclearStart(call), ...run];
}

function shellAsked({ options, self, name }: ProgramCall): Effect[] {
  const asked = options.has('s', 'i', 'shell', 'login') && options.operands.length === 0;
  return asked ? [{ does: 'unknown', at: self, reason: `${name} starts a shell` }] : [];
}

function xargsEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  const words = options.operands;
  if (words.length === 0) return unclearStart(call);
  const replace =
    options.values('I', 'replace', 'i')[0]?.text ?? (options.has('replace', 'i') ? '{}' : undefined);
  const slots = options
    .values('process-slot-var')
    .filter(({ text }) => text === undefined || mayChooseCode(text, true))
    .map(
      (at): Effect => ({
        does: 'refuse',
        at,
        rule: 'environment',
        reason: `xargs would set ${at.text ?? 'a variable'}`,
      }),
    );
  return [
    ...unclearStart(call),
    ...startsEndlessly(call, options.last('P', 'max-procs')),
    ...slots,
    ...batches(itemsOf(call)).map((items) => startWith(call, words, replace, items)),
  ];
}

function startWith(
  call: ProgramCall,
  words: readonly Arg[],
  replace: string | undefined,
  items: readonly Arg[],
): Effect {
  const argv =
    replace === undefined ? [...words, ...items] : words.flatMap((word) => replaced(word, replace, items));
  const listing = call.stdin !== 'none' && call.stdin.more && call.stdin.text !== '';
  return { does: 'start', argv: listing ? withRecursive(argv, call.self) : argv, stdin: 'none' };
}

/** Words that are judged together; others count as unknown. */
const maxItems = 512;
/** Different words that are also judged one by one. */
const maxSingle = 40;

/** `xargs` may pass the words in one call or in several. */
function batches(items: readonly Arg[]): (readonly Arg[])[] {
  const [first] = items;
  if (first === undefined || items.length < 2) return [items];
  const different = [...new Map(items.map((item) => [item.text ?? item, item])).values()];
  const rest = different.length > maxSingle ? [unknownArg(first, false)] : [];
  return [items, ...[...different.slice(0, maxSingle), ...rest].map((item) => [item])];
}

/** The words in a file that another program prints, as in `xargs -a <(echo x)`. */
function printedItems(file: Arg | undefined): Arg[] {
  const [piece] = file?.pieces ?? [];
  const text = typeof piece === 'object' ? piece.output : undefined;
  if (file === undefined || text === undefined) return [];
  return text
    .split(/[\s\0]+/)
    .filter((word) => word !== '')
    .map((word) => knownArg(word, file));
}

/** The words in a file that the same command has written, as in `find / > list; xargs -a list rm`. */
function writtenItems(call: ProgramCall, file: Arg | undefined): Arg[] {
  const written = file && writtenTo(call, file);
  const words = written?.text.split(/[\s\0]+/).filter((word) => word !== '') ?? [];
  return words.slice(0, maxItems).map((word) => listedItem(word, written?.more === true, call.self));
}

/** A word for the unknown rest of stdin. */
function restOf(stdin: ProgramCall['stdin'], self: Arg, atBlanks = true): Arg {
  if (stdin === 'none') return unknownArg(self);
  const { made, operand, outside } = stdin;
  const from = stdin.from?.includes(foreignText) === true ? foreignText : undefined;
  return toArg([{ ...unknown, from, made, operand: atBlanks && operand, outside }], self, true);
}

function isBlank(delimiter: Arg | undefined): boolean {
  return /^(?:\\[n0t]|\s)$/.test(delimiter?.text ?? '');
}

/** The words that `xargs` reads: the known ones, and an unknown one for the rest. */
function itemsOf(call: ProgramCall): Arg[] {
  const { stdin, options, self } = call;
  const rest = restOf(stdin, self, !options.has('d', 'delimiter') || isBlank(options.last('d', 'delimiter')));
  const file = options.last('a', 'arg-file');
  const readsFile = options.has('a', 'arg-file') && !/^(?:-|\/dev\/stdin|\/dev\/fd\/0)$/.test(wordText(file));
  if (readsFile) return [...printedItems(file), ...writtenItems(call, file), restOf(fileContents, self)];
  if (stdin === 'none') return [rest];
  const separator = options.has('0', 'null')
    ? /[\0\n]/
    : options.has('d', 'delimiter', 'I', 'i', 'replace')
      ? /\n/
      : /[\s\0]+/;
  const words = stdin.text
    .split(separator)
    .filter((word) => word !== '')
    .slice(0, maxItems + 1);
  return [
    ...words
      .slice(0, maxItems)
      .map((word) => listedItem(word.trim().replace(/^(['"])(.*)\1$/, '$2'), stdin.more, self)),
    ...(stdin.more || words.length > maxItems || /['"\\]/.test(stdin.text) ? [rest] : []),
  ];
}

function replaced(word: Arg, mark: string, items: readonly Arg[]): Arg[] {
  if (!word.pieces.some((piece) => typeof piece === 'string' && piece.includes(mark))) return [word];
  return items.map((item) => {
    const pieces = word.pieces.flatMap((piece) =>
      typeof piece === 'string'
        ? piece.split(mark).flatMap((part, index) => (index > 0 ? [...item.pieces, part] : [part]))
        : [piece],
    );
    return toArg(pieces, word, false);
  });
}
