import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, prefixOf } from '../words/arg.ts';
import { refused } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { scriptIn } from './script-file.ts';

/**
 * Interpreters whose code is not read at all: they may run files, because a listed interpreter may; inline code and code from
 * stdin are refused.
 */
export const moreInterpreterPrograms: readonly ProgramEntry[] = [
  interpreter('irb pry jruby truffleruby rbx mruby', /^-[a-zA-Z]*[er]|^--(?:eval|require|exec)/),
  interpreter('erb haml slimrb', /^-[a-zA-Z]*r|^--require/),
  interpreter(
    'jython bpython ptpython micropython hy pythonw python-dbg circuitpython',
    /^-[a-zA-Z]*[cmi]|^--command/,
  ),
  interpreter(
    'qjs js d8 gjs cjs mujs njs duk hermes rhino coffee lsc babel-node vite-node esno sucrase-node',
    /^-[a-zA-Z]*[ecrp]|^--(?:eval|require|print|include|exec)/,
  ),
  interpreter(
    'swipl prolog gprolog yap xsb',
    /^-[a-zA-Z]*[gtsfcxl]|^--(?:init-goal|entry-goal|query-goal|goal)/,
  ),
  interpreter(
    'ecl ccl ccl64 abcl gcl clasp newlisp pil scheme48 mit-scheme gosh chibi-scheme bigloo scm stklos',
    /^-{1,2}(?:e|l|eval|load|exec)/,
  ),
  interpreter(
    'escript lfe poly sml mosml hugs coqtop agda idris idris2 lean',
    /^-{1,2}(?:e|l|eval|exec|use)/,
  ),
  interpreter(
    'maxima gp gap sage scilab scilab-cli calc yacas asy apl ijconsole bqn nickle giac',
    /^-{1,2}(?:[cerp]|eval|batch-string|run-string|init|preload)/,
  ),
  interpreter(
    'rdmd yaegi rust-script evcxr jbang kscript bsh fsharpi fennel moon pike io yabasic bwbasic rexx regina gst',
    /^-{1,2}(?:[ec]|eval|expr|loop|code|exec|run)/,
  ),
  interpreter(
    'jrunscript jdb plackup php-cgi phpdbg psysh lilypond',
    /^-{1,2}(?:[efdMr]|eval|launch|init|J)/,
  ),
  interpreter(
    'wine wine64 mono wasmtime wasmer wasm3 lli qemu-x86_64 qemu-aarch64 box64 box86 dosbox',
    /^-{1,2}(?:c|e|load|force-interpreter|invoke|wrapper|extra-module)/,
  ),
  interpreter('execlineb', /^-[a-zA-Z]*c/),
  interpreter('scheme fsi larceny petite', /^-{1,2}(?:e|l|eval|load|exec|script|R|p)/),
  interpreter(
    'mysqlsh beeline hive pig spark-sql spark-shell sqlcmd sqlplus clickhouse clickhouse-client clickhouse-local trino',
    /^-{1,2}(?:[ex]|execute|file|py|js|init)/,
  ),
  interpreter('pdb pdb3 ipdb pudb', /^-[a-zA-Z]*[cm]|^--command/),
  interpreter('radare2 r2 rizin', /^-[a-zA-Z]*[ciIrRq]/),
];

/** Declares interpreters by the options whose value is code. */
function interpreter(names: string, code: RegExp): ProgramEntry {
  const [first = '', ...others] = names.split(' ');
  const option = ['-e', '-c', '-g', '-r', '--eval'].find((word) => code.test(word)) ?? '-e';
  return {
    names: [first, ...others],
    effects: (call) => judge(call, code),
    runs: [`${first} ${option} 'touch x'`, `${first} <<< 'touch x'`, `ls | ${first}`, `${first} <(echo x)`],
    harmless: [`${first} --version`, `${first} file.x`],
  };
}

function judge(call: ProgramCall, code: RegExp): Effect[] {
  if (call.args.length === 1 && /^--?(?:version|help|[hVv])$/.test(call.args[0]?.text ?? '')) return [];
  const file = call.args.findIndex((arg) => !prefixOf(arg).startsWith('-') || arg.text === '-');
  const options = file < 0 ? call.args : call.args.slice(0, file);
  const inline = options.find((arg) => arg.text === undefined || code.test(arg.text));
  if (inline !== undefined) return [refused(call, `${shown(inline)} would run code`, inline)];
  const script = call.args[file];
  if (script === undefined) return [refused(call, 'would run the code that it reads')];
  return scriptIn(call, script) === 'file'
    ? []
    : [refused(call, 'would run code that is not a file', script)];
}

function shown({ text }: Arg): string {
  return text ?? 'with an unknown option';
}
