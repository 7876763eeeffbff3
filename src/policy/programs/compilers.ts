import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, withoutPrefix } from '../words/arg.ts';
import { plugins, refused, startOptions, subcommands, writeOptions, writesBelow } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Compilers and linkers: options such as `-B` and `-fplugin` that make them start other programs or load code. */
export const compilerPrograms: readonly ProgramEntry[] = [
  {
    names: ['cargo'],
    effects: cargoEffects,
    runs: [
      'cargo --config \'target.x86_64-unknown-linux-gnu.runner="touch"\' run',
      'cargo run --config=\'build.rustc-wrapper="./x"\'',
      'cargo --config ./evil.toml build',
      'cargo --config alias.x=\'["run"]\' x',
      ["cargo watch -s 'touch x'", 'touch'],
      ['cargo watch -- touch x', 'touch'],
      'cargo rustc -- -C linker=./x',
      'cargo build --target-dir .git/hooks',
      'cargo build --artifact-dir=.git/hooks',
      'cargo clippy -- -Zcodegen-backend=./x.so',
      ['cargo -C dir touch', 'cargo-touch'],
      'cargo +./toolchain build',
      ['cargo some-new-plugin x', 'cargo-some-new-plugin'],
      'cargo rustc -- -Clinker=./x',
      ["cargo watch -x test --shell 'touch x'", 'touch'],
    ],
    harmless: [
      'cargo --color always build',
      'cargo build --release',
      'cargo test -- --nocapture',
      'cargo run -- --config x',
      'cargo +nightly fmt',
      'cargo clippy -- -D warnings',
      'cargo install ripgrep',
      "cargo watch -x 'test -q'",
      'cargo build --config net.git-fetch-with-cli=true',
      'cargo check --message-format=json',
    ],
  },
  {
    names: ['go'],
    options: { singleDash: true, long: 'C=', stop: true },
    effects: goEffects,
    runs: [
      ['go run -exec touch main.go', 'touch'],
      ["go test -exec 'touch x' ./...", 'touch'],
      ['go build -toolexec=touch ./...', 'touch'],
      ['go test --exec=touch ./...', 'touch'],
      ['go vet -vettool=touch ./...', 'touch'],
      'go env -w CC=touch',
      'go env -w GOFLAGS=-toolexec=touch',
      'go build -ldflags=-extld=touch .',
      "go build -ldflags '-X a=b -extld touch' .",
      'go build -o /usr/bin/ls .',
      'go -C sub build -toolexec "$x" .',
    ],
    harmless: [
      'go build ./...',
      'go test -run TestX -v ./...',
      'go run ./cmd/app -exec x',
      'go generate ./...',
      "go build -o app -ldflags '-s -w -X main.v=1' .",
      'go env GOPATH',
      'go mod tidy',
      'go vet ./...',
      'go env -w GOPROXY=direct',
      'go test -race -count=1 ./...',
    ],
  },
  {
    names: ['rustc', 'rustdoc', 'clippy-driver'],
    effects: (call) => rustcWords(call, call.args),
    runs: [
      'rustc -C linker=./x a.rs',
      'rustc -Clinker=./x a.rs',
      'rustc --codegen linker=./x a.rs',
      'rustc --codegen=link-arg=-fplugin a.rs',
      'rustc -Zcodegen-backend=./x a.rs',
      'rustc @args',
      'rustc a.rs -o /etc/x',
      'rustdoc --test --test-runtool ./x a.rs',
    ],
    harmless: [
      'rustc -O a.rs',
      'rustc -C opt-level=3 -o a a.rs',
      'rustc --version',
      'rustc --edition 2021 --crate-type lib a.rs',
    ],
  },
  {
    names: [
      'gcc',
      'cc',
      'g++',
      'c++',
      'c99',
      'c89',
      'clang',
      'clang++',
      'tcc',
      'cpp',
      'gfortran',
      'nvcc',
      'icc',
      'icx',
      'ld',
      'ld.gold',
      'ld.bfd',
      'ld.lld',
      'lld',
      'mold',
      'gold',
      'as',
      'emcc',
      'gnat',
      'dmd',
      'ldc2',
      'x86_64-linux-gnu-gcc',
      'aarch64-linux-gnu-gcc',
    ],
    closed: [
      'as',
      'collect2',
      'gcc',
      'ld',
      'ld.bfd',
      'ld.gold',
      '/usr/lib/gcc',
      '/usr/lib/gcc-cross',
      '/usr/libexec/gcc',
    ],
    open: ['clang', 'clang++', 'nvcc', 'icc', 'icx', 'emcc', 'gnat', 'dmd', 'ldc2', 'tcc'],
    effects: ({ args, ...call }) =>
      args.flatMap((arg, index) => compilerWord({ ...call, args }, arg, args[index + 1])),
    runs: [
      ['gcc -wrapper touch,x a.c', 'touch'],
      'gcc -fplugin=./x.so a.c',
      'gcc -specs=./x a.c',
      'gcc --specs=./x a.c',
      'gcc --specs ./x a.c',
      'gcc -B. a.c',
      'gcc -B ./bin a.c',
      'gcc @args',
      'clang -Xclang -load -Xclang ./x.so a.c',
      'clang -fpass-plugin=./x.so a.c',
      'gcc -fuse-ld=./x a.c',
      'clang --ld-path=./x a.c',
      'gcc -o /usr/bin/ls a.c',
      'ld -plugin ./x.so a.o',
      'gcc -Wl,-plugin,./x.so a.c',
      'gcc -Wl,@options a.c',
      'gcc -o ~/.bashrc a.c',
      'clang --config ./x.cfg a.c',
      'tcc -run - <<< x',
      'ld --dynamic-linker ./x -I ./y a.o',
    ],
    harmless: [
      'gcc -O2 -Wall -o app a.c b.c -lm',
      'g++ -std=c++20 -Iinclude -c a.cpp',
      'clang -fuse-ld=lld a.c',
      'gcc -x c - -o a',
      'gcc --version',
      'gcc -MMD -MF dep.d -c a.c',
      'ld -r -o out.o a.o',
      'clang -fsanitize=address a.c',
      'tcc -run a.c',
      'gcc -DNAME=\'"x"\' -Wl,-rpath,/opt a.c',
    ],
  },
  {
    names: [
      ...['objcopy', 'strip', 'ar', 'patchelf', 'ranlib', 'nm', 'gcc-ar', 'gcc-nm', 'gcc-ranlib'],
      ...['llvm-objcopy', 'llvm-ar', 'llvm-nm', 'llvm-ranlib', 'llvm-strip'],
    ],
    closed: [],
    open: [
      ...['gcc-ar', 'gcc-nm', 'gcc-ranlib'],
      ...['llvm-objcopy', 'llvm-ar', 'llvm-nm', 'llvm-ranlib', 'llvm-strip'],
    ],
    options: { short: 'o:', long: 'plugin= output=' },
    effects: (call) => [
      ...call.options.values('plugin').map((at) => refused(call, '--plugin loads code', at)),
      ...(call.name.endsWith('ar') ? [] : writeOptions('o', 'output')(call)),
      ...(call.name.endsWith('objcopy')
        ? call.args.slice(-1).map((path): Effect => ({ does: 'write', path }))
        : []),
    ],
    runs: [
      'nm --plugin ./x.so a.o',
      'ar --plugin=./x.so rcs a b',
      'strip -o /usr/bin/ls a',
      'gcc-nm --plugin ./x a',
      'objcopy a .git/hooks/pre-commit',
    ],
    harmless: [
      'ar rcs lib.a a.o',
      'strip app',
      'nm -D lib.so',
      'llvm-ar rcs lib.a a.o',
      'objcopy -O binary a b',
    ],
  },
];

