import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg } from '../words/arg.ts';
import { codeEffects, type Language } from './inline-code.ts';
import { stdinText } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

interface Script extends Language {
  /** Options whose value is code, such as `-e` or `--eval`; the value may follow after `=`. */
  readonly code: RegExp;
  /** Other options that take a value. */
  readonly taking?: RegExp;
}

const script = (
  name: string,
  code: RegExp,
  spawns: readonly RegExp[],
  more: Partial<Script> = {},
): Script => ({ name, code, spawns, words: [], inline: { letters: '', takes: '' }, ...more });

const tcl = script(
  'Tcl',
  /^-c$/,
  [/\b(?:exec|spawn|system|fork|source|load|eval|uplevel|interp|subst)\b|\bopen\s{0,9}["{]?\s{0,9}\|/],
  { taking: /^-f$/ },
);
const r = script(
  'R',
  /^(?:-e|--expression)$/,
  [
    /\b(?:system2?|shell|shell\.exec|pipe|eval|parse|source|dyn\.load|processx|sys::exec\w*|do\.call|get|match\.fun|callr|Sys\.setenv)\b\s*\(|\b(?:processx|callr|sys)::/,
  ],
  { taking: /^(?:-f|--file|-g|--gui)$/ },
);
const julia = script(
  'Julia',
  /^-[a-zA-Z]*[eE]$|^--(?:eval|print)$/,
  [/`|\b(?:run|pipeline|open|ccall|eval|include|Base\.run|Cmd|@cmd)\b\s*\(|@ccall/],
  { taking: /^-[pLJtC]$|^--project$/ },
);
const groovy = script(
  'Groovy',
  /^-[a-z]*e$/,
  [/\.\s*execute\b|ProcessBuilder|Runtime|\bevaluate\b|GroovyShell|`|\bEval\b|Class\.forName/],
  { taking: /^-cp$|^--classpath$/ },
);
const apple = script(
  'AppleScript',
  /^-e$/,
  [
    /do\s+shell\s+script|\bObjC\b|do\s+script|run\s+script|doShellScript|tell\s+app\w*\s+"(?:Terminal|iTerm)/i,
  ],
  { taking: /^-l$/ },
);
const beam = script(
  'Erlang',
  /^(?:-e|--eval|-eval|--rpc-eval)$/,
  [
    /\b(?:os\s*:\s*cmd|open_port|erl_eval|apply)\b|System\.(?:cmd|shell)|:os\.cmd|Port\.open|Code\.eval|\bapply\b|:erlang\b/,
  ],
  { taking: /^(?:-r|-S|-pa|-pz|-s|-run|-name|-sname)$/ },
);
const lisp = script(
  'Lisp',
  /^(?:-e|-c|-x|--eval|--expr|--evaluate|-E|eval)$/,
  [
    /\b(?:system\*?|run-program|run-shell-command|shell|process\*?|primitive-fork|execl?p?|open-pipe\*?|open-input-pipe|sh|eval|load|require|alien-funcall|dynamic-wind|subprocess|ProcessBuilder|dynamic-require|popen)\b/,
  ],
  { taking: /^(?:-l|-L|--load|-s|-Sdeps|-A\S*|-M\S*)$/ },
);
const haskell = script(
  'Haskell',
  /^-e$/,
  [
    /System\.(?:Process|Cmd|Posix)|\b(?:system|rawSystem|callCommand|callProcess|readProcess|unsafePerformIO|:!)\b|:!|createProcess/,
  ],
  {},
);
const matlab = script(
  'Octave',
  /^(?:--eval|-r|-batch|--exec)$/,
  [
    /\b(?:system|shell_cmd|unix|dos|popen2?|exec|eval|evalc|feval|source|run|fork|mex|perl|python|spawn)\b|^[ \t]{0,40}!/m,
  ],
  {},
);
const other = script(
  'inline',
  /^(?:-e|--eval|eval|-c|-Command|--command|--execute)$/,
  [/\b(?:system|exec\w*|spawn|popen|Process|shell|fork|eval|run|Command|osproc|sh)\b|`|child_process/i],
  {},
);
const mongo = script(
  'JavaScript',
  /^--eval$/,
  [
    /child_process|\brequire\b|\brunProgram|\brun\s*\(|\brunNonMongoProgram|\bload\s*\(|\beval\b|Function\s*\(|\bimport\b|process\s*\.|\.constructor/,
  ],
  { taking: /^(?:--host|--port|-u|-p|--username|--password|-f|--file|--authenticationDatabase)$/ },
);

/** More interpreters, such as `lua` and `Rscript`: they may run files, but not inline code that starts programs. */
export const scriptingPrograms: readonly ProgramEntry[] = [
  entry(
    tcl,
    ['tclsh', 'expect', 'wish', 'jimsh'],
    [
      "expect -c 'spawn touch x'",
      "tclsh <<< 'exec touch x'",
      "echo 'exec touch x' | tclsh",
      'tclsh',
      'expect <<E\nspawn touch x\nE',
      'expect -c "$x"',
    ],
    ['tclsh a.tcl', 'expect a.exp', "expect -c 'puts hi'", "tclsh <<< 'puts 1'"],
  ),
  entry(
    r,
    ['R', 'Rscript', 'littler'],
    [
      'Rscript -e \'system("touch x")\'',
      'R -e \'system2("touch")\'',
      'R --no-save <<< \'system("touch x")\'',
      'R',
      'Rscript -e "$x"',
    ],
    [
      'Rscript a.R',
      "Rscript -e 'cat(1+1)'",
      "R --slave -e 'print(1)'",
      'R --version',
      'Rscript -e \'install.packages("x")\'',
      'R CMD build .',
      'R -f a.R',
    ],
  ),
  entry(
    julia,
    ['julia'],
    ["julia -e 'run(`touch x`)'", 'julia', "julia --eval='run(x)'", 'julia -E "$x"'],
    ['julia a.jl', "julia -e 'println(1)'", 'julia --version', 'julia --project=. a.jl', 'julia -t 4 a.jl'],
  ),
  entry(
    groovy,
    ['groovy', 'groovysh'],
    ['groovy -e \'"touch x".execute()\'', 'groovy -e "$x"'],
    ['groovy a.groovy', "groovy -e 'println 1'"],
  ),
  entry(
    apple,
    ['osascript'],
    [
      'osascript -e \'do shell script "touch x"\'',
      'osascript -e "$x"',
      'osascript',
      'osascript -e \'tell app "Terminal" to do script "x"\'',
    ],
    ['osascript a.scpt', 'osascript -e \'display notification "hi"\''],
  ),
  entry(
    beam,
    ['elixir', 'iex', 'erl'],
    [
      'elixir -e \'System.cmd("touch", ["x"])\'',
      'erl -noshell -eval \'os:cmd("touch x").\'',
      'iex',
      'elixir -e "$x"',
    ],
    [
      'elixir a.exs',
      "elixir -e 'IO.puts 1'",
      'erl -noshell -eval \'io:format("1"), halt().\'',
      'elixir --version',
    ],
  ),
  entry(
    lisp,
    ['guile', 'racket', 'sbcl', 'clisp', 'clojure', 'clj', 'bb', 'csi', 'chez', 'janet'],
    [
      'guile -c \'(system "touch x")\'',
      'racket -e \'(system "touch x")\'',
      'sbcl --eval \'(run-program "touch" nil)\'',
      'guile',
      'bb -e \'(shell "touch x")\'',
      'sbcl',
    ],
    [
      'guile a.scm',
      "guile -c '(display 1)'",
      'racket a.rkt',
      "bb -e '(+ 1 2)'",
      'sbcl --script a.lisp',
      'sbcl --version',
    ],
  ),
  entry(
    haskell,
    ['ghc', 'runghc', 'ghci', 'runhaskell'],
    ['ghc -e \'System.Process.system "touch x"\'', "ghci <<< ':!touch x'", 'ghci'],
    ['ghc -O2 a.hs', "ghc -e '1 + 1'", 'runghc a.hs', 'ghc --version'],
  ),
  entry(
    matlab,
    ['octave', 'octave-cli', 'matlab'],
    [
      'octave --eval \'system("touch x")\'',
      'matlab -batch \'system("touch x")\'',
      'octave',
      'octave --eval "$x"',
    ],
    ['octave a.m', "octave --eval 'disp(1)'", 'octave --version'],
  ),
  entry(
    other,
    [
      'crystal',
      'nim',
      'nimble',
      'ocaml',
      'utop',
      'swift',
      'dart',
      'raku',
      'zx',
      'wolframscript',
      'csharp',
      'dotnet-script',
      'factor',
      'gforth',
    ],
    [
      'crystal eval \'system("touch x")\'',
      'raku -e \'shell("touch x")\'',
      'wolframscript -c \'Run["x"]\'',
      'ocaml',
      'raku -e "$x"',
    ],
    [
      'crystal build a.cr',
      "raku -e 'say 1'",
      'ocaml a.ml',
      'swift build',
      'dart test',
      'nim c a.nim',
      'zx a.mjs',
    ],
  ),
  entry(
    mongo,
    ['mongosh', 'mongo'],
    [
      'mongosh --eval \'require("child_process")\'',
      'mongo --eval \'runProgram("touch")\'',
      'mongosh --eval "$x"',
      'mongosh <<< \'load("x")\'',
    ],
    [
      "mongosh --eval 'db.stats()'",
      'mongosh mongodb://host/db',
      'mongosh db a.js',
      "mongosh --quiet --eval 'db.users.find()' mydb",
    ],
  ),
];

function entry(
  language: Script,
  names: readonly string[],
  runs: readonly string[],
  harmless: readonly string[],
): ProgramEntry {
  return { names, effects: (call) => scriptEffects(call, language), runs, harmless };
}

function scriptEffects(call: ProgramCall, language: Script): Effect[] {
  const { codes, file } = read(call.args, language);
  const effects = codes.flatMap((code) => codeEffects(language, code, call));
  const asks = call.args.some((arg) => /^(?:--?version|--?help|-v|-V|-h)$/.test(arg.text ?? ''));
  if (asks || codes.length > 0) return effects;
  const typed = stdinText(call);
  const reads = file === undefined || /^(?:-|\/dev\/stdin)$/.test(file.text ?? '') || fromProgram(file);
  if (!reads) return effects;
  const known: Effect[] = typed === '' ? [] : codeEffects(language, knownArg(typed, call.self), call);
  const unclear = call.stdin !== 'none' && call.stdin.more;
  return unclear || (file !== undefined && fromProgram(file))
    ? [
        ...known,
        { does: 'unknown', at: call.self, reason: `the code that ${call.name} would run cannot be known` },
      ]
    : known;
}

function fromProgram({ pieces: [first] }: Arg): boolean {
  return typeof first === 'object' && first.hole === 'process';
}

function read(args: readonly Arg[], { code, taking }: Script): { codes: Arg[]; file: Arg | undefined } {
  const codes: Arg[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at];
    const word = arg?.text ?? '';
    const [name = '', ...value] = word.split('=');
    const next = args[at + 1];
    if (arg === undefined) break;
    if (code.test(word) && next !== undefined) {
      codes.push(next);
      at++;
    } else if (value.length > 0 && code.test(name)) codes.push(knownArg(value.join('='), arg));
    else if (taking?.test(word)) {
      if (/^(?:-f|--file|-l|--load|--script)$/.test(word)) return { codes, file: next };
      at++;
    } else if (!/^-./.test(word)) return { codes, file: arg };
  }
  return { codes, file: undefined };
}
