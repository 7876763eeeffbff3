import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf } from '../words/arg.ts';
import { shellOptions, startsAfter, startsOperands, unclearStart } from './effects.ts';
import { optionValues, refused, refusedSub, type Sub, subcommands } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { startWithAssignments } from './wrappers.ts';

/** Programs that run another one in a project's or language's environment: `poetry run`, `bundle exec`, `uvx` … */
export const envRunnerPrograms: readonly ProgramEntry[] = [
  {
    names: ['direnv', 'asdf', 'rbenv', 'pyenv', 'nodenv', 'goenv', 'jenv', 'volta', 'fnm', 'nvm', 'rustup'],
    options: { short: 'qv', long: 'version help log-level= quiet verbose', stop: true },
    effects: (call) =>
      subcommands({
        exec: {
          options: { long: 'using= using-file', stop: true },
          effects: startsAfter(/^(?:direnv|nvm)$/.test(call.name) ? 1 : 0),
        },
        run: {
          options: { short: '', long: 'node= npm= yarn= pnpm= bundled-npm no-yarn install', stop: true },
          effects: call.name === 'rustup' ? startsAfter(1) : call.name === 'nvm' ? () => [] : startsOperands,
        },
        edit: refusedSub('starts an editor'),
      })(call),
    runs: [
      ['direnv exec . touch x', 'touch'],
      ['asdf exec touch x', 'touch'],
      ['rbenv exec touch x', 'touch'],
      ['pyenv exec touch x', 'touch'],
      ['volta run --node 20 touch x', 'touch'],
      ['fnm exec --using=20 touch x', 'touch'],
      ['nvm exec 20 touch x', 'touch'],
      ['rustup run nightly touch x', 'touch'],
      'direnv edit',
    ],
    harmless: [
      'direnv status',
      'asdf install',
      'pyenv versions',
      'rustup update',
      'nvm use 20',
      'nvm run 20 app.js',
      'rbenv global 3.2',
      ['pyenv exec ls', 'ls'],
    ],
  },
  {
    names: ['mise', 'rtx'],
    options: {
      short: 'C:qyvP:E:',
      long: 'cd= quiet yes verbose version help profile= env= log-level=',
      stop: true,
    },
    effects: subcommands({
      'exec x': { options: { short: 'c:j:C:', long: 'command= jobs= cd= raw' }, effects: miseEffects },
    }),
    runs: [
      ['mise exec node@20 -- touch x', 'touch'],
      ['mise x -- touch x', 'touch'],
      ["mise x -c 'touch x'", 'touch'],
    ],
    harmless: ['mise install', 'mise run build', ['mise x node@20 -- ls', 'ls']],
  },
  {
    names: ['nix-shell', 'nix'],
    options: {
      short: 'p:I:A:E:k:i:Qvj:c:L',
      long: 'run= command= packages= pure attr= expr= keep= arg= argstr= option= extra-experimental-features= impure file= help version',
    },
    effects: nixEffects,
    runs: [
      ["nix-shell -p hello --run 'touch x'", 'touch'],
      ["nix-shell --command 'touch x'", 'touch'],
      ['nix develop -c touch x', 'touch'],
      ['nix shell nixpkgs#hello --command touch x', 'touch'],
      'nix-shell -p hello',
      'nix run nixpkgs#hello',
    ],
    harmless: ['nix build', 'nix flake check', ["nix-shell --run 'ls'", 'ls'], ['nix develop -c ls', 'ls']],
  },
  {
    names: [
      'conda',
      'mamba',
      'micromamba',
      'poetry',
      'pipenv',
      'pdm',
      'rye',
      'hatch',
      'pixi',
      'pipx',
      'bundle',
      'bundler',
      'foreman',
      'honcho',
      'overmind',
      'heroku',
      'sops',
      'chamber',
      'aws-vault',
      'op',
      'doppler',
      'infisical',
      'lerna',
      'nx',
    ],
    options: {
      short: 'C:P:p:e:vqhn',
      long: 'directory= project= project-dir= env= python= no-interaction quiet verbose version help ansi no-ansi',
      stop: true,
    },
    effects: runnerCommands,
    runs: [
      ['conda run -n env touch x', 'touch'],
      ['poetry run touch x', 'touch'],
      ['poetry -C dir run touch x', 'touch'],
      ['pipenv run touch x', 'touch'],
      ['pdm run touch x', 'touch'],
      ['hatch run touch x', 'touch'],
      ['pipx run touch x', 'touch'],
      ['bundle exec touch x', 'touch'],
      ['lerna exec -- touch x', 'touch'],
      ['aws-vault exec prod -- touch x', 'touch'],
      ['doppler run -- touch x', 'touch'],
      ["doppler run --command='touch x'", 'touch'],
      ["sops exec-env f 'touch x'", 'touch'],
      ['op run -- touch x', 'touch'],
      'poetry shell',
      'pipenv shell',
      'pipenv --python ./x install',
      'pdm use ./x',
      'bundle exec $x',
      'poetry env use ./python',
      'poetry env use "$x"',
      'pipx install --python ./x black',
      'pipx reinstall --python=/tmp/x black',
    ],
    harmless: [
      'poetry install',
      'poetry env use 3.12',
      'poetry env use python3.11',
      'pipx install --python 3.12 black',
      'heroku shell',
      'conda install numpy',
      'bundle install',
      'pipenv lock',
      'nx run app:build',
      'lerna run test',
      ['poetry run pytest -q', 'pytest'],
      ['bundle exec rspec', 'rspec'],
      ['conda run -n e python x.py', 'python'],
      'pipx install black',
    ],
  },
  {
    names: ['uv', 'uvx'],
    options: {
      short: 'qvnC:',
      long: 'quiet verbose directory= project= config-file= no-config offline no-progress color= cache-dir= help version',
      stop: true,
    },
    effects: uvEffects,
    runs: [
      ['uv run touch x', 'touch'],
      ['uv run --with requests -p 3.12 -- touch x', 'touch'],
      ['uvx touch x', 'touch'],
      ['uv tool run touch x', 'touch'],
      "uv run - <<< 'import os'",
      'uv run python -c "import os"',
      ['uvx --from black touch', 'touch'],
      'uv run --python ./x a.py',
      'uv venv --python ./x',
      "uv run -m timeit 'import os'",
      'uv --config-file x run a.py',
      'uv export -o .envrc',
      'uv pip compile -o .git/hooks/x r.in',
    ],
    harmless: [
      'uv sync',
      'uv pip install x',
      'uv run script.py',
      'uv run -m pytest',
      ['uv run pytest -q', 'pytest'],
      ['uvx ruff@latest check', 'ruff'],
      'uv tool install ruff',
      'uv run',
    ],
  },
  {
    names: ['cross-env', 'dotenv', 'dotenvx', 'env-cmd'],
    options: {
      short: 'e:f:p:c::o:v:r:xq',
      long: 'file= environments= env= env-file= override overload fallback no-override expand-envs use-shell verbose silent quiet recursive list= print version help',
      stop: true,
    },
    effects: (call) => {
      const [first, ...rest] = call.options.operands;
      const words = /^(?:run|--)$/.test(first?.text ?? '') ? rest : call.options.operands;
      const start = words[0]?.text === '--' ? words.slice(1) : words;
      if (/^(?:get|set|list|unset|encrypt|decrypt|ls)$/.test(first?.text ?? '')) return [];
      return [...unclearStart(call), ...startWithAssignments(start, undefined)];
    },
    runs: [
      ['cross-env A=1 touch x', 'touch'],
      ['dotenv -e .env -- touch x', 'touch'],
      ['dotenv -f .env run touch x', 'touch'],
      ['dotenvx run -- touch x', 'touch'],
      ['env-cmd -f .env touch x', 'touch'],
      'cross-env LD_PRELOAD=./x ls',
    ],
    harmless: ['dotenv list', ['cross-env NODE_ENV=test ls', 'ls']],
  },
];