/** Subcommands of cargo itself and of every toolchain, and usual ways to run tests; any other one is the program `cargo-NAME`. */
const cargoPlugins = plugins(
  `add audit b bench build c check clean clippy config d doc fetch fix fmt generate-lockfile git-checkout help info init install
  locate-project login logout metadata new nextest owner package pkgid publish r read-manifest remove report rm run rustc rustdoc search t
  test tree uninstall update vendor verify-project version watch xtask yank`,
);

const cargoKeys =
  /(?:runner|linker|rustc|wrapper|rustdoc|alias|credential|rustflags|command|paths|source|registry|env)\b/i;

function cargoEffects(call: ProgramCall): Effect[] {
  const end = call.args.findIndex((arg) => arg.text === '--');
  const own = end < 0 ? call.args : call.args.slice(0, end);
  const passed = end < 0 ? [] : call.args.slice(end + 1);
  const settings = own.flatMap((arg, index): Arg[] => {
    if (own[index - 1]?.text === '--config') return [arg];
    return prefixOf(arg).startsWith('--config=') ? [withoutPrefix(arg, '--config='.length)] : [];
  });
  const chosen = settings.filter(
    ({ text }) =>
      text === undefined ||
      !text.includes('=') ||
      cargoKeys.test(text.split('=')[0] ?? '') ||
      text.includes('{'),
  );
  const words = own.filter(
    (arg, index) =>
      !/^[-+]/.test(prefixOf(arg)) &&
      !/^(?:-[CZ]|--(?:color|config|manifest-path|target-dir))$/.test(own[index - 1]?.text ?? ''),
  );
  const folders = parseOptions(own, { short: '', long: 'target-dir= artifact-dir= out-dir= root=' }).values(
    'target-dir',
    'artifact-dir',
    'out-dir',
    'root',
  );
  const command = words[0]?.text;
  const watches =
    command === 'watch'
      ? own
          .filter((_arg, index) => /^(?:-s|--shell)$/.test(own[index - 1]?.text ?? ''))
          .map((text): Effect => ({ does: 'shell', text }))
      : [];
  const opened = own.filter(({ text }) => text === '--open');
  const toolchain = own.filter(({ text }) => /^\+/.test(text ?? '') && !/^\+[\w.-]+$/.test(text ?? ''));
  return [
    ...folders.flatMap(writesBelow),
    ...toolchain.map((at) => refused(call, 'would run the toolchain at a path', at)),
    ...opened.map((at) => refused(call, '--open starts a browser', at)),
    ...cargoPlugins(call, words),
    ...chosen.map((at) => refused(call, '--config may choose programs that run', at)),
    ...watches,
    ...(command === 'watch' && passed.length > 0 ? [{ does: 'start', argv: passed } as const] : []),
    ...(/^(?:rustc|rustdoc|clippy)$/.test(command ?? '') ? rustcWords(call, passed) : []),
  ];
}

