import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { knownArg, prefixOf, withoutPrefix } from '../words/arg.ts';
import { allOf, refuseOptions, shellOptions } from './effects.ts';
import { refused, refusedSub, startingSub, subcommands, writesBelow } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Package managers such as `apt-get` and `pip`: they may install, but not run hooks or programs from their arguments. */
export const systemPackagePrograms: readonly ProgramEntry[] = [
  {
    names: ['apt', 'apt-get', 'aptitude', 'apt-cache', 'apt-config'],
    options: {
      short: 'o:c:t:a:qyfdsmuVhb',
      long: 'option= config-file= target-release= yes quiet assume-yes no-install-recommends download-only reinstall purge auto-remove simulate version help',
    },
    effects: aptEffects,
    runs: [
      ["apt-get update -o APT::Update::Pre-Invoke::='touch x'", 'touch'],
      ["apt -o 'DPkg::Pre-Invoke::=touch x' install y", 'touch'],
      ["apt-get -oAPT::Update::Post-Invoke::='touch x' update", 'touch'],
      'apt-get -o Dir::Bin::dpkg=./x install y',
      'apt-get -c ./x.conf update',
      'apt -o "$x" update',
      'apt edit-sources',
      'apt-get -o Acquire::http::Proxy-Auto-Detect=./x update',
    ],
    harmless: [
      'apt-get update',
      'apt-get install -y curl',
      'apt list --installed',
      'apt-get -o Acquire::Retries=3 update',
      'apt-cache policy x',
      "apt-get -o Dpkg::Options::='--force-confold' install -y x",
    ],
  },
  {
    names: ['dpkg', 'dpkg-deb', 'rpm', 'rpmbuild', 'rpmspec', 'dnf', 'yum', 'zypper', 'pacman', 'apk'],
    options: {
      short: 'E:D:iqlLsSrPxXbBcCF:hVUev',
      long: 'pre-invoke= post-invoke= status-logger= admindir= instdir= root= eval= define= pipe= setopt= config= rcfile= hookdir= macros= load= installroot= noplugins enableplugin= test script-chrootless',
    },
    effects: allOf(
      shellOptions('pre-invoke', 'post-invoke', 'status-logger', 'pipe'),
      refuseOptions({
        macros: 'reads code from a file',
        load: 'reads code from a file',
        rcfile: 'reads settings from a file',
        hookdir: 'runs programs from a folder',
        config: 'reads settings from a file',
      }),
      macroEffects,
    ),
    runs: [
      ["dpkg --pre-invoke='touch x' -i a.deb", 'touch'],
      ["dpkg -i a.deb --post-invoke 'touch x'", 'touch'],
      ["rpm --eval '%(touch x)'", 'touch'],
      ["rpm -E '%(touch x)'", 'touch'],
      "rpm --eval '%{lua:os.execute()}'",
      ["rpm -qa --pipe 'touch x'", 'touch'],
      "rpmbuild --define 'x %(touch x)' a.spec",
      'pacman --hookdir ./x -S y',
      'yum --setopt=pluginpath=./x install y',
      'pacman --config ./x -S y',
    ],
    harmless: [
      'dpkg -l',
      'dpkg -i a.deb',
      'rpm -qa',
      "rpm --eval '%{_libdir}'",
      'dnf install -y x',
      'pacman -Syu',
      'yum list installed',
      'apk add curl',
    ],
  },
  {
    names: ['brew', 'snap', 'flatpak', 'port', 'choco', 'scoop', 'winget'],
    options: { stop: true },
    effects: subcommands({
      'sh irb ruby': refusedSub('starts a shell or an interpreter'),
      edit: refusedSub('starts an editor'),
      'run spawn': {
        options: {
          short: '',
          long: 'shell command= branch= arch= devel runtime= filesystem= share= socket= env= user system',
          stop: true,
        },
        effects: (call) => [
          ...call.options.values('command').map((argv): Effect => ({ does: 'start', argv: [argv] })),
          ...(call.options.has('shell') ? [refused(call, 'starts a shell')] : []),
        ],
      },
    }),
    runs: [
      'brew sh',
      "brew ruby -e 'x'",
      'brew edit x',
      ['flatpak run --command=touch org.x', 'touch'],
      'snap run --shell x',
    ],
    harmless: ['brew install jq', 'brew list', 'flatpak install x', 'snap list', 'brew services start x'],
  },
  {
    names: [
      'pip',
      'pip3',
      'gem',
      'composer',
      'cpan',
      'cpanm',
      'luarocks',
      'opam',
      'stack',
      'cabal',
      'ghcup',
      'flutter',
      'mix',
      'rebar3',
    ],
    options: {
      short: 'qvUd:r:c:t:',
      long: 'python= editor= requirement= target= config= build-option= global-option= install-option= working-dir=',
      stop: false,
    },
    effects: packageEffects,
    runs: [
      'pip --python ./x install y',
      'pip config edit --editor ./x',
      'pip config set global.python ./x',
      'pip install --target .git/hooks x',
      'pip list --log=.git/config',
      ['composer exec touch x', 'touch'],
      ['opam exec -- touch x', 'touch'],
      ['stack exec touch x', 'touch'],
      ['cabal exec -- touch x', 'touch'],
      ['gem exec touch x', 'touch'],
      'mix run -e \'System.cmd("x", [])\'',
      'gem open x -e touch',
      ['mix cmd touch x', 'touch'],
      "composer config scripts.x 'touch x'",
    ],
    harmless: [
      'pip install -r requirements.txt',
      'pip list',
      'pip install -e .',
      'gem install x',
      'composer install',
      'composer run-script test',
      'mix test',
      'composer open x',
      'stack build',
      'cabal test',
      'opam install x',
      'pip config list',
      'pip config set global.index-url https://example.com/simple',
      'pip install --target build/vendor -r requirements.txt',
      ['opam exec -- ls', 'ls'],
      'mix deps.get',
    ],
  },
  {
    names: ['dotnet'],
    effects: dotnetEffects,
    runs: [
      "dotnet build -p:PreBuildEvent='touch x'",
      'dotnet build /p:CscToolPath=./x',
      'dotnet build -logger:./x.dll',
      ['dotnet tool run touch', 'touch'],
      ['dotnet foo', 'dotnet-foo'],
      'dotnet fsi',
      'dotnet build @x.rsp',
    ],
    harmless: [
      'dotnet build',
      'dotnet run -- x',
      'dotnet test --logger trx',
      'dotnet build -p:Version=1.2',
      'dotnet fsi a.fsx',
    ],
  },
];