function runnerCommands(call: ProgramCall): readonly Effect[] {
  const after = (count: number): Sub => ({
    options: { short: 'n:p:vqf:e:j:c:E:d:', long: runLongs, stop: true },
    effects: (inner) => [...shellOptions('command')(inner), ...startsPast(inner, count)],
  });
  const python =
    call.name === 'pipenv' || call.name === 'pdm' ? optionValues(call.args, /^(?:-p|--python)$/) : [];
  return [...chosenPython(call, python), ...runnerSubcommands(call, after)];
}

function runnerSubcommands(call: ProgramCall, after: (count: number) => Sub): readonly Effect[] {
  return subcommands({
    run: /^(?:lerna|nx|overmind|heroku)$/.test(call.name) ? { effects: () => [] } : after(0),
    exec: after(/^(?:chamber|aws-vault)$/.test(call.name) ? 1 : 0),
    'exec-env exec-file': {
      options: { long: 'no-fifo user= filename=' },
      effects: ({ options }) => options.operands.slice(1).map((text) => ({ does: 'shell', text })),
    },
    use: { effects: (inner) => (call.name === 'pdm' ? chosenPython(inner, inner.args) : []) },
    env: { effects: (inner) => (call.name === 'poetry' ? chosenPython(inner, inner.args.slice(1)) : []) },
    'install install-all reinstall reinstall-all upgrade':
      call.name === 'pipx'
        ? {
            options: { long: 'python=' },
            effects: (inner) => chosenPython(inner, inner.options.values('python')),
          }
        : { effects: () => [] },
    shell:
      call.name === 'pixi' || call.name === 'hatch' || call.name === 'poetry' || call.name === 'pipenv'
        ? refusedSub('starts a shell')
        : { effects: () => [] },
  })(call);
}