function rustcWords(call: ProgramCall, args: readonly Arg[]): Effect[] {
  return args.flatMap((arg, index): Effect[] => {
    const before = args[index - 1]?.text ?? '';
    const text = /^(?:-C|-Z|--codegen)$/.test(before)
      ? `-C${prefixOf(arg)}`
      : prefixOf(arg).replace(/^--codegen=/, '-C');
    if (
      /^-C(?:linker|link-args?|linker-plugin-lto=|pre-link-args?)\b|^-Z\s{0,9}(?:codegen-backend|[\w-]{0,60}plugin)|^-Ccodegen-backend|^@|^--test-runtool|^--sysroot/.test(
        text,
      )
    )
      return [refused(call, 'would be given code or a program to run', arg)];
    return before === '-o' ? [{ does: 'write', path: arg }] : [];
  });
}

const goOptions = {
  singleDash: true,
  long: 'exec= toolexec= vettool= o= ldflags= gcflags= asmflags= gccgoflags= tags= mod= modfile= overlay= p= C= pkgdir= buildmode= compiler= run= bench= count= timeout= coverprofile= cover covermode= coverpkg= cpuprofile= memprofile= blockprofile= mutexprofile= trace= outputdir= parallel= v x n a race msan asan json short failfast cpu= list= benchtime= benchmem shuffle= skip= fuzz= fuzztime= trimpath work c buildvcs= installsuffix= linkshared modcacherw',
};

