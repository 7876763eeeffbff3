import type { OptionGrammar } from '../options/grammar.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { knownArg, prefixOf, wordText } from '../words/arg.ts';
import { codeEffects } from './inline-code.ts';
import { python, pythonEffects } from './interpreters.ts';
import { type Effects, refused, writeOptions, writesBelow } from './option-effects.ts';
import type { Effect, Example, ProgramEntry } from './program.ts';

/**
 * Linters, test runners and bundlers of the development presets. They run the project's own code, so the kernel cannot restrict
 * them; an option that starts a program, evaluates its value or chooses a file to write is judged nevertheless.
 */
export const developmentTools: readonly ProgramEntry[] = [
  tool(
    'pytest py.test',
    {
      short: 'p:o:c:k:m:n:',
      long: 'junitxml= junit-xml= log-file= report-log= json-report-file= html= basetemp= pdbcls= override-ini= debug[=]',
    },
    {
      writes: ['junitxml', 'junit-xml', 'log-file', 'report-log', 'json-report-file', 'html', 'debug'],
      folders: ['basetemp'],
      judge: (call) => [
        ...valuesExcept(call, ['pdbcls'], /^IPython\.terminal\.debugger:(?:Terminal)?Pdb$/),
        ...valuesExcept(call, ['o', 'override-ini'], /^(?!addopts=.*(?:-p|-o|-c|pdbcls))/s),
      ],
    },
    ['--pdbcls=os:system', '--junitxml=.git/hooks/x', '--basetemp .git/hooks', "-o addopts='--pdbcls=a:b'"],
    [
      '-q tests -k "not slow"',
      '--junitxml=report.xml',
      '-o addopts=""',
      '-p no:cacheprovider',
      '-x --tb=short',
    ],
  ),
  tool(
    'coverage',
    { short: 'o:d:m', long: 'output-file= directory= rcfile= data-file=' },
    {
      writes: ['o', 'data-file'],
      folders: ['d', 'directory'],
      judge: (call) => moduleCode(call),
    },
    [
      'html -d .git/hooks',
      'xml -o .envrc',
      "run -m timeit 'import os; os.system(1)'",
      "run -m pdb -c 'import os' a.py",
    ],
    ['run -m pytest -q', 'report -m', 'html -d htmlcov', 'run --source=src a.py', 'xml -o coverage.xml'],
  ),
  tool(
    'mypy dmypy',
    {
      long: 'python-executable= junit-xml= html-report= txt-report= xml-report= any-exprs-report= cobertura-xml-report= linecount-report= linecoverage-report= lineprecision-report= cache-dir= timing-stats= line-checking-stats=',
    },
    {
      writes: ['junit-xml', 'timing-stats', 'line-checking-stats'],
      folders:
        'html-report txt-report xml-report any-exprs-report cobertura-xml-report linecount-report linecoverage-report lineprecision-report cache-dir'.split(
          ' ',
        ),
      judge: (call) => valuesExcept(call, ['python-executable'], python3),
    },
    ['--python-executable=./x a.py', '--python-exec ./x a', '--html-report .git/hooks a'],
    ['--strict src', '--python-executable .venv/bin/python src', '--html-report out src'],
  ),
  tool(
    'pyright basedpyright',
    { short: 'p:', long: 'pythonpath= project= typeshedpath= venvpath= writebaseline' },
    { judge: (call) => valuesExcept(call, ['pythonpath'], python3) },
    ['--pythonpath ./x', '--pythonpath=/tmp/x'],
    ['src', '--outputjson', '--pythonpath .venv/bin/python'],
  ),
  tool(
    'pylint',
    { short: 'f:E', long: 'init-hook= output= load-plugins= output-format=' },
    {
      writes: ['output'],
      judge: (call) => [
        ...call.options.values('init-hook').flatMap((code) => codeEffects(python, code, call)),
        ...call.options.values('output-format', 'f').flatMap((format) =>
          (format.text ?? '')
            .split(/[,:]/)
            .filter((part) => /[./]/.test(part))
            .map((path): Effect => ({ does: 'write', path: knownArg(path, format) })),
        ),
      ],
    },
    ["--init-hook='import os; os.system(1)' a.py", '--output=.envrc a', '--output-format=text:.envrc a'],
    ['src --disable=C0114', '--init-hook=\'import sys; sys.path.append(".")\' a.py', '--output=lint.txt a'],
  ),
  tool(
    'ruff flake8 bandit stylelint eslint oxlint gotestsum pre-commit golangci-lint stylua vulture',
    {
      short: 'o:',
      long: 'output-file= output= junitfile= jsonfile= jsonfile-timing-events= post-run-command= raw-command output.json.path= output.text.path= output.sarif.path=',
    },
    {
      writes:
        'o output-file output junitfile jsonfile jsonfile-timing-events output.json.path output.text.path output.sarif.path'.split(
          ' ',
        ),
      judge: commandsOfTools,
    },
    ['check -o .git/hooks/x', '--output-file=.envrc'],
    ['.', 'check --fix .', '--output-file=report.txt .'],
  ),
  tool(
    'jest vitest mocha playwright vite webpack next esbuild tsc swc rolldown tsup parcel microbundle',
    {
      short: 'o:d:',
      long: 'outputFile= coverageDirectory= cacheDirectory= coverage.reportsDirectory= output= output-path= output-file= outDir= outFile= out-dir= outdir= outfile= metafile= declarationDir= tsBuildInfoFile= generateTrace= generateCpuProfile= profile= reporter-option= dist-dir=',
    },
    {
      writes:
        'outputFile outFile outfile output-file metafile tsBuildInfoFile generateCpuProfile profile o'.split(
          ' ',
        ),
      folders:
        'coverageDirectory cacheDirectory coverage.reportsDirectory output output-path outDir out-dir outdir declarationDir generateTrace dist-dir d'.split(
          ' ',
        ),
    },
    ['--outDir .git/hooks', '--outDir=.vscode', '--outputFile=.envrc'],
    ['run --coverage', '--outDir dist', '--outputFile=out.json', '-o out'],
  ),
  tool(
    'rollup',
    {
      short: 'p:o:d:c::f:i:e:n:g:',
      long: 'plugin= file= dir= watch.onStart= watch.onBundleStart= watch.onBundleEnd= watch.onEnd= watch.onError= configPlugin=',
    },
    {
      writes: ['o', 'file'],
      folders: ['d', 'dir'],
      judge: (call) => [
        ...call.options
          .values('p', 'plugin', 'configPlugin')
          .filter(({ text }) => !/^[\w@./-]+$/.test(text ?? ''))
          .map((at) => refused(call, 'would run the code of a plugin', at)),
        ...call.options
          .values('watch.onStart', 'watch.onBundleStart', 'watch.onBundleEnd', 'watch.onEnd', 'watch.onError')
          .map((text): Effect => ({ does: 'shell', text })),
      ],
    },
    [
      "-p '{buildStart() {}}' a.js",
      "-w --watch.onEnd 'touch x'",
      '-o .git/hooks/x a.js',
      '--dir .vscode a.js',
    ],
    ['-c', '-c rollup.config.js', 'a.js -p @rollup/plugin-json -o dist/a.js'],
  ),
];

