import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, patternOf, prefixOf, toArg, withoutPrefix, wordText } from '../words/arg.ts';
import { copyName } from './copy-name.ts';
import { allOf } from './effects.ts';
import { inlineCode, type Language } from './inline-code.ts';
import { startsPrograms } from './javascript-code.ts';
import { nodeFlags, nodeValued, nodeWrites } from './node-options.ts';
import { refused, writesBelow } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { plainPython } from './python-code.ts';

/** Python, also for tools that evaluate it. */
export const python: Language = {
  name: 'Python',
  inline: { letters: 'c', takes: 'cmWXQ' },
  words: ['--version', '--help', '--help-all', '--help-env', '--help-xoptions', '-V', '-VV', '-h', '-?'],
  flags: [],
  valued: ['check-hash-based-pycs'],
  letters: 'bBdEhiIOPqRsStuUvVx3?',
  interactive: ['-i', '-ic', '-qi'],
  endsOptions: 'cm',
  plain: plainPython,
  spawns: [
    /(?<!\bplatform)(?<!\bplatform\s)\.\s{0,9}(?:system|popen\w*|exec[lv]p?e?|spawn[lv]\w*|posix_spawnp?|fork|forkpty|startfile|set_executable)\b/,
    /\bfrom\s{1,9}os\s{1,9}import\b[^;]{0,200}\b(?:system|popen|exec[lv]\w{0,3}|spawn\w{0,5}|posix_spawnp?|fork\w{0,5})\b|\bfrom\s{1,9}os\s{1,9}import\s{0,9}\(?\s{0,9}\*/,
    /(?<![\w.])(?:_?subprocess|_posixsubprocess|popen2|pexpect|ctypes|cffi|runpy|webbrowser|antigravity|pty|posix|commands|sh|plumbum|fabric|invoke|cProfile|timeit)\b(?=\s{0,9}(?:[.,;\n)]|$|import|as\b))/,
    /\b(?:create_subprocess_\w+|__import__|import_module|__builtins__|__subclasses__|__globals__|__loader__|getattr|builtins|attrgetter|methodcaller|__getattribute__)\b/,
    /(?<![\w.])(?:eval|exec|compile|globals|vars|locals)\s{0,9}\(/,
    /\bimportlib\b(?!\s{0,9}\.\s{0,9}(?:metadata|resources))/,
    /\b(?:sys\.modules|pickle\.loads?|marshal\.loads?|code\.interact|breakpoint)\b/,
    /\bimport\s{1,9}os\s{1,9}as\b|=\s{0,9}os\s{0,9}(?:$|[;\n.])(?!path)/,
    /\bos\s{0,9}\.\s{0,9}__dict__|\.__class__/,
    /\.\s?spawn\s?\(|\b(?:IMAP4_stream|pipepager|tempfilepager|enable_load_extension|resolve_name|getmembers|get_field|dictConfig|bdb|pdb)\b/,
    /\bpipes\s?\.\s?Template\b|\bfrom pipes import\b|\bTrace\s?\(|[(,]\s?(?:system|popen|exec[lv]\w{0,2}|spawn\w{0,5})\s?=\s?[A-Za-z_]\w{0,40}\s?[,)]/,
  ],
};

/** How `node` accepts code; other JavaScript runtimes reuse this. */
export const javascript: Language = {
  name: 'JavaScript',
  inline: { letters: 'ep', takes: 'eprC', aliases: { '-pe': '-e' }, long: ['--eval', '--print'] },
  flags: nodeFlags,
  valued: nodeValued,
  writes: nodeWrites,
  letters: 'chipv',
  interactive: ['-i', '--interactive'],
  words: [
    '--version',
    '--help',
    '-v',
    '-h',
    '--v8-options',
    '--test',
    '--run',
    '--completion-bash',
    '--prof-process',
  ],
  codeOptions: [
    '--import',
    '--loader',
    '--experimental-loader',
    '--require',
    '--test-reporter',
    '--test-global-setup',
  ],
  spawns: [],
  judge: startsPrograms,
};

const perl: Language = {
  name: 'Perl',
  inline: { letters: 'eE', takes: 'eEIMmx', attached: 'iDF', digits: '0lC' },
  words: ['--version', '--help', '-v', '-V'],
  codeOptions: ['-M', '-m'],
  comment: /#[^\n]*/g,
  spawns: [
    /@ARGV\b[^;]{0,200}\|/,
    /`|\bqx\b|\breadpipe\b|\bfork\b|\bsyscall\b|\bIPC::|\bIO::|\bCORE::|\bExpect\b|\bDynaLoader\b|\bInline\b|\bdbmopen\b/,
    /\b(?:system|exec)\s{0,9}(?:[({"'$@+<\\&!~%-]|q[qwr]?\b|\w+\s{0,9}[("'])/,
    // Matches `open` unless it opens a file for reading, by name.
    /\bopen\b(?!\s{0,9}\(?\s{0,9}(?:my\s{1,9})?[\w$*]{1,40}\s{0,9},\s{0,9}(?:["']<(?::[\w()-]{1,30})?["']\s{0,9},|["']<?[\w ./~-]{1,200}["']\s{0,9}(?:\)|;|or\b|\|\|)))/,
    /\beval\s{0,9}(?!\{)\S|\bdo\s{1,9}["'$]|\brequire\s{1,9}["'$]|&\s{0,9}\{|&\s{0,9}\$|->\s{0,9}\$\w+\s{0,9}\(|->\s{0,9}can\b|\\&|\*\{/,
    /\buse\s{1,9}(?:POSIX|IPC|Inline|Socket|IO)\b/,
    /\bs(\W)(?:(?!\1).){0,200}\1(?:(?!\1).){0,200}\1[a-z]{0,9}ee/,
  ],
};

const ruby: Language = {
  name: 'Ruby',
  inline: { letters: 'e', takes: 'eIrCEKTWx', attached: 'iF', digits: '0l' },
  words: ['--version', '--help', '-v', '--copyright'],
  spawns: [
    /`|%x|\b(?:system|exec|spawn|syscall|fork)\b\s{0,9}(?:[({"'\s$@]|$)/,
    /\b(?:Open3|PTY|Process|Shellwords|Fiddle|DL|Kernel|ObjectSpace)\b|\bIO\s{0,9}\.\s{0,9}(?:popen|sysopen|read\w*|foreach|binread|write)\b|\bpopen\d?\b/,
    /\bopen\s{0,9}\(?\s{0,9}(?:["']\s{0,9}\||%)/,
    /\b(?:eval|instance_eval|class_eval|module_eval|send|public_send|__send__|method|const_get|binding|load|require_relative|to_proc)\b|:(?:system|exec|spawn)\b/,
  ],
};

const php: Language = {
  name: 'PHP',
  inline: {
    letters: 'rBRE',
    takes: 'rBREcdfgStTz',
    long: ['--run', '--process-begin', '--process-code', '--process-end'],
  },
  words: ['--version', '--help', '-v', '-h', '-i', '-m', '-S'],
  comment: /\/\*[\s\S]*?(?:\*\/|$)|(?:\/\/|#)[^\n]*/g,
  spawns: [
    /["']\s{0,9}\)?\s{0,9}\(/,
    /`|\b(?:system|exec|passthru|shell_exec|popen|proc_open|pcntl_\w+|dl|eval|assert|create_function|call_user_func\w*|mail|ini_set|putenv)\s*\(/i,
    /\$\w+\s*\(|\bFFI\b|\bReflection\w*|\b(?:include|require)(?:_once)?\b/i,
  ],
};

const lua: Language = {
  name: 'Lua',
  inline: { letters: 'e', takes: 'el' },
  words: ['-v'],
  comment: /--\[(=*)\[[\s\S]*?(?:\]\1\]|$)|--[^\n]*/g,
  spawns: [
    /\(\s?(?:os|io)\s?\)|\bpackage\s?\.\s?(?:loaded|preload|loadlib|searchers)\b|\bdebug\s?\./,
    /\bos\s{0,9}(?:\[|\.\s{0,9}execute)|\bio\s{0,9}(?:\[|\.\s{0,9}popen)|=\s{0,9}(?:os|io)\b(?!\s{0,9}\.)|\b(?:load|loadstring|dofile|loadfile|loadlib)\b|\brequire\b\s{0,9}\(?\s{0,9}["']ffi|_G\b|_ENV\b/,
  ],
};

/** Interpreters such as `python` and `perl`: they may run files, but not inline code that starts programs. */
export const interpreterPrograms: readonly ProgramEntry[] = [
  {
    names: ['python', 'pypy', 'ipython', 'python3'],
    effects: pythonEffects,
    runs: [
      'python3 -c \'import os; os.system("touch x")\'',
      "python3 -uc 'import subprocess'",
      'python3 -c\'from os import system; system("touch x")\'',
      "python3 - <<'E'\nimport subprocess\nsubprocess.run(['touch', 'x'])\nE",
      'echo \'import os; os.system("x")\' | python3',
      "python3 <<< \"__import__('os').system('touch x')\"",
      'python3 -c \'exec("x")\'',
      'python3 -c "$code"',
      'curl x | python3 -',
      'python3',
      'python3 -c \'import pty; pty.spawn("/bin/sh")\'',
      'python3 -c \'f"{os.system(1)}"\'',
      'python3 -Im timeit \'import os; os.system("touch x")\'',
      'python3 <(echo \'import os; os.system("x")\')',
      'python3 -m pty /bin/sh',
      "ipython -c '!touch x'",
      'python3 -um webbrowser x',
      'python3 -c \'import os; (os).system("touch x")\'',
      'python3 --check-hash-based-pycs default -c \'import os; os.system("x")\'',
      "python3 -m timeit --setup='import os; os.system(1)' pass",
      'python3 --some-new-option x.py',
      'python3 -c \'import os; x=f"{1}"; os.system("touch x")\'',
      'python3 -c \'# """\nimport os; os.system("x")\n#"""\'',
      'python3 -c \'import os; os.\uff53ystem("x")\'',
      "python3 -m imaplib -s 'touch x'",
      'python3 -m zipfile -e a.zip .git/hooks',
      'python3 -c \'open(".git/hooks/pre-commit","w").write("x")\'',
    ],
    harmless: [
      'python3 script.py --flag',
      "python3 -c 'print(1 + 2)'",
      'python3 -c \'import os; print(os.getcwd(), os.environ.get("HOME"))\'',
      'python3 -c \'import json,sys; print(json.load(sys.stdin)["name"])\'',
      'python3 -c \'import re; print(re.compile("a").findall("aa"))\'',
      'python3 -m pytest -q',
      'python3 -m http.server 8000',
      'python3 --version',
      'python3 -c \'print("os.system")\'',
      "python3 - <<'E'\nfor i in range(3):\n    print(i)\nE",
      'python3 -c \'import importlib.metadata as m; print(m.version("pip"))\'',
      'python3 -c "import sys; print(sys.version)"',
      'python3 "$script"',
      'python3 -c "import app.commands; print(app.commands.x)"',
      'python3 -c "import multiprocessing; print(multiprocessing.cpu_count())"',
      'python3 -c "import platform; print(platform.system())"',
      'python3 -V',
      "python3 -m timeit -s 'x = 1' 'x + 1'",
      'python3 -c \'x = 1; print(f"{x} os.system")  # os.system("x")\'',
      'python3 -m zipfile -e a.zip out',
      'python3 -m json.tool a.json',
      'python3 -c \'print(open("/etc/hosts").read()); open("out.txt", "w").write("x")\'',
    ],
  },
  {
    names: ['node', 'nodejs', 'tsx', 'ts-node'],
    effects: inlineCode(javascript),
    runs: [
      'node -e \'require("child_process").execSync("touch x")\'',
      'node --eval \'require("child_process")\'',
      'node --eval=\'require("child_process")\'',
      'node -pe \'process.binding("spawn_sync")\'',
      'node -e \'require("child_" + "process")\'',
      'node --input-type=module -e \'import { execSync } from "node:child_process"\'',
      'node <<< \'require("child_process")\'',
      'node -e "$code"',
      'node --import \'data:text/javascript,import("child_process")\' x.js',
      'node -e \'new Function("x")()\'',
      'node -e \'import("child_"+"process").then(m=>m.execSync("touch x"))\'',
      'node -e \'require("child\\x5fprocess")\'',
      'node -e \'(()=>{}).constructor("return process")()\'',
      'node -e \'[]["filter"]["constructor"]("x")()\'',
      'node -e \'process["mainModule"].require("x")\'',
      'node -e \'const r = require; r("child_process")\'',
      'node --disable-warning x -e \'require("child_process")\'',
      'node --some-new-option x.js',
      'node -i < x.js',
      'node -e \'if (1) {} /"/; require("child_process"); /"/\'',
      'node -e \'1<!--`\nrequire("child_process")//`\'',
      'node -e \'import("data:text/javascript,x")\'',
      'node -e \'const k = "const" + "ructor", c = f[k]; c("x")()\'',
      'node -e \'require("fs").writeFileSync(".git/hooks/pre-commit", "x")\'',
      "node --test --test-reporter='data:text/javascript,eval(1)'",
      'node --test-isolation none -e \'require("child_process")\'',
      'node',
    ],
    harmless: [
      'node server.js',
      "node -e 'console.log(1)'",
      "node -p 'process.versions.node'",
      'node -e \'const p = require("./package.json"); console.log(p.version)\'',
      'node --test tests/',
      'node --version',
      'node -r ./setup.js app.js',
      "node -e 'console.log(JSON.stringify({ a: [1] }))'",
      'node --max-old-space-size=4096 build.js',
      'node dist/cli.js -e prod',
      'node -e \'console.log("\\u2713")\'',
      "node -p 'x = []; x.constructor.name'",
      'node -e \'const fs = require("fs"); for (const f of fs.readdirSync(".")) console.log(f[0])\'',
      'node -e \'const {a, ...b} = JSON.parse(require("fs").readFileSync(0, "utf8")); console.log(b[a], 1 / 2)\'',
      'node --input-type=module -e \'import fs from "node:fs"; console.log(fs.existsSync("x"))\'',
      'node --watch-path ./src server.js',
      'node --test --test-reporter=spec',
      'node -e \'console.log((1 + 2) / 3, (4) / 5, "a/b")\'',
      "node -e 'class A { constructor(x) { this.x = x } }'",
      'node -e \'const x = { [name]: 1 }; console.log("a" + "b")\'',
    ],
  },
  {
    names: ['perl'],
    effects: allOf(inlineCode(perl), editedFiles),
    runs: [
      'perl -e \'system("touch x")\'',
      'perl -e \'exec "touch x"\'',
      "perl -ne 'print `touch x`' a",
      'perl -lane \'system "touch $F[0]"\' a',
      "perl -E 'qx(touch x)'",
      'perl -e \'open(F, "|touch x")\'',
      'perl -e \'open F, "touch x|"\'',
      'perl -M\'POSIX;system("touch")\' -e 1',
      'perl -e "$code"',
      "perl -i -pe 's/a/b/' ~/.bashrc",
      'perl -pi.bak -e 1 .git/hooks/pre-commit',
      'perl -pi -e \'s/a/system("touch x")/e\' a',
      'perl',
      'echo \'system("x")\' | perl',
      "perl -e 'open F, q(touch x|); <F>'",
      'perl -e \'system            ("touch x")\'',
      'perl -e \'system +"touch x"\'',
      'perl -e \'system#\n"touch x"\'',
      'perl -e \'@ARGV = ("touch x|"); print <>\'',
      ["perl -ne 1 'touch x |'", 'touch'],
    ],
    harmless: [
      "perl -ne 'print if /system/' a",
      "perl -pe 's/a/b/g' a",
      "perl -i.bak -pe 's/foo/bar/' a",
      'perl script.pl',
      'perl -v',
      "perl -MList::Util=sum -e 'print sum(1,2)'",
      "perl -lane 'print $F[1]' a",
      "perl -0777 -ne 'print length' a",
      'perl -c x.pl',
      'perl -e \'open(my $f, "<", "a.txt") or die; print while <$f>\'',
      'perl -e \'open(F, "a.txt") or die; print <F>\'',
    ],
  },
  {
    names: ['ruby'],
    effects: allOf(inlineCode(ruby), editedFiles),
    runs: [
      'ruby -e \'system("touch x")\'',
      "ruby -e '`touch x`'",
      'ruby -e \'exec "touch"\'',
      'ruby -ropen3 -e \'Open3.capture2("touch")\'',
      'ruby -e "$x"',
      'ruby -e \'IO.popen("touch")\'',
      'ruby',
      "ruby -ne 'puts %x(touch)'",
    ],
    harmless: [
      'ruby script.rb',
      "ruby -e 'puts 1 + 1'",
      'ruby -v',
      'ruby -rjson -e \'puts JSON.parse(STDIN.read)["a"]\'',
      "ruby -ne 'puts $_ if /x/' a",
      'ruby -c x.rb',
    ],
  },
  {
    names: ['php'],
    effects: inlineCode(php),
    runs: [
      'php -r \'system("touch x");\'',
      "php -r 'echo `touch x`;'",
      'php -r "$x"',
      'php -r \'$f="sys"."tem"; $f("touch");\'',
      'php -r \'system/**/("touch x");\'',
      'php -r \'"system"("touch x");\'',
      'php',
    ],
    harmless: ['php script.php', "php -r 'echo 1+1;'", 'php -v', 'php -l x.php', 'php -S localhost:8000'],
  },
  {
    names: ['lua', 'luajit', 'texlua'],
    effects: inlineCode(lua),
    runs: [
      'lua -e \'os.execute("touch x")\'',
      'lua -e \'io.popen("touch")\'',
      'lua -e \'os--[[]].execute("touch")\'',
      'lua -e \'(os).execute("touch")\'',
      'lua -e "$x"',
      'lua',
    ],
    harmless: ['lua script.lua', "lua -e 'print(1)'", 'lua -v'],
  },
];

/** The effects of calling Python, also by tools that pass their words on to it. */
export function pythonEffects(call: ProgramCall): Effect[] {
  return [...inlineCode(python)(call), ...spawningModule(call), ...shellLines(call)];
}

/** IPython runs lines that begin with `!` in a shell, and those with `%` as commands of its own. */
function shellLines(call: ProgramCall): Effect[] {
  if (call.name !== 'ipython') return [];
  const typed = call.stdin === 'none' ? [] : [knownArg(call.stdin.text, call.self)];
  return [...call.args, ...typed]
    .filter(({ text }) => /^(?:-c=?)?\s*[!%]|\n[ \t]*[!%]|=\s*!/.test(text ?? ''))
    .map((at) => refused(call, 'would run a line in a shell', at));
}

/** Judges `python -m MODULE`: modules that start programs, evaluate their arguments or run another module. */
function spawningModule(call: ProgramCall): Effect[] {
  const { args, self } = call;
  const at = moduleOption(args);
  if (at < 0) return [];
  const attached = /^-[a-zA-Z]*?m(.+)$/.exec(wordText(args[at]))?.[1];
  const module = attached ?? wordText(args[at + 1]);
  const rest = args.slice(attached === undefined ? at + 2 : at + 1);
  const refuse = (reason: string): Effect[] => [
    { does: 'refuse', at: args[at] ?? self, reason: `${call.name} -m ${module} ${reason}` },
  ];
  if (spawning.test(module)) return refuse('starts programs or runs code that it is given');
  if (module === 'pydoc' && rest.some((arg) => /^-[a-z]*b/.test(wordText(arg))))
    return refuse('-b starts a browser');
  if (module === 'http.server' && rest.some((arg) => arg.text === '--cgi'))
    return refuse('--cgi runs programs');
  const written = writtenByModule(module, rest);
  if (/^(?:pip|virtualenv)$/.test(module)) return [...moduleOptions(rest, refuse), ...written];
  if (written.length > 0) return [...written, ...(wrapping.test(module) ? innerModule(call, rest) : [])];
  if (runners.test(module))
    return rest.some((arg) => /^(?:run|exec|x|shell|e)$/.test(wordText(arg)))
      ? refuse('starts a program; name it directly')
      : [];
  return wrapping.test(module) ? innerModule(call, rest) : [];
}

/** The index of `-m` among the options of the interpreter, or -1. */
function moduleOption(args: readonly Arg[]): number {
  const end = args.findIndex(
    (arg, index) =>
      !prefixOf(arg).startsWith('-') &&
      !/^(?:-[a-zA-Z]*[WX]|--check-hash-based-pycs)$/.test(wordText(args[index - 1])),
  );
  const at = args.findIndex((arg) => /^-[a-zA-Z]*m/.test(prefixOf(arg)));
  return end >= 0 && end < at ? -1 : at;
}

/** `-m cProfile -m MODULE` runs the second module. */
function innerModule({ self }: ProgramCall, rest: readonly Arg[]): Effect[] {
  const inner = rest.findIndex((arg) => /^-[cm]$|^--(?:module|command)$/.test(wordText(arg)));
  const option = rest[inner];
  if (option === undefined) return [];
  const flag = knownArg(/^--?m/.test(wordText(option)) ? '-m' : '-c', option);
  return [{ does: 'start', argv: [self, flag, ...rest.slice(inner + 1)] }];
}

/** Files that modules of the standard library write. */
function writtenByModule(module: string, rest: readonly Arg[]): Effect[] {
  const operands = rest.filter((arg) => !prefixOf(arg).startsWith('-'));
  const after = (option: RegExp): Arg[] => rest.filter((_, at) => option.test(wordText(rest[at - 1])));
  if (module === 'pip')
    return [...after(pipFolder), ...rest.flatMap((arg) => valueIn(arg, pipFolder))].flatMap(writesBelow);
  if (/^(?:zipfile|tarfile)$/.test(module) && rest.some((arg) => /^-(?:e|-extract)$/.test(wordText(arg))))
    return operands.slice(1).flatMap(writesBelow);
  if (writesOperands.test(module)) return operands.map((path) => ({ does: 'write', path }));
  if (writesSecond.test(module)) return operands.slice(1).map((path) => ({ does: 'write', path }));
  if (module === 'trace')
    return [
      ...after(/^-(?:[fC]|-file|-coverdir)$/),
      ...rest.flatMap((arg) => valueIn(arg, traceFile)),
    ].flatMap(writesBelow);
  if (/^(?:cProfile|profile|zipapp)$/.test(module))
    return after(/^-(?:o|-outfile|-output)$/).map((path) => ({ does: 'write', path }));
  return [];
}

/** Modules that may write each of their operands. */
const writesOperands = /^(?:zipfile|tarfile|gzip|sqlite3|lib2to3|virtualenv|venv|sphinx|black|isort)$/;

/** Modules that read their first operand and write the second one. */
const writesSecond = /^(?:json\.tool|uu)$/;

const pipFolder = /^(?:-[tdw]|--(?:target|dest|wheel-dir|root|prefix|src|log|report))$/;

const traceFile = /^--(?:file|coverdir)$/;

/** The value in `--target=FOLDER`. */
function valueIn(arg: Arg, option: RegExp): readonly Arg[] {
  const [name = ''] = prefixOf(arg).split('=');
  return option.test(name) && name !== arg.text ? [withoutPrefix(arg, name.length + 1)] : [];
}

const spawning =
  /^(?:pty|webbrowser|code|codeop|asyncio|imaplib|mailcap|idlelib(?:\..*)?|antigravity|turtledemo(?:\..*)?|runpy|IPython(?:\..*)?|bpython|ptpython|xonsh|ansible(?:\..*)?|fabric|invoke|jupyter_console|qtconsole)$/;
const runners = /^(?:pipx|poetry|pipenv|uv|hatch|pdm|rye|tox|nox|conda|briefcase)$/;
/** Modules that run the module or code after their own options. */
const wrapping =
  /^(?:cProfile|profile|trace|pdb|coverage|debugpy|memory_profiler|line_profiler|kernprof|viztracer|scalene|pyinstrument)$/;

function moduleOptions(rest: readonly Arg[], refuse: (reason: string) => Effect[]): Effect[] {
  const words = rest.map(wordText);
  if (words[0] === 'config' && words.some((word) => word === 'edit' || word.startsWith('--editor')))
    return refuse('config edit starts an editor');
  const chosen = words.findIndex((word) => /^--py[a-z]*(?:=|$)|^-p$/.test(word));
  const value = chosen < 0 ? '' : (/=(.*)$/.exec(words[chosen] ?? '')?.[1] ?? words[chosen + 1] ?? '/');
  return /[/]/.test(value) || words.some((word) => /^--edi/.test(word))
    ? refuse('would start another Python')
    : [];
}

/** `perl -i` and `ruby -i` write the files that they read, which are relative to the folder of `ruby -C`. */
function editedFiles({ name, args }: ProgramCall): Effect[] {
  // `ruby -run -e cp a b` copies files.
  const copies = name === 'ruby' && args.some(({ text }) => text === '-run');
  if (!copies && !args.some((arg) => /^-[a-zA-Z0-9]*i/.test(prefixOf(arg)))) return [];
  const files = args.filter((arg, index) => {
    const before = wordText(args[index - 1]);
    return !prefixOf(arg).startsWith('-') && !/^-(?:[a-zA-Z0-9.]*[eE]|[CX])$/.test(before);
  });
  const folders = name === 'ruby' ? args.flatMap(foldersOf) : [];
  return [...files, ...copiesOf(files, args)].map((file): Effect => {
    const isBelow = folders.length > 0 && file.text?.startsWith('/') !== true;
    if (!isBelow) return { does: 'write', path: file };
    const pieces = [...folders, file].flatMap(({ pieces }, at) => (at === 0 ? pieces : ['/', ...pieces]));
    return { does: 'write', path: toArg(pieces, file) };
  });
}

/** The copies that `-i SUFFIX` keeps: `-i.bak`, or `-i'old/*'` in another folder. */
function copiesOf(files: readonly Arg[], args: readonly Arg[]): readonly Arg[] {
  const suffixes = args.flatMap((arg) => {
    const suffix = /^-[a-zA-Z0-9]*?i([^-\s]+)$/.exec(arg.text ?? patternOf(arg) ?? '')?.[1];
    return suffix === undefined ? [] : [suffix];
  });
  return files.flatMap((file) =>
    suffixes.map((suffix) => knownArg(copyName(file.text ?? 'file', suffix), file)),
  );
}

/** The folder in `-C FOLDER`, `-CFOLDER` and `-X FOLDER`. */
function foldersOf(arg: Arg, at: number, args: readonly Arg[]): readonly Arg[] {
  const letters = /^-[a-zA-Z0-9]*?[CX]/.exec(prefixOf(arg))?.[0];
  if (letters === undefined) return [];
  const next = args[at + 1];
  if (arg.text !== letters) return [withoutPrefix(arg, letters.length)];
  return next === undefined ? [] : [next];
}