function goEffects(call: ProgramCall): readonly Effect[] {
  const build = { options: { ...goOptions, stop: true }, effects: goBuild };
  return subcommands({
    'build run install get list vet fix generate': build,
    tool: {
      options: { ...goOptions, stop: true },
      effects: (inner) => [
        ...goBuild(inner),
        ...inner.options.operands
          .slice(0, 1)
          .filter(({ text }) => !goTools.test(text ?? ''))
          .map((at) => refused(inner, 'tool would run a program', at)),
      ],
    },
    test: { options: goOptions, effects: goBuild },
    bug: { effects: (inner) => [refused(inner, 'bug starts a browser')] },
    doc: {
      effects: (inner) =>
        inner.args
          .filter(({ text }) => text === '-http')
          .map((at) => refused(inner, 'doc -http starts a browser', at)),
    },
    env: {
      effects: (inner) =>
        inner.args.some((arg) => arg.text === '-w')
          ? inner.args
              .filter(
                (arg) =>
                  /^(?:CC|CXX|AR|FC|PKG_CONFIG|GOFLAGS|GOTOOLCHAIN|GOROOT|GOVCS|GOENV|CGO_\w+|GCCGO|GOTOOLDIR)=/.test(
                    prefixOf(arg),
                  ) ||
                  (prefixOf(arg) === '' && arg.text === undefined),
              )
              .map((at) => refused(call, 'env -w chooses programs that run', at))
          : [],
    },
  })(call);
}

/** Tools of the toolchain; a module may add others. */
const goTools =
  /^(?:addr2line|api|asm|buildid|cgo|compile|covdata|cover|dist|doc|fix|link|nm|objdump|pack|pprof|preprofile|test2json|trace|vet)$/;

function goBuild(call: ProgramCall): Effect[] {
  const linker = call.options
    .values('ldflags', 'gccgoflags')
    .filter((flags) => /-(?:extld|extldflags|linkmode|B|wrapper|fplugin|specs)/.test(flags.text ?? ''));
  return [
    ...startOptions('exec', 'toolexec', 'vettool')(call),
    ...linker
      .filter((flags) => /-extld\b|-(?:fplugin|specs|B|wrapper)/.test(flags.text ?? ''))
      .map((at) => refused(call, '-extld chooses a program that runs', at)),
    ...writeOptions(
      'o',
      'coverprofile',
      'cpuprofile',
      'memprofile',
      'blockprofile',
      'mutexprofile',
      'trace',
    )(call),
    ...call.options.values('outputdir').flatMap(writesBelow),
  ];
}

function compilerWord(call: ProgramCall, arg: Arg, next: Arg | undefined): Effect[] {
  const text = prefixOf(arg);
  if (text === '-wrapper' && next !== undefined)
    return [
      next.text === undefined
        ? { does: 'unknown', at: next, reason: `which program ${call.name} would start cannot be known` }
        : { does: 'start', argv: next.text.split(',').map((word) => knownArg(word, next)), stdin: 'none' },
    ];
  if (/^-(?:o|MF|MJ|dumpdir|aux-info)$/.test(text) && next !== undefined && next.text !== '-')
    return [{ does: 'write', path: next }];
  const loads =
    /^(?:-fplugin=|--?specs?(?:=|$)|-B|@|-load$|-fpass-plugin=|--ld-path=|-fuse-ld=.*\/|--?plugin(?:=|$)|-iplugindir|-Wl,.*-plugin|-W[alp],(?:.*,)?@|--config|-ccbin$|--compiler-bindir|-fcompare-debug|--sysroot-prog|-Xlinker$|-no-integrated-cpp)/;
  const plain =
    call.name === 'as' ||
    (text === '-Xlinker' && !/plugin/.test(next?.text ?? 'plugin')) ||
    (text === '-B' && /^ld/.test(call.name)) ||
    /^-B(?:static|dynamic|symbolic|group|lack)/.test(text);
  const interpreter = /^ld/.test(call.name) && /^(?:-I$|--dynamic-linker)/.test(text);
  const reads = call.name === 'tcc' && text === '-run' && (next?.text === '-' || next === undefined);
  return (loads.test(text) && !plain) || interpreter || reads
    ? [refused(call, `${text} loads code or chooses a program that runs`, arg)]
    : [];
}
