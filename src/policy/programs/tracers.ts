import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf } from '../words/arg.ts';
import { allOf, shellOptions, startsOperands } from './effects.ts';
import { refused, stdinText, subcommands, writeOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Debuggers, tracers and benchmarks, such as `gdb`, `strace` and `hyperfine`, which run another program. */
export const tracerPrograms: readonly ProgramEntry[] = [
  {
    names: ['strace', 'ltrace'],
    options: {
      short: 'A:a:b:cCdDe:fFhiI:kl:n:No:O:p:P:qrs:S:tTu:U:vVwx:X:yYzZE:L',
      long: 'attach= columns= output= trace= follow-forks trace-path= string-limit= env= user= summary summary-only seccomp-bpf status= quiet[=] decode-fds[=] absolute-timestamps[=] relative-timestamps[=] syscall-times[=] stack-traces detach-on= interruptible= abbrev= verbose= raw= inject= fault= signal= no-abbrev help version',
      stop: true,
    },
    effects: (call) => [
      ...call.options.values('o', 'output').map(traceOutput),
      ...call.options
        .values('E', 'env')
        .map((at) => refused(call, '-E changes the environment of the program', at)),
      ...startsOperands(call),
    ],
    runs: [
      ['strace touch x', 'touch'],
      ['strace -f -e trace=open -o log touch x', 'touch'],
      ["strace -o '|touch x' ls", 'ls', 'touch'],
      ['ltrace -e malloc touch x', 'touch'],
      'strace -E LD_PRELOAD=./x.so ls',
      'strace $x',
    ],
    harmless: ['strace -p 123', 'strace -V', ['strace -c ls -l', 'ls']],
  },
  {
    names: ['gdb', 'gdbtui', 'cgdb', 'gdb-multiarch'],
    options: {
      singleDash: true,
      long: 'args batch batch-silent ex= eval-command= iex= init-eval-command= x= command= ix= init-command= nx n nh quiet q silent p= pid= c= core= d= directory= cd= s= symbols= e= exec= se= tty= tui i= interpreter= data-directory= D= return-child-result readnow readnever write version v help h configuration nw w fullname b= l=',
    },
    effects: gdbEffects,
    runs: [
      ["gdb -batch -ex 'shell touch x'", 'touch'],
      ["gdb -ex '!touch x' -batch", 'touch'],
      ["gdb --eval-command='shell touch x'", 'touch'],
      ["gdb -nx -iex 'shell touch x' -batch", 'touch'],
      ['gdb -batch -ex run --args touch x', 'touch'],
      ["gdb <<< 'shell touch x'", 'touch'],
      "gdb -batch -ex 'python import os' x",
      'gdb -p 1 -batch -ex \'call (int)system("touch x")\'',
      "gdb -ex 'pipe bt | touch x'",
      'gdb -ex "$x"',
      "gdb -batch -ex 'source x.py'",
      'gdb -batch -x script.gdb ./app',
      "gdb -ex 'she touch x'",
      "gdb -ex 'target remote | touch x'",
    ],
    harmless: [
      'gdb --version',
      "gdb -p 123 -batch -ex 'thread apply all bt'",
      'gdb ./app core -batch -ex bt',
    ],
  },
  {
    names: ['lldb'],
    options: {
      short: 'a:A:bc:do:O:k:K:s:S:p:n:wWQ:Xxlve:f:h',
      long: 'one-line= one-line-before-file= one-line-on-crash= source= source-before-file= source-on-crash= batch attach-pid= core= file= no-lldbinit version help arch= script-language=',
      stop: true,
    },
    effects: (call) => [
      ...call.options
        .values('o', 'O', 'k', 'one-line', 'one-line-before-file', 'one-line-on-crash')
        .flatMap((command) => debuggerCommand(call, command)),
      ...(runsTarget(call, ['o', 'O', 'one-line']) ? startsOperands(call) : []),
    ],
    runs: [
      ["lldb -o 'platform shell touch x' -b", 'touch'],
      "lldb -b -o 'script import os'",
      ['lldb -b -o run touch x', 'touch'],
    ],
    harmless: ['lldb --version', 'lldb -p 123 -b -o bt'],
  },
  {
    names: ['valgrind'],
    effects: (call) => [...valgrindOptions(call), ...startsPastDashes(call)],
    runs: [
      ['valgrind touch x', 'touch'],
      ['valgrind --leak-check=full --log-file=v.log touch x', 'touch'],
      'valgrind --db-attach=yes --db-command=./x ls',
      'valgrind --log-file=/etc/x ls',
    ],
    harmless: ['valgrind --version', ['valgrind -q --tool=callgrind ls', 'ls']],
  },
  {
    names: ['rr', 'heaptrack', 'uftrace', 'samply', 'flamegraph', 'py-spy', 'rbspy'],
    options: {
      short: 'o:p:f:d:r:n:s:h',
      long: 'output= pid= format= duration= rate= native subprocesses help version',
      stop: true,
    },
    effects: (call) => {
      // Without a subcommand, rr and uftrace record the program.
      const [first] = call.options.operands;
      const implicit = /^(?:rr|uftrace)$/.test(call.name) && !tracerVerbs.test(first?.text ?? '');
      if (implicit || /^(?:heaptrack|flamegraph)$/.test(call.name)) return startsOperands(call);
      return subcommands({
        'record live run top': {
          options: {
            short: 'o:p:f:d:r:n:s:h',
            long: 'output= pid= format= duration= rate= native subprocesses chaos',
            stop: true,
          },
          effects: startsOperands,
        },
      })(call);
    },
    runs: [
      ['rr record touch x', 'touch'],
      ['rr touch x', 'touch'],
      ['uftrace touch x', 'touch'],
      ['heaptrack touch x', 'touch'],
      ['py-spy record -o p.svg -- touch x', 'touch'],
    ],
    harmless: ['rr replay', 'py-spy dump --pid 1', ['heaptrack ls', 'ls']],
  },
  {
    names: ['perf'],
    options: {
      short: 'hv',
      long: 'version help exec-path[=] html-path list-opts debug= buildid-dir= no-pager paginate',
      stop: true,
    },
    effects: (call) => [
      ...call.options.given
        .filter(({ name, value }) => name === 'exec-path' && value)
        .map(({ at }) => refused(call, '--exec-path chooses which programs run', at)),
      ...subcommands({
        'record stat trace mem kmem lock c2c ftrace top sched timechart iostat kwork': {
          options: perfOptions,
          effects: allOf(writeOptions('o', 'output'), startsRecorded),
        },
        'report annotate diff inject': {
          effects: wordsLike(/^--(?:obj|addr|disas)/, 'would start a program'),
        },
        script: {
          effects: wordsLike(/^(?:--(?:script|gen|obj|addr|dlfilter)|-[a-zA-Z]*[sg])/, 'would run a script'),
        },
      })(call),
    ],
    runs: [
      ['perf stat touch x', 'touch'],
      ['perf record -g -o p.data -- touch x', 'touch'],
      ['perf stat -e cycles -r 3 touch x', 'touch'],
      ['perf trace touch x', 'touch'],
      ['perf sched record touch x', 'touch'],
      'perf --exec-path=. stat',
      'perf script -s x.py',
      'perf report --objdump=./x',
      'perf script --gen-script=python',
    ],
    harmless: [
      'perf report',
      'perf report --stdio -i perf.data',
      'perf script -i perf.data',
      'perf list',
      'perf sched latency',
      'perf record -p 123',
      ['perf stat -d ls', 'ls'],
    ],
  },
  {
    names: ['hyperfine'],
    options: {
      short: 'w:m:M:r:s:p:c:C:P:D:L:S:Nin:uV',
      long: 'warmup= min-runs= max-runs= runs= setup= prepare= cleanup= conclude= reference= parameter-scan= parameter-step-size= parameter-list= shell= style= sort= time-unit= export-asciidoc= export-csv= export-json= export-markdown= export-orgmode= show-output output= input= command-name= ignore-failure[=] help version',
    },
    effects: hyperfineEffects,
    runs: [
      ["hyperfine 'touch x'", 'touch'],
      ["hyperfine -w 3 'ls' 'touch x'", 'ls', 'touch'],
      ["hyperfine --prepare 'touch x' ls", 'ls', 'touch'],
      ["hyperfine -N 'touch x'", 'touch'],
      ["hyperfine -p'touch x' ls", 'ls', 'touch'],
      'hyperfine -S ./x ls',
      "hyperfine -L a '1;touch x' 'ls {a}'",
      'hyperfine "$x"',
    ],
    harmless: [
      'hyperfine --version',
      ["hyperfine --warmup 3 --export-json b.json 'ls -l' 'ls'", 'ls'],
      ["hyperfine -L n 1,2,3 'sleep {n}'", 'sleep'],
    ],
  },
  {
    names: [
      'ld.so',
      'ld-linux-x86-64.so',
      'ld-linux.so',
      'ld-linux-aarch64.so',
      'ld-linux-armhf.so',
      'ld-musl-x86_64.so',
      'ld-musl-aarch64.so',
    ],
    options: {
      long: 'verify list inhibit-cache library-path= glibc-hwcaps-prepend= glibc-hwcaps-mask= inhibit-rpath= audit= preload= argv0= list-tunables list-diagnostics help version',
      stop: true,
    },
    effects: (call) => [
      ...call.options
        .values('library-path', 'audit', 'preload')
        .map((at) => refused(call, 'loads code from a file', at)),
      ...(call.options.has('verify', 'list', 'list-tunables', 'list-diagnostics')
        ? []
        : startsOperands(call)),
    ],
    runs: [['ld.so /bin/touch x', 'touch'], 'ld.so --preload ./x.so /bin/ls', 'ld.so ./evil'],
    harmless: ['ld.so --help', 'ld.so --list /bin/ls', ['ld.so /bin/ls', 'ls']],
  },
];

const perfOptions = {
  short: 'ab:B:c:C:dD:e:F:gG:hi:I:jk:Klm:M:nNo:p:qr:Rs:St:TuU:vVW:w:x:zA',
  long: 'event= output= pid= tid= cpu= freq= count= mmap-pages= call-graph= all-cpus all-kernel all-user quiet verbose stat data timestamp delay= user-regs= intr-regs= switch-output[=] repeat= interval-print= field-separator= detailed per-core per-thread per-socket no-aggr null append metrics= topdown timeout= duration= summary with-summary filter= sort= max-stack= no-inherit inherit strict-freq delay= branch-any branch-filter= cgroup= transaction post= pre= no-buildid no-buildid-cache',
  stop: true,
};

/** `perf sched record` and similar commands have a second word before the program. */
function startsRecorded(call: ProgramCall): Effect[] {
  const [first, ...rest] = call.options.operands;
  const second = /^(?:record|report|latency|map|list|show|timehist|replay|stat|info|contention)$/.test(
    first?.text ?? '',
  );
  const hooks = shellOptions('post', 'pre')(call);
  if (!second) return [...hooks, ...startsOperands(call)];
  const argv = rest.filter((arg) => arg.text !== '--');
  return first?.text === 'record' && argv.length > 0 ? [...hooks, { does: 'start', argv }] : hooks;
}

/** Refuses the words of one form. */
function wordsLike(pattern: RegExp, reason: string): (call: ProgramCall) => Effect[] {
  return (call) =>
    call.args
      .filter((arg) => pattern.test(arg.text ?? ''))
      .map((at) => refused(call, `${at.text ?? ''} ${reason}`, at));
}

const tracerVerbs =
  /^(?:record|live|run|top|replay|report|dump|info|recv|graph|script|tui|ps|ls|pack|rerun|rm|help|version|sources|traceinfo|buildid|cpufeatures|mv|explicit-sources)$/;

function traceOutput(target: Arg): Effect {
  const start = prefixOf(target);
  if (!/^[|!]/.test(start)) return { does: 'write', path: target };
  return target.text === undefined
    ? { does: 'unknown', at: target, reason: 'what would read the trace cannot be known' }
    : { does: 'shell', text: knownArg(target.text.slice(1), target) };
}

function gdbEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  if (options.has('version', 'v', 'help', 'h', 'configuration')) return [];
  const given = options.values('ex', 'eval-command', 'iex', 'init-eval-command');
  const typed = stdinText(call)
    .split('\n')
    .map((line) => knownArg(line, call.self));
  const commands = [...given, ...typed].flatMap((command) => debuggerCommand(call, command));
  const files = options
    .values('x', 'command', 'ix', 'init-command')
    .map((at) => refused(call, 'would run the commands in a file; pass them with -ex', at));
  const runs = options.has('args') || runsTarget(call, ['ex', 'eval-command']);
  // After `--args` all words belong to the program.
  const mark = call.args.findIndex(({ text }) => /^--?args$/.test(text ?? ''));
  const argv = mark < 0 ? options.operands : call.args.slice(mark + 1);
  return [...commands, ...files, ...(runs && argv.length > 0 ? [{ does: 'start', argv } as const] : [])];
}

