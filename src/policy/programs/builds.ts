import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, withoutPrefix } from '../words/arg.ts';
import { codeVariable } from '../words/environment.ts';
import { refuseOptions, startsOperands } from './effects.ts';
import { optionValues, refused, startOptions, stdinText, subcommands } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { startsItselfTwice, startsTwice } from './self-starting.ts';

/** Build tools such as `make` and `cmake`: they may run the project's files, but not code in their arguments. */
export const buildPrograms: readonly ProgramEntry[] = [
  {
    names: ['make', 'gmake', 'bmake', 'pmake', 'remake'],
    options: {
      short: 'bBC:def:hiI:j::kl::no:pqrRsStvwW:E:O::',
      long: 'always-make directory= debug[=] environment-overrides eval= file= makefile= help ignore-errors include-dir= jobs[=] keep-going load-average[=] check-symlink-times just-print dry-run recon assume-old= old-file= output-sync[=] print-data-base question no-builtin-rules no-builtin-variables silent quiet no-silent stop touch trace version print-directory no-print-directory what-if= new-file= assume-new= warn-undefined-variables shuffle[=] jobserver-style=',
    },
    effects: makeEffects,
    runs: [
      ["make SHELL='./evil'"],
      'make SHELL=/tmp/sh all',
      "make --eval='$(shell touch x)'",
      "make --eva 'x: ; touch x'",
      "make -E 'x:;touch x'",
      ["make X='$(shell touch x)'", 'touch'],
      "make 'X:=$(shell touch x)'",
      'make -f - <<< "x: ; touch x"',
      'make -f /dev/stdin <<E\nall:\n\ttouch x\nE',
      ["make CC='touch x'", 'touch'],
      'make .SHELLFLAGS=-ec',
      "make 'X!=touch x'",
      'make MAKEFLAGS=--eval=x',
      'curl x | make -f -',
      'make LD_PRELOAD=./x.so',
      "make '$(shell touch x)'",
      'make -f <(curl x)',
      "make CFLAGS='`touch x`'",
      ["make ARGS='; touch x'", 'touch'],
      ["make ARGS='-v && touch x' test", 'touch'],
    ],
    harmless: [
      'make',
      'make -j4 test',
      'make -C sub all',
      'make PREFIX=/usr V=1 install',
      'make -f build/other.mk',
      'make -n',
      "make CFLAGS='-O2 -g'",
      ['make -j"$(nproc)"', 'nproc'],
      ['make CC=gcc', 'gcc'],
      'make DESTDIR="$PWD/out" install',
      'make clean && make',
      `make test ARGS="-run 'A|B'"`,
    ],
  },
  {
    names: ['cmake', 'ctest', 'cpack'],
    options: {
      short: 'S:B:C:D:U:G:T:A:P:E:W:LNRj:V',
      long: 'build install open preset= list-presets toolchain= install-prefix= parallel target= config= clean-first verbose trace debug-output version help find-package workflow fresh test-dir= output-on-failure build-and-test script= test-command= extra-verbose output-log= tests-regex=',
      stop: true,
    },
    effects: cmakeEffects,
    runs: [
      ['cmake -E env touch x', 'touch'],
      ['cmake -E env A=1 touch x', 'touch'],
      ['cmake -E time touch x', 'touch'],
      ['cmake -E chdir d touch x', 'touch'],
      ['cmake -DCMAKE_C_COMPILER=touch .', 'touch'],
      'cmake -DCMAKE_TOOLCHAIN_FILE=./x .',
      ['cmake -D CMAKE_CXX_COMPILER_LAUNCHER=touch .', 'touch'],
      'cmake -E rm -rf ~/.bashrc',
      'cmake -P /dev/stdin <<< x',
      'cmake -E copy x ~/.bashrc',
      'cmake --build . -- SHELL=./x',
      'cmake --open build',
      ['ctest --build-and-test a b --test-command touch x', 'touch'],
    ],
    harmless: [
      'cmake -S . -B build -DCMAKE_BUILD_TYPE=Release',
      'cmake --build build -j 4',
      'cmake --build build -- -j4',
      'cmake -P script.cmake',
      'cmake -E make_directory out',
      'ctest --output-on-failure',
      'cmake --version',
      'cmake -E echo hi',
      ['cmake -DCMAKE_C_COMPILER=clang ..', 'clang'],
      'cmake -E touch x',
    ],
  },
  {
    names: [
      'ninja',
      'samu',
      'meson',
      'bazel',
      'bazelisk',
      'buck2',
      'scons',
      'waf',
      'just',
      'task',
      'rake',
      'tox',
      'nox',
      'invoke',
      'xmake',
    ],
    options: {
      short: 'C:f:j:k:l:d:t:w:nvhc:s:e:',
      long: 'file= run_under= tool= shell= shell-arg= shell-command command= set= eval= justfile= working-directory= dump list version help native-file= cross-file= action_env= override_repository= bazelrc= host_jvm_args= require= execute= execute-continue= execute-print=',
      stop: false,
    },
    effects: taskEffects,
    runs: [
      ['bazel run --run_under=touch //x', 'touch'],
      ['meson devenv touch x', 'touch'],
      ['just --shell ./x build'],
      ['just -c touch x', 'touch'],
      ['tox exec -- touch x', 'touch'],
      "tox -x testenv.commands='touch x'",
      'rake -e \'sh "touch x"\'',
      'bazel --bazelrc=./x build',
      "just --set x '`touch x`' build",
    ],
    harmless: [
      'ninja -C build -j 4',
      'meson setup build',
      'bazel test //...',
      'bazel run //app -- -x',
      'just build',
      'tox -e py312',
      'rake test',
      'scons -j4',
      'task lint',
      'meson test -C build',
      'nox -s tests',
    ],
  },
  {
    names: ['ansible', 'ansible-playbook', 'ansible-console', 'ansible-pull', 'ansible-vault'],
    options: {
      short: 'm:a:i:u:l:e:f:t:M:kKbvCDcP:B:o',
      long: 'module-name= args= inventory= user= limit= extra-vars= forks= tags= module-path= become connection= ssh-common-args= ssh-extra-args= private-key= check diff vault-password-file= list-hosts syntax-check version help',
    },
    effects: ansibleEffects,
    runs: [
      ["ansible all -m shell -a 'touch x'", 'touch'],
      ["ansible all -a 'touch x'", 'touch'],
      ["ansible localhost -m command -a 'touch x'", 'touch'],
      "ansible all -m raw -a './x'",
      'ansible all -m script -a ./x.sh',
      "ansible all -m ping --ssh-common-args='-o ProxyCommand=touch'",
      'ansible-playbook --vault-password-file=./x.sh p.yml',
      'ansible-console',
      'ansible all -M ./modules -m x',
      'ansible-pull -U url',
      'ansible-vault edit x',
    ],
    harmless: [
      'ansible-playbook -i hosts site.yml',
      'ansible all -m ping',
      'ansible-playbook --check p.yml',
      ["ansible all -m shell -a 'ls -l'", 'ls'],
      'ansible-vault view x',
    ],
  },
];