const dotnetCommands =
  /^(?:new|restore|build|publish|run|test|vstest|pack|clean|sln|solution|add|remove|list|package|reference|tool|nuget|store|watch|help|format|workload|sdk|dev-certs|user-secrets|user-jwts|ef|msbuild|build-server|fsi|exec|--version|--info|--help|-h|--list-sdks|--list-runtimes)$/;

/** Properties of MSBuild with commands, and options that load code. */
const dotnetCode =
  /^@|^(?:-{1,2}|\/)(?:p|property):\w*(?:event|exec|command|tool|targets|import|sdk)|^(?:-{1,2}|\/)(?:l|logger|dl|distributedlogger):.*(?:\/|\.dll)|^--(?:test-adapter-path|additional-deps|depsfile|runtimeconfig|roll-forward-)|^(?:-{1,2}|\/)t(?:arget)?:exec/i;

function dotnetEffects(call: ProgramCall): Effect[] {
  const [verb, ...rest] = call.args;
  if (verb === undefined) return [];
  const words = call.args.map((arg) => arg.text ?? '');
  const loads = call.args.filter((arg) => dotnetCode.test(arg.text ?? '@'));
  if (loads.length > 0) return loads.map((at) => refused(call, 'would run commands or load code', at));
  if (words[0] === 'tool' && words[1] === 'run') return [{ does: 'start', argv: rest.slice(1) }];
  if (words[0] === 'fsi')
    return words.slice(1).some((word) => /\.fsx?$/.test(word)) &&
      !words.some((word) => /^--(?:use|load|exec)/.test(word))
      ? []
      : [refused(call, 'fsi runs code that it reads')];
  if (dotnetCommands.test(words[0] ?? '') || /^[\w./-]+\.dll$/.test(words[0] ?? '')) return [];
  return [{ does: 'start', argv: [knownArg(`dotnet-${words[0] ?? ''}`, verb), ...rest] }];
}