/** Refuses an interpreter that is named by its path; a version chooses one of those that are installed. */
function chosenPython(call: ProgramCall, words: readonly Arg[]): Effect[] {
  return words
    .filter((arg) => !pythonVersion.test(arg.text ?? '/') && !/^-/.test(prefixOf(arg)))
    .map((at) => refused(call, 'would start the Python at a path', at));
}

const pythonVersion = /^(?:system|(?:cpython|pypy|python)?@?(?:\d[\d.]*)?)$/;

const runLongs =
  'name= prefix= no-capture-output live-stream cwd= verbose dev debug-wrapper-scripts spec= python= pip-args= no-cache path quiet gemfile= keep-file-descriptors env= project= config= command= env-file= no-masking scope= ignore= parallel stream concurrency= no-bail since= include-dependents include-dependencies pristine strict duration= region= no-session backend= environment= manifest-path= frozen locked site-packages skip list json ';

function startsPast(call: ProgramCall, count: number): Effect[] {
  const rest = call.options.operands.slice(count);
  const argv = rest[0]?.text === '--' ? rest.slice(1) : rest;
  return [...unclearStart(call), ...(argv.length === 0 ? [] : [{ does: 'start', argv } as const])];
}

function miseEffects(call: ProgramCall): Effect[] {
  const { options, args } = call;
  const mark = args.findIndex((arg) => arg.text === '--');
  const texts = options.values('c', 'command').map((text): Effect => ({ does: 'shell', text }));
  return [...texts, ...(mark < 0 ? [] : [{ does: 'start', argv: args.slice(mark + 1) } as const])];
}

function nixEffects(call: ProgramCall): Effect[] {
  const { options, args, name } = call;
  if (options.has('help', 'version')) return [];
  if (name === 'nix-shell') {
    const texts = options.values('run', 'command');
    return texts.length === 0
      ? [refused(call, 'starts a shell')]
      : texts.map((text) => ({ does: 'shell', text }));
  }
  const mark = args.findIndex((arg) => /^(?:-c|--command)$/.test(arg.text ?? ''));
  if (mark >= 0) return [{ does: 'start', argv: args.slice(mark + 1) }];
  const [word] = options.operands;
  const package_ = options.operands[1];
  if (word?.text === 'develop' || word?.text === 'shell') return [refused(call, 'starts a shell')];
  return word?.text === 'run' ? [refused(call, 'runs a package', package_)] : [];
}