const python3 = /^(?:(?:\.\/)?\.?venv\/bin\/|\/usr\/(?:local\/)?bin\/)?(?:python|pypy)[\d.]*$/;

/** Options of a tool that write a file, write below a folder, or need another judgement. */
interface ToolOptions {
  readonly writes?: readonly string[];
  readonly folders?: readonly string[];
  readonly judge?: Effects;
}

function tool(
  names: string,
  grammar: OptionGrammar,
  { writes = [], folders = [], judge = () => [] }: ToolOptions,
  hostile: readonly string[],
  harmless: readonly string[],
): ProgramEntry {
  const [first = '', ...others] = names.split(' ');
  const example = (words: string): Example => `${first} ${words}`;
  return {
    names: [first, ...others],
    options: grammar,
    effects: (call) => [
      ...writeOptions(...writes)(call),
      ...call.options.values(...folders).flatMap(writesBelow),
      ...judge(call),
    ],
    runs: hostile.map(example),
    harmless: harmless.map(example),
  };
}

/** `coverage run -m MODULE` runs a module as Python does. */
function moduleCode(call: ProgramCall): Effect[] {
  const run = call.args.findIndex(({ text }) => text === 'run');
  const own = call.args.slice(run + 1);
  const start = own.findIndex((arg) => /^(?:-m|[^-].*)$/.test(prefixOf(arg)));
  if (run < 0 || start < 0) return [];
  return pythonEffects({ ...call, self: knownArg('python3', call.self), args: own.slice(start) });
}

/** Commands that the options of gotestsum and pre-commit name. */
function commandsOfTools(call: ProgramCall): Effect[] {
  const { name, options, args } = call;
  if (name === 'pre-commit') {
    const [verb, folder] = options.operands;
    if (wordText(verb) === 'try-repo')
      return [refused(call, 'try-repo would run hooks of another repository')];
    return wordText(verb) === 'init-templatedir' && folder !== undefined ? writesBelow(folder) : [];
  }
  if (name !== 'gotestsum') return [];
  const mark = args.findIndex(({ text }) => text === '--');
  const rest = mark < 0 ? [] : args.slice(mark + 1);
  return [
    ...options.values('post-run-command').map((text): Effect => ({ does: 'shell', text })),
    ...(options.has('raw-command')
      ? [{ does: 'start', argv: rest } as const]
      : [
          { does: 'start', argv: [knownArg('go', call.self), knownArg('test', call.self), ...rest] } as const,
        ]),
  ];
}

/** Refuses these options unless their value is known to be harmless. */
function valuesExcept(call: ProgramCall, names: readonly string[], harmless: RegExp): Effect[] {
  return call.options
    .values(...names)
    .filter(({ text }) => text === undefined || !harmless.test(text))
    .map((at) => refused(call, `would start or load ${wordText(at)}`, at));
}
