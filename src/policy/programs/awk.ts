import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, foreignText, knownArg, mayBecomeCode, toArg, unknown, wordText } from '../words/arg.ts';
import { awkActions, startsForever } from './awk-script.ts';
import { unknownOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { scriptIn } from './script-file.ts';

/** `awk`, `gawk` and `mawk`: scripts that start commands or write files. */
export const awkPrograms: readonly ProgramEntry[] = [
  {
    names: ['awk', 'gawk', 'mawk', 'nawk', 'original-awk'],
    closed: [],
    options: {
      short: 'F:v:f:e:E:i:l:W:bcCd::D::ghIkL::MnNo::Op::PrsStV',
      long: 'field-separator= assign= file= source= exec= include= load= characters-as-bytes traditional csv debug[=] dump-variables[=] gen-pot help lint[=] bignum use-lc-numeric non-decimal-data optimize no-optimize posix pretty-print[=] profile[=] re-interval sandbox trace copyright version',
      stop: true,
    },
    effects: awkEffects,
    runs: [
      ['awk \'BEGIN { system("touch x") }\'', 'touch'],
      'awk \'{ system("touch " $1) }\' a',
      "awk '{ system($0) }' a",
      ['awk \'{ print | "touch x" }\' a', 'touch'],
      ['awk \'BEGIN { "touch x" | getline y }\'', 'touch'],
      ['awk \'{ print |& "touch x" }\' a', 'touch'],
      'awk \'{ print > "out" }\' a',
      "awk '{ print $1 >> $2 }' a",
      'awk \'{ printf "%s", $1 > "out" }\' a',
      'awk \'{ cmd = "touch x"; cmd | getline }\' a',
      'awk -F, -v x=1 \'BEGIN{system("touch")}\'',
      'awk -f - <<< "BEGIN { system(1) }"',
      'awk -f /dev/fd/3',
      "awk -f <(echo 'BEGIN { system(1) }')",
      'cat x | awk -f /dev/stdin',
      "gawk -l ./x.so 'BEGIN{}'",
      'gawk \'@load "x"; BEGIN{}\'',
      'gawk \'BEGIN { f = "sys" "tem"; @f("touch") }\'',
      'awk "$prog" a',
      'for f in src/*; do n=$(basename "$f"); awk "/$n/" a; done',
      'awk --source \'BEGIN{system("touch")}\'',
      "gawk -o out 'BEGIN{}'",
      'awk \'BEGIN{getline / system("touch x") / 1}\'',
      'awk \'BEGIN { if (1) /"/ ; system("touch x") # "\n}\'',
      'awk \'/[/]/ { system("touch x") } #]/\'',
      'awk \'{ print $1,\n$2 > "out" }\' a',
      "gawk -W source='BEGIN{system(1)}'",
      'gawk -D -f x.awk',
      "gawk -i inplace '{print}' ~/.bashrc",
      "awk --new-option '{print}' a",
      'awk \'{ x = 1 / 2; "touch y" | getline }\' a',
    ],
    harmless: [
      "awk '{print $1}' a",
      "awk -F: '$3 > 100 { print $1 }' /etc/passwd",
      "awk 'length($0) > 80' a",
      "awk '{ print ($1 > 2) }' a",
      'awk \'/system\\(/ { print "a > b | c" }\' a',
      "awk 'NR==1 || NR==2 { x[$1]++ } END { for (k in x) print k, x[k] }' a",
      'awk -v n="$n" \'{ print > "/dev/stderr" }\' a',
      'awk "{print \\$$n}" a',
      'awk \'BEGIN { while ((getline line < "f") > 0) n++; print n / 2 }\'',
      'awk -f prog.awk a',
      "awk '{ if ($1 > 5) print; else if ($2 / 3 > 1) print $2 }' a",
      'awk \'# system("x")\n{ print }\' a',
      "awk '{\n  print $1\n  big = $2 > 3\n}' a",
      "awk '{ s += $1 / 2 } END { if (s > 1) print s / NR }' a",
      "awk '/[a-z]/ && $2 > 3 || NR > 1' a",
      'awk \'{ printf "%s|%s\\n", $1, $2 }\' a',
      "awk -F'|' '{print $2}' a",
      'awk \'BEGIN { while ((getline x < "f") > 0) n++ }\'',
      "awk 'function f(a) {\n  return a > 1 ? a : 2\n}\n{ print f($1) }' a",
      "gawk -i inplace '{print}' notes.txt",
    ],
  },
];

const loading = ['l', 'load', 'o', 'pretty-print', 'p', 'profile', 'd', 'dump-variables', 'D', 'debug'];

function awkEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  const loads = options.given
    .filter((option) => loading.includes(option.name) || (option.name === 'W' && !isPlain(option.value)))
    .map(
      (option): Effect => ({
        does: 'refuse',
        at: option.at,
        reason: `${call.name} ${wordText(option.at)} loads code or writes a file`,
      }),
    );
  const sources = options.values('e', 'source');
  const files = options.values('f', 'file', 'E', 'exec', 'i', 'include');
  const programs =
    sources.length > 0 || options.has('f', 'file', 'E', 'exec') ? sources : options.operands.slice(0, 1);
  const refused = [...unknownOptions(call), ...loads, ...inPlace(call, files)];
  if (options.has('S', 'sandbox', 'V', 'version', 'help')) return refused;
  return [
    ...refused,
    ...files.flatMap((file) => fileEffects(call, file)),
    ...programs.flatMap((program) => programEffects(call, program)),
  ];
}