const uvRun = {
  short: 'p:m:s:w:qvnC:i:P:U',
  long: 'with= with-editable= with-requirements= python= module script gui-script extra= all-extras no-extra= group= no-group= only-group= all-groups dev no-dev only-dev env-file= no-env-file isolated active no-sync locked frozen project= directory= package= all-packages no-project no-config config-file= refresh index= default-index= index-url= extra-index-url= find-links= quiet verbose offline no-progress exact from= no-editable reinstall upgrade prerelease= resolution= python-preference= managed-python native-tls cache-dir= no-cache help version',
  stop: true,
};

function uvEffects(call: ProgramCall): readonly Effect[] {
  const chosen = call.args
    .filter((arg, index) => {
      if (/^--config-f/.test(prefixOf(arg))) return true;
      const value = /^(?:-p|--python)$/.test(call.args[index - 1]?.text ?? '')
        ? arg.text
        : /^--python=(.*)$/.exec(arg.text ?? '')?.[1];
      return value !== undefined && /[/]/.test(value);
    })
    .map((at) => refused(call, 'would start another Python, or read other settings', at));
  const modules = call.args
    .filter((arg, index) => call.args[index - 1]?.text === '-m' && evaluatingModules.test(arg.text ?? ''))
    .map((at) => refused(call, `-m ${at.text ?? ''} runs code that it is given`, at));
  if (chosen.length + modules.length > 0) return [...chosen, ...modules];
  const written = outputsOf(call);
  if (written.length > 0) return written;
  if (call.name === 'uvx') return packageStart({ ...call, options: parseOptions(call.args, uvRun) });
  return subcommands({
    run: { options: uvRun, effects: uvRunEffects },
    tool: {
      options: { stop: true },
      effects: subcommands({ run: { options: uvRun, effects: packageStart } }),
    },
    x: { options: uvRun, effects: packageStart },
  })(call);
}

/** Files that `uv export` and `uv pip compile` write. */
function outputsOf({ args }: ProgramCall): Effect[] {
  const writes = args[0]?.text === 'export' || args[1]?.text === 'compile' || args[1]?.text === 'freeze';
  return writes ? optionValues(args, /^(?:-o|--output-file)$/).map((path) => ({ does: 'write', path })) : [];
}

/** Python modules that evaluate their arguments or stdin. */
const evaluatingModules =
  /^(?:timeit|pdb|code|asyncio|pty|IPython|bpython|ptpython|webbrowser|idlelib.*|runpy|cProfile|profile|trace)$/;

/** `uv run script.py` runs Python; any other operand is a program. */
function uvRunEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  const [first] = options.operands;
  const script = options.has('m', 's', 'module', 'script', 'gui-script') || /\.pyw?$/.test(first?.text ?? '');
  const pythons = chosenPython(call, options.values('p', 'python'));
  if (pythons.length > 0) return pythons;
  if (first === undefined) return [];
  if (first.text === '-' || first.text === '/dev/stdin')
    return [{ does: 'start', argv: [knownArg('python', first), ...options.operands] }];
  return script ? [] : startsOperands(call);
}

/** `uvx ruff@latest check` runs the program `ruff`. */
function packageStart(call: ProgramCall): Effect[] {
  const [first, ...rest] = call.options.operands;
  if (first === undefined || call.options.has('help', 'version')) return [];
  return [...unclearStart(call), { does: 'start', argv: [withoutVersion(first), ...rest] }];
}

/** Strips the version from a package name: `ruff@latest`, `ruff==0.4`. */
export function withoutVersion(word: Arg): Arg {
  const at = prefixOf(word).indexOf('@', 1);
  return word.text !== undefined && at > 0 ? knownArg(word.text.slice(0, at), word) : word;
}