function aptEffects(call: ProgramCall): Effect[] {
  const settings = call.options.values('o', 'option').flatMap((setting): Effect[] => {
    const key = /^[^=]*=/.exec(prefixOf(setting))?.[0];
    if (key === undefined) return [refused(call, '-o might name a program', setting)];
    if (/invoke|pre-install-pkgs/i.test(key))
      return [{ does: 'shell', text: withoutPrefix(setting, key.length) }];
    return /^(?:dir\b|.*proxy-?auto-?detect|.*::(?:bin|methods|solvers|planners|pager|compressors)|apt::(?:key|architectures::)|.*::plugins|dpkg::(?:chroot|run-directory|tools))/i.test(
      key,
    )
      ? [refused(call, `-o ${key} chooses what runs`, setting)]
      : [];
  });
  return [
    ...settings,
    ...refuseOptions({ c: 'reads settings from a file', 'config-file': 'reads settings from a file' })(call),
    ...(call.options.operands[0]?.text === 'edit-sources'
      ? [refused(call, 'edit-sources starts an editor')]
      : []),
  ];
}

/** rpm macros can contain commands: `%(command)`. */
function macroEffects(call: ProgramCall): Effect[] {
  const isRpm = call.name.startsWith('rpm');
  const macros = call.options.values(...(isRpm ? ['E', 'eval', 'D', 'define'] : []), 'setopt');
  return macros.flatMap((macro): Effect[] => {
    const text = macro.text;
    if (text === undefined) return [refused(call, 'would get text that may contain commands', macro)];
    const command = /%\(([^()]*)\)/.exec(text)?.[1];
    if (command !== undefined) return [{ does: 'shell', text: knownArg(command, macro) }];
    return /%\{(?:lua|load|S:|uncompress|shrink:)|^(?:plugin|gpgkey)|%\(|path=|command/.test(text)
      ? [refused(call, 'would run code', macro)]
      : [];
  });
}

function packageEffects(call: ProgramCall): readonly Effect[] {
  const { name, args } = call;
  const own = allOf(
    name.startsWith('pip')
      ? refuseOptions({ python: 'chooses a program that runs', editor: 'starts a program' })
      : () => [],
  )(call);
  const files = name.startsWith('pip') ? pipFiles(call) : [];
  const starting = subcommands({
    exec: startingSub('y:v', 'switch= set-root package= version= gem= no-ghc-package-path plain cwd='),
    ...(name === 'mix' ? { cmd: startingSub('', 'app= cd=') } : {}),
    open: name === 'gem' ? refusedSub('open starts an editor') : { effects: () => [] },
    config: {
      effects: (inner) =>
        /^(?:edit|-e|--editor)$/.test(inner.args[0]?.text ?? '') ||
        /^scripts\./.test(inner.args[0]?.text ?? '')
          ? [refused(inner, 'config starts an editor or sets commands')]
          : [],
    },
  })(call);
  const inline =
    name === 'mix'
      ? args
          .filter((_arg, index) => /^(?:-e|--eval)$/.test(args[index - 1]?.text ?? ''))
          .map((at) => refused(call, '-e runs code', at))
      : [];
  return [...own, ...files, ...starting, ...inline];
}

/** Files and folders that pip writes, and settings that select the programs that it runs. */
function pipFiles(call: ProgramCall): Effect[] {
  const folders = ['t', 'target', 'prefix', 'root', 'src', 'd', 'dest', 'w', 'wheel-dir', 'cache-dir'];
  const options = parseOptions(call.args, {
    short: 't:d:w:r:c:e:i:f:C:',
    long: 'target= prefix= root= src= dest= wheel-dir= cache-dir= log= report= output= root-user-action= requirement= retries=',
  });
  const sets = options.operands[0]?.text === 'config' && options.operands[1]?.text === 'set';
  const chosen = options.operands
    .slice(2, 3)
    .filter(({ text }) => /\.(?:editor|python)$/.test(text ?? '.python'));
  return [
    ...options.values(...folders).flatMap(writesBelow),
    ...options.values('log', 'report', 'output').map((path): Effect => ({ does: 'write', path })),
    ...(sets ? chosen.map((at) => refused(call, 'config would choose a program that runs', at)) : []),
  ];
}