/** `-W` takes long options, of which some load code. */
function isPlain(value: Arg | undefined): boolean {
  return /^(?:version|help|usage|posix|traditional|lint|re-interval|interactive)$/.test(wordText(value));
}

/** `gawk -i inplace` writes its files. */
function inPlace({ options }: ProgramCall, files: readonly Arg[]): Effect[] {
  return files.some(({ text }) => /^inplace(?:\.awk)?$/.test(text ?? ''))
    ? options.operands.map((path) => ({ does: 'write', path }))
    : [];
}

function fileEffects(call: ProgramCall, file: Arg): Effect[] {
  const script = scriptIn(call, file);
  if (script === 'file') return [];
  return script === 'unknown'
    ? [{ does: 'unknown', at: file, reason: `${call.name} would run what it reads` }]
    : programEffects(call, script);
}

/** The name of a file, and other text from outside, can end a string of the program and begin other code. */
function hasForeignText({ pieces }: Arg): boolean {
  return pieces.some(
    (piece) =>
      typeof piece === 'object' &&
      piece.outside !== true &&
      (piece.hole === 'glob' || piece.from?.includes(foreignText) === true),
  );
}

function programEffects({ name }: ProgramCall, program: Arg): Effect[] {
  const holes = program.pieces.filter((piece) => typeof piece !== 'string').length;
  const isText = program.pieces.some((piece) => typeof piece === 'string' && piece.trim() !== '');
  if (holes > 0 && (!isText || mayBecomeCode(program) || hasForeignText(program))) {
    const reason = `the program for ${name} cannot be known; pass file names and other text with -v`;
    return [{ does: 'unknown', at: program, reason }];
  }
  const text = program.pieces.map((piece) => (typeof piece === 'string' ? piece : '1')).join('');
  const bomb: Effect[] = startsForever(text)
    ? [{ does: 'danger', at: program, rule: 'fork_bomb', reason: endless }]
    : [];
  const effects = awkActions(text).flatMap((action): Effect[] => {
    if (action.kind === 'refuse')
      return [{ does: 'refuse', at: program, reason: `${name} would ${action.text}` }];
    if (action.kind === 'write') {
      return [
        { does: 'refuse', at: program, rule: 'writes', reason: `${name} would write a file` },
        ...(action.text === '' ? [] : [{ does: 'write', path: knownArg(action.text, program) } as const]),
      ];
    }
    return [
      {
        does: 'shell',
        text: action.whole ? knownArg(action.text, program) : toArg([action.text, unknown], program),
      },
    ];
  });
  return [...effects, ...bomb];
}

const endless = 'it starts programs without end and waits for none (a fork bomb)';