function runsTarget({ options }: ProgramCall, names: readonly string[]): boolean {
  return options
    .values(...names)
    .some((command) => /^\s*(?:r|run|start|starti|process launch)\b/.test(command.text ?? ''));
}

/** Judges one debugger command. */
function debuggerCommand(call: ProgramCall, command: Arg): Effect[] {
  const text = command.text;
  if (text === undefined)
    return [{ does: 'unknown', at: command, reason: `what ${call.name} would do cannot be known` }];
  const shell = /^\s*(?:(?:platform\s+)?shell\b|!|pipe\b[^|]*\||\|[^|]*\|)\s*(.*)$/s.exec(text)?.[1];
  if (shell !== undefined) return [{ does: 'shell', text: knownArg(shell, command) }];
  if (
    /^\s*(?:py|python|pi|python-interactive|gu|guile|gr|make|script|command script|source|define|add-auto-load)\b/.test(
      text,
    )
  )
    return [refused(call, `would run code: ${text}`, command)];
  const [word = ''] = /^\s*[\w!|.-]*/.exec(text) ?? [];
  if (call.name !== 'lldb' && !gdbCommands.has(word.trim()))
    return [refused(call, `${word.trim()} is not a command that is known to be harmless`, command)];
  if (/^\s*(?:target|tar|set\s+(?:exec-w|startup|remotee|auto-load|data-d|args.*[`$]))/.test(text))
    return [refused(call, `would start a program: ${text}`, command)];
  return /\b(?:system|popen|exec[lv]\w*|fork|posix_spawn\w*|dlopen)\s*\(/.test(text)
    ? [refused(call, 'would call a function that starts programs', command)]
    : [];
}

/** Commands of gdb that start nothing but the debugged program; abbreviations that gdb documents are included. */
const gdbCommands = new Set(
  ` # advance apply attach b backtrace break bt c catch cd cont continue core core-file d delete detach dir directory disable disas disassemble
  disp display down dump echo enable end f file fin finish fr frame generate-core-file gcore h handle help i ignore info inf j jump k kill l list
  maint n next nexti ni p po print printf ptype pwd q quit r rbreak ret return run s set sharedlibrary show si signal start starti step stepi
  symbol-file t taas tb tbreak tfaas thread thr until u undisplay up var watch rwatch awatch wa whatis where x info-line add-symbol-file
  condition commands tty output explore skip target tar set-args`.split(/\s+/),
);

function valgrindOptions(call: ProgramCall): Effect[] {
  return call.args.flatMap((arg): Effect[] => {
    const [, name = '', value = ''] = /^--([\w-]+)=(.*)$/s.exec(arg.text ?? '') ?? [];
    if (name === 'db-command') return [refused(call, '--db-command chooses what runs', arg)];
    const writes =
      /^(?:log-file|xml-file|callgrind-out-file|massif-out-file|cachegrind-out-file|dhat-out-file)$/.test(
        name,
      );
    return writes ? [{ does: 'write', path: knownArg(value, arg) }] : [];
  });
}

/** Every option is a single word; the first word without a dash is the program. */
function startsPastDashes({ args }: ProgramCall): Effect[] {
  const start = args.findIndex((arg) => !prefixOf(arg).startsWith('-') || arg.text === '--');
  const argv = start < 0 ? [] : args.slice(args[start]?.text === '--' ? start + 1 : start);
  return argv.length > 0 ? [{ does: 'start', argv }] : [];
}

function hyperfineEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  if (options.has('help', 'version', 'V')) return [];
  // `-L` takes two words and `-P` three; these values are not commands.
  const lists = call.args.filter((_, at) => /^(?:-L|--parameter-list)$/.test(call.args[at - 2]?.text ?? ''));
  const scans = call.args.filter((_, at) =>
    [2, 3].some((back) => /^(?:-P|--parameter-scan)$/.test(call.args[at - back]?.text ?? '')),
  );
  const texts = [
    ...options.operands.filter((word) => !lists.includes(word) && !scans.includes(word)),
    ...options.values('s', 'setup', 'p', 'prepare', 'c', 'cleanup', 'C', 'conclude', 'reference'),
  ];
  return [
    ...texts.map((text): Effect => ({ does: 'shell', text })),
    ...options
      .values('S', 'shell')
      .filter((shell) => !/^(?:none|default|(?:\/bin\/)?(?:ba)?sh)$/.test(shell.text ?? ''))
      .map((at) => refused(call, '-S chooses what runs', at)),
    ...[...lists, ...scans]
      .filter((list) => !/^[\w.,/:+-]*$/.test(list.text ?? ';'))
      .map((at) => refused(call, '-L puts text into commands', at)),
    ...writeOptions(
      'export-json',
      'export-csv',
      'export-markdown',
      'export-asciidoc',
      'export-orgmode',
    )(call),
  ];
}
