import type { ProgramCall } from '../options/program-call.ts';
import { knownArg, prefixOf, wordText } from '../words/arg.ts';
import { joinWords } from './effects.ts';
import { codeEffects } from './inline-code.ts';
import { python } from './interpreters.ts';
import { optionValues, refused } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Command lines of frameworks, which evaluate code or start programs with some subcommands. */
export const frameworkTools: readonly ProgramEntry[] = [
  {
    names: ['flask'],
    effects: (call) =>
      call.stdin !== 'none' && call.stdin.text !== '' && call.args.some(({ text }) => text === 'shell')
        ? codeEffects(python, knownArg(call.stdin.text, call.self), call)
        : call.args.some(({ text }) => text === 'shell')
          ? [refused(call, 'shell would run code that it reads')]
          : [],
    runs: ["flask shell <<< 'import os; os.system(1)'", 'flask --app a shell'],
    harmless: ['flask run --debug', 'flask --app a routes', 'flask db upgrade'],
  },
  {
    names: ['rails', 'jupyter', 'dune', 'virtualenv', 'idle', 'json_pp', 'salt', 'salt-call'],
    effects: (call) => effectsOf[call.name]?.(call) ?? [],
    runs: [
      "rails runner 'system(1)'",
      'rails console',
      'jupyter console',
      'jupyter some-plugin',
      ['dune exec touch x', 'touch'],
      'virtualenv -p ./x env',
      'virtualenv --python=./x env',
      "idle -c 'import os; os.system(1)'",
      "echo 'system(1)' | json_pp -f eval",
      "salt '*' cmd.run 'touch x'",
    ],
    harmless: [
      'rails db:migrate',
      'rails generate model A',
      'jupyter notebook',
      'jupyter nbconvert a.ipynb',
      'dune build',
      'dune exec ./bin/main.exe',
      'virtualenv -p python3.11 env',
      'json_pp -f json',
      "salt '*' test.ping",
    ],
  },
];

const effectsOf: Readonly<Record<string, (call: ProgramCall) => Effect[]>> = {
  rails: railsEffects,
  jupyter: jupyterEffects,
  dune: duneEffects,
  virtualenv: (call) =>
    optionValues(call.args, /^(?:-p|--p[a-z]*)$/)
      .filter(({ text }) => /[/]/.test(text ?? '/'))
      .map((at) => refused(call, 'would start the Python at a path', at)),
  idle: (call) => optionValues(call.args, /^-c$/).flatMap((code) => codeEffects(python, code, call)),
  json_pp: (call) =>
    optionValues(call.args, /^--?[ft][a-z]*$/)
      .filter(({ text }) => !/^(?:json|dumper|null|yaml)$/.test(text ?? ''))
      .map((at) => refused(call, `would evaluate its input as ${wordText(at)}`, at)),
  salt: saltEffects,
  'salt-call': saltEffects,
};

function railsEffects(call: ProgramCall): Effect[] {
  const [verb, ...rest] = call.args;
  const word = wordText(verb);
  if (/^(?:c|console|db|dbconsole)$/.test(word))
    return [refused(call, `${word} would run code that it reads`)];
  const code = /^(?:r|runner)$/.test(word) ? rest.find((arg) => !prefixOf(arg).startsWith('-')) : undefined;
  return code === undefined || /^[\w./-]+\.rb$/.test(wordText(code))
    ? []
    : [refused(call, 'runner would evaluate code', code)];
}

const jupyterVerbs =
  /^(?:-|(?:lab|labextension|notebook|server|nbconvert|nbextension|serverextension|kernelspec|kernel|run|trust|execute|migrate|troubleshoot|bundlerextension|nbclassic|book|events|dejavu)$)/;

/** `jupyter x` runs the program `jupyter-x`. */
function jupyterEffects(call: ProgramCall): Effect[] {
  const [verb] = call.args;
  return verb === undefined || jupyterVerbs.test(wordText(verb))
    ? []
    : [refused(call, `${wordText(verb)} is not a subcommand that is known to be harmless`, verb)];
}

/** `dune exec` runs a target of the project, or a program of the PATH. */
function duneEffects(call: ProgramCall): Effect[] {
  if (wordText(call.args[0]) !== 'exec') return [];
  const argv = call.args.slice(1).filter((arg) => !prefixOf(arg).startsWith('-'));
  const isTarget = prefixOf(argv[0] ?? call.self).includes('/');
  return isTarget || argv.length === 0 ? [] : [{ does: 'start', argv }];
}

/** Salt runs the words after `cmd.run` on other machines with a shell. */
function saltEffects(call: ProgramCall): Effect[] {
  const at = call.args.findIndex(({ text }) => /^cmd\./.test(text ?? ''));
  return at < 0 ? [] : [{ does: 'shell', text: joinWords(call.args.slice(at + 1), call.self) }];
}
