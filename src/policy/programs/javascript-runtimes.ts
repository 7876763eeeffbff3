import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { prefixOf } from '../words/arg.ts';
import { unclearStart } from './effects.ts';
import { inlineCode, type Language } from './inline-code.ts';
import { javascript } from './interpreters.ts';
import { everyday } from './node-packages.ts';
import { optionValues, refused } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

const { flags: _flags, letters: _letters, ...plain } = javascript;

const withShell: Language = {
  ...plain,
  inline: { ...javascript.inline, letters: 'ep', takes: 'eprc' },
  spawns: [/jsr:|npm:|https?:\/\//],
};

/** `deno` and `bun`: subcommands, scripts and inline code. */
export const javascriptRuntimePrograms: readonly ProgramEntry[] = [
  {
    names: ['deno'],
    effects: denoEffects,
    runs: [
      'deno eval \'new Deno.Command("touch")\'',
      'deno eval -p \'new Deno.Command("touch")\'',
      'deno eval "$code"',
      'deno run https://example.com/x.ts',
      'deno run -A - <<< \'new Deno.Command("touch")\'',
      'deno run npm:cowsay',
      'deno repl',
      'deno',
      'deno x npm:cowsay',
      ["deno task --eval 'touch x'", 'touch'],
    ],
    harmless: [
      'deno run -A main.ts',
      'deno run --allow-read main.ts https://example.com',
      'deno task dev',
      'deno test',
      'deno fmt --check',
      "deno eval 'console.log(1)'",
      'deno --version',
      'deno lint src',
    ],
  },
  {
    names: ['bun'],
    effects: bunEffects,
    runs: [
      'bun -e \'Bun.spawn(["touch"])\'',
      "bun --eval 'await Bun.$`touch x`'",
      'bun -e \'import { $ } from "bun"; await $`touch x`\'',
      ['bun x touch y', 'touch'],
      ['bun x --bun touch@latest y', 'touch'],
      ["bun exec 'touch x'", 'touch'],
      'bun repl',
      ['bun run touch x', 'touch'],
      ['bun touch x', 'touch'],
      'bun --preload ./x.ts a.ts',
      ['bun create foo', 'create-foo'],
      'bun run - <<< \'Bun.spawn(["touch"])\'',
    ],
    harmless: [
      'bun run build',
      'bun install',
      'bun test',
      'bun index.ts',
      'bun add -d vitest',
      "bun -e 'console.log(1)'",
      'bun --version',
      'bun build ./a.ts --outdir out',
      'bun --hot server.ts',
    ],
  },
];

function denoEffects(call: ProgramCall): Effect[] {
  const [command, ...rest] = call.args;
  const word = command?.text ?? '';
  if (word === 'eval') return evaluated(call, rest);
  if (/^(?:repl|x)$/.test(word) || command === undefined)
    return [refused(call, 'would run code that it is given')];
  if (word === 'task') return optionValues(rest, /^--eval$/).map((text) => ({ does: 'shell', text }));
  if (!/^(?:run|serve|-.*)$/.test(word) && !/[./:]/.test(word)) return [];
  return source(call, /^(?:run|serve)$/.test(word) ? rest : call.args);
}

function evaluated(call: ProgramCall, args: ProgramCall['args']): Effect[] {
  const words = args.filter((arg) => !/^-./.test(prefixOf(arg)));
  return words
    .slice(0, 1)
    .flatMap((code) => inlineCode(withShell)({ ...call, name: 'node', args: [dashE(call), code] }));
}

function dashE(call: ProgramCall): ProgramCall['self'] {
  return { ...call.self, text: '-e', pieces: ['-e'] };
}

/** Judges the module to run: a file may run; a URL or stdin may not. */
function source(call: ProgramCall, args: ProgramCall['args']): Effect[] {
  if (args.some((arg) => /^(?:--version|-V|--help|-h)$/.test(arg.text ?? ''))) return [];
  const file = args.find((arg) => !/^-./.test(prefixOf(arg)));
  if (file !== undefined && /^(?:https?|npm|jsr|data|node):/.test(prefixOf(file)))
    return [refused(call, 'would run code from elsewhere', file)];
  return inlineCode(withShell)({ ...call, name: 'node', args: file === undefined ? [] : [file] });
}

function bunEffects(call: ProgramCall): Effect[] {
  const at = call.args.findIndex((arg) => !/^-./.test(prefixOf(arg)));
  const command = call.args[at];
  const rest = call.args.slice(at + 1);
  const inline = call.args
    .slice(0, at < 0 ? undefined : at)
    .some((arg) => /^(?:-[a-z]*[ep]|--eval|--print)(?:=|$)/.test(prefixOf(arg)));
  const word = inline ? '' : (command?.text ?? '');
  const loads = call.args
    .slice(0, at < 0 ? undefined : at + 1)
    .filter((arg) => /^(?:--(?:preload|require|import|config|env-file)|-[rc])(?:=|$)/.test(prefixOf(arg)))
    .map((arg) => refused(call, `${prefixOf(arg).split('=')[0] ?? ''} would load code`, arg));
  if (loads.length > 0) return loads;
  // Bun also runs programs of the PATH.
  const program = word === 'run' ? rest.find((arg) => !/^-./.test(prefixOf(arg))) : command;
  if (!inline && program !== undefined && everyday.has(program.text ?? ''))
    return [{ does: 'start', argv: call.args.slice(call.args.indexOf(program)) }];
  if (word === 'x') return packageEffects(call, rest, '');
  if (word === 'create' || word === 'c') return packageEffects(call, rest, 'create-');
  if (word === 'exec') return rest.slice(0, 1).map((text) => ({ does: 'shell', text }));
  if (word === 'repl') return [refused(call, 'would run code that it is given')];
  if (word === 'run') return source(call, rest);
  const own =
    /^(?:install|i|add|a|remove|rm|update|outdated|link|unlink|pm|build|test|upgrade|init|publish|patch|audit|why|info)$/;
  return own.test(word) ? [] : inlineCode(withShell)({ ...call, name: 'node' });
}

const packageOptions = { short: 'p:', long: 'bun silent verbose no-install package=', stop: true };

function packageEffects(call: ProgramCall, args: ProgramCall['args'], before: string): Effect[] {
  const options = parseOptions(args, packageOptions);
  const [first, ...rest] = options.operands;
  if (first === undefined) return [];
  const text = first.text === undefined ? undefined : before + first.text.replace(/(.)@.*$/, '$1');
  const program = text === undefined ? first : { ...first, text, pieces: [text] };
  return [...unclearStart({ ...call, options }), { does: 'start', argv: [program, ...rest] }];
}