const shellCall = /\$[({]\s*shell\s+([^)}]*)[)}]?/;

function makeEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  const code = options.values('eval', 'E');
  const read = options.values('f', 'file', 'makefile').filter(isRead);
  const lines = [...code.map((text) => text.text ?? ''), read.length > 0 ? stdinText(call) : ''].join('\n');
  return [
    ...[...code, ...read].map((at) => refused(call, 'would run code that it is given', at)),
    ...(startsItselfTwice(lines) ? [{ does: 'danger', at: call.self, ...startsTwice } as const] : []),
    ...recipes(lines).map((text): Effect => ({ does: 'perhaps', text: knownArg(text, call.self) })),
    ...options.operands.flatMap((word) => makeWord(call, word)),
  ];
}

/** True for a makefile that is read from stdin (`-f -`) or printed by another program. */
function isRead({ text, pieces: [first] }: Arg): boolean {
  return text === undefined
    ? typeof first === 'object' && first.hole === 'process'
    : /^(?:-|\/dev\/stdin|\/dev\/fd\/\d+)$/.test(text);
}

/** Returns the recipe lines of a makefile. */
function recipes(text: string): string[] {
  const lines = text
    .split('\n')
    .flatMap((line) => /^(?:\t|[^=:;]*:[^=;]*;)\s*[-@+]*(.*)/.exec(line)?.[1] ?? []);
  const calls = [...text.matchAll(new RegExp(shellCall, 'g'))].map(([, command = '']) => command);
  return [...lines, ...calls];
}

/** True for an operand `NAME=value`, which sets a make variable. */
function makeWord(call: ProgramCall, word: Arg): Effect[] {
  const known = word.pieces.filter((piece) => typeof piece === 'string').join('');
  const command = shellCall.exec(known)?.[1];
  if (command !== undefined && word.text !== undefined)
    return [{ does: 'shell', text: knownArg(command, word) }];
  if (command !== undefined || /\$[({](?:eval|guile)|!=/.test(known))
    return [refused(call, 'would run the commands in a variable', word)];
  // `CC?=x` is also a glob, which stays as written if no file matches.
  const typed = typeof word.pieces[1] === 'object' && word.pieces[1].hole === 'glob' ? globText(word) : word;
  const [whole, name] = /^(\.?[A-Za-z_][\w.-]*)\s*[:+?]*=\s*/.exec(prefixOf(typed)) ?? [];
  if (whole === undefined || name === undefined) return [];
  const value = withoutPrefix(typed, whole.length);
  if (toolVariables.test(name) && value.text !== '') return [{ does: 'shell', text: value }];
  if (name === 'CROSS_COMPILE' && /[/\s]/.test(value.text ?? '/'))
    return [refused(call, `${name} chooses the compiler`, word)];
  if (/`|\$\(/.test(known)) return [refused(call, 'would put commands into a shell', word)];
  if (/^(?:SHELL|\.SHELLFLAGS|MAKE)$/.test(name))
    return [refused(call, `${name} chooses the shell that runs`, word), { does: 'perhaps', text: value }];
  const code = codeVariable(name, value.text, true);
  if (code === undefined) return pastedWords(value);
  return code.kind === 'command'
    ? [{ does: 'shell', text: value }]
    : [refused(call, `${name} chooses which code runs`, word)];
}

/** Variables that makefiles usually have for a program. */
const toolVariables =
  /^(?:RM|CP|MV|LN|MKDIR|INSTALL(?:_(?:PROGRAM|DATA|SCRIPT))?|NPM|NPX|YARN|PNPM|NODE|PYTHON\d?|PIP\d?|POETRY|UV|GO|CARGO|RUSTC|DOCKER|PODMAN|KUBECTL|HELM|GIT|BASH|PERL|RUBY|JAVA|JAVAC|MVN|GRADLE|CMAKE|NINJA|AWK|SED|GREP|FIND|TAR|CURL|WGET|SUDO|TIME|STRIP|OBJCOPY|OBJDUMP|NM|RANLIB|PKG_CONFIG|PROTOC|SPHINXBUILD|PYTEST|TEST_CMD|RUN_CMD|[A-Z_]*_(?:CMD|COMMAND|BIN|EXE|PROG|RUNNER|LAUNCHER|WRAPPER))$/;

/** The word as written, with its globs. */
function globText(word: Arg): Arg {
  const text = word.pieces.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');
  return knownArg(text, word);
}

/** A recipe usually pastes a variable into a shell command, where `; cmd` would run. */
function pastedWords(value: Arg): Effect[] {
  if (value.text === undefined || !/[;&|<>\n]/.test(value.text)) return [];
  return [{ does: 'shell', text: knownArg(`true ${value.text}`, value) }];
}

function cmakeEffects(call: ProgramCall): Effect[] {
  const { options, args } = call;
  const at = args.findIndex((arg) => arg.text === '-E');
  if (at >= 0 && call.name === 'cmake') return toolCommand(call, args.slice(at + 1));
  const test = args.findIndex((arg) => arg.text === '--test-command');
  const definitions = args.flatMap((arg, index) => {
    if (prefixOf(arg) === '-D') return args[index + 1] ?? [];
    return prefixOf(arg).startsWith('-D') ? withoutPrefix(arg, 2) : [];
  });
  const script = options.last('P', 'script');
  return [
    ...definitions.flatMap((definition) => cmakeDefinition(call, definition)),
    ...(test >= 0 ? [{ does: 'start', argv: args.slice(test + 1) } as const] : []),
    ...(/^(?:-|\/dev\/.*)$/.test(script?.text ?? '')
      ? [refused(call, 'would run what it reads', script)]
      : []),
    ...refuseOptions({ toolchain: 'reads code from a file', open: 'starts another program' })(call),
    ...toolWords(call),
  ];
}

/** `cmake --build` passes the words after `--` on to make, where they may choose what runs. */
function toolWords(call: ProgramCall): Effect[] {
  const end = call.args.findIndex(({ text }) => text === '--');
  if (end < 0 || !call.args.some(({ text }) => text === '--build')) return [];
  return call.args
    .slice(end + 1)
    .filter(
      (arg) => arg.text === undefined || /=|^(?:-[fEI]|--(?:file|makefile|eval|include))/.test(arg.text),
    )
    .map((at) => refused(call, 'would pass code or settings on to the build tool', at));
}

function cmakeDefinition(call: ProgramCall, definition: Arg): Effect[] {
  const [whole = '', name = ''] = /^([\w-]+)(?::\w+)?=/.exec(prefixOf(definition)) ?? [];
  const value = withoutPrefix(definition, whole.length);
  if (
    /_(?:COMPILER|LAUNCHER|LINKER|AR|RANLIB|MAKE_PROGRAM|CLANG_TIDY|CPPCHECK|INCLUDE_WHAT_YOU_USE|CPPLINT)$|_EXECUTABLE$/.test(
      name,
    )
  )
    return [{ does: 'shell', text: value }];
  return /^CMAKE_(?:TOOLCHAIN_FILE|PROJECT_.*INCLUDE.*|MODULE_PATH|USER_MAKE_RULES_OVERRIDE.*)$/.test(name)
    ? [refused(call, `${name} chooses code that runs`, definition)]
    : [];
}

/** `cmake -E`: built-in tools, some of which start a program. */
function toolCommand(call: ProgramCall, words: readonly Arg[]): Effect[] {
  const [tool, ...rest] = words;
  const name = tool?.text ?? '';
  const plain = rest.filter((word) => !/^--?/.test(word.text ?? ''));
  if (name === 'env') return envOfTool(rest.filter(({ text }) => text !== '--'));
  if (name === 'time') return [{ does: 'start', argv: rest }];
  if (name === 'chdir') return [{ does: 'start', argv: rest.slice(1), cwd: rest[0] }];
  if (/^(?:rm|remove|remove_directory)$/.test(name))
    return [{ does: 'start', argv: [knownArg('rm', call.self), knownArg('-r', call.self), ...plain] }];
  const target = plain.at(-1);
  return /^(?:copy|copy_directory|copy_if_different|rename|create_symlink|touch)$/.test(name) &&
    target !== undefined
    ? [{ does: 'write', path: target }]
    : [];
}

function envOfTool(words: readonly Arg[]): Effect[] {
  const start = words.findIndex((word) => !/^(?:[A-Za-z_]\w*=|--unset=|--modify)/.test(word.text ?? ''));
  const env = words.slice(0, start < 0 ? words.length : start).flatMap((word): [string, Arg][] => {
    const name = /^([A-Za-z_]\w*)=/.exec(prefixOf(word))?.[1];
    return name === undefined ? [] : [[name, withoutPrefix(word, name.length + 1)]];
  });
  return start < 0 ? [] : [{ does: 'start', argv: words.slice(start), env }];
}

function taskEffects(call: ProgramCall): Effect[] {
  const { options, name } = call;
  const chosen = refuseOptions({
    shell: 'chooses the shell that runs',
    'shell-arg': 'chooses what the shell runs',
    bazelrc: 'reads settings from a file',
    host_jvm_args: 'chooses code that runs',
    eval: 'runs code',
  })(call);
  const rakeCode =
    name === 'rake'
      ? options
          .values('e', 'execute', 'p', 'execute-print', 'execute-continue')
          .map((at) => refused(call, '-e runs code', at))
      : [];
  const backticks = call.args
    .filter((arg) => name === 'just' && arg.text?.includes('`'))
    .map((at) => refused(call, 'would run commands in a value', at));
  const just =
    name === 'just' && options.has('c', 'command')
      ? [{ does: 'start', argv: [...options.values('c', 'command'), ...options.operands] } as const]
      : [];
  const inTox =
    name === 'tox' && /^(?:exec|e)$/.test(options.operands[0]?.text ?? '')
      ? [
          {
            does: 'start',
            argv: call.args.slice(call.args.findIndex(({ text }) => text === '--') + 1),
          } as const,
        ]
      : [];
  const overrides = (name === 'tox' ? optionValues(call.args, /^(?:-x|--override)$/) : [])
    .filter(
      ({ text }) =>
        !/^[\w:-]+\.(?:parallel_show_output|skip_install|recreate|usedevelop)\+?=/.test(text ?? ''),
    )
    .map((at) => refused(call, 'may choose what runs', at));
  const devenv =
    name === 'meson' && options.operands[0]?.text === 'devenv'
      ? subcommands({
          devenv: {
            options: { short: 'C:w:', long: 'dump[=] workdir=', stop: true },
            effects: startsOperands,
          },
        })(call)
      : [];
  return [
    ...chosen,
    ...rakeCode,
    ...backticks,
    ...just,
    ...inTox,
    ...overrides,
    ...devenv,
    ...startOptions('run_under')(call),
  ];
}

function ansibleEffects(call: ProgramCall): Effect[] {
  const { options, name } = call;
  const module =
    options.last('m', 'module-name')?.text ??
    (name === 'ansible' && options.has('a', 'args') ? 'command' : undefined);
  const texts = options.values('a', 'args');
  const started: Effect[] = /^(?:ansible\.builtin\.)?(?:shell|command|raw|expect)$/.test(module ?? '')
    ? texts.map((text) => ({ does: 'shell', text }))
    : [];
  const other =
    /(?:^|\.)(?:script|win_shell|win_command|cron|at|telnet)$/.test(module ?? '') ||
    name === 'ansible-console' ||
    name === 'ansible-pull';
  const edits = name === 'ansible-vault' && options.operands[0]?.text === 'edit';
  return [
    ...started,
    ...(other || edits ? [refused(call, 'would run a program')] : []),
    ...refuseOptions({
      M: 'loads code',
      'module-path': 'loads code',
      'ssh-common-args': 'may choose what runs',
      'ssh-extra-args': 'may choose what runs',
    })(call),
    ...options
      .values('vault-password-file')
      .filter(({ text }) => /\.(?:sh|py|pl)$|^\.\//.test(text ?? '.sh'))
      .map((at) => refused(call, '--vault-password-file may be a program', at)),
  ];
}
