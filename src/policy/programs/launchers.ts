import type { ProgramCall } from '../options/program-call.ts';
import { knownArg } from '../words/arg.ts';
import { joinWords, startsAfter, startsOperands, unclearStart } from './effects.ts';
import { refused, shellStdin, unlessGiven, writeOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { judgeWritten } from './written-files.ts';

const asking = ['h', 'V', 'help', 'version'];

/** Programs that start another one on certain CPUs (`taskset`), in a terminal (`script`), repeatedly (`watch`), under a lock (`flock`) or later (`at`). */
export const launcherPrograms: readonly ProgramEntry[] = [
  {
    names: ['chrt'],
    closed: [],
    options: {
      short: 'bdfiorRT:P:D:apmvhV',
      long: 'batch deadline fifo idle other rr ext reset-on-fork sched-runtime= sched-period= sched-deadline= all-tasks max pid verbose help version',
      stop: true,
    },
    effects: unlessGiven(['p', 'm', 'pid', 'max', ...asking], startsAfter(1)),
    runs: [
      ['chrt -f 10 touch x', 'touch'],
      ['chrt --rr 5 touch x', 'touch'],
    ],
    harmless: ['chrt -p 123', 'chrt -m', ['chrt -i 0 ls', 'ls']],
  },
  {
    names: ['taskset'],
    closed: [],
    options: { short: 'apchV', long: 'all-tasks pid cpu-list help version', stop: true },
    effects: unlessGiven(['p', 'pid', ...asking], startsAfter(1)),
    runs: [
      ['taskset -c 0,1 touch x', 'touch'],
      ['taskset 0x3 touch x', 'touch'],
    ],
    harmless: ['taskset -cp 123', 'taskset -p 1', ['taskset -c 0 ls', 'ls']],
  },
  {
    names: ['numactl', 'numad'],
    options: {
      short: 'i:w:N:C:m:p:P:laHsbo:S:f:L:M:uv',
      long: 'all balancing interleave= weighted-interleave= cpunodebind= physcpubind= membind= preferred= preferred-many= localalloc show hardware huge length= offset= shmmode= shm= shmid= file= touch',
      stop: true,
    },
    effects: startsOperands,
    runs: [
      ['numactl -N 0 -m 0 touch x', 'touch'],
      ['numactl --interleave=all touch x', 'touch'],
    ],
    harmless: ['numactl --hardware', 'numactl -s', ['numactl -l ls', 'ls']],
  },
  {
    names: ['cpulimit'],
    options: {
      short: 'l:p:e:P:c:zikmqrsbfvh',
      long: 'limit= pid= exe= path= lazy include-children kill background foreground verbose help',
      stop: true,
    },
    effects: startsOperands,
    runs: [
      ['cpulimit -l 50 touch x', 'touch'],
      ['cpulimit -l 50 -- touch x', 'touch'],
    ],
    harmless: ['cpulimit -p 123 -l 10', ['cpulimit -l 50 ls', 'ls']],
  },
  {
    names: ['xvfb-run', 'dbus-run-session', 'dbus-launch', 'startx', 'xinit', 'cage', 'weston-launch'],
    options: {
      short: 'ae:f:hln:p:s:w:',
      long: 'auto-servernum error-file= auth-file= server-num= listen-tcp xauth-protocol= server-args= wait= config-file= dbus-daemon= autolaunch= exit-with-session exit-with-x11 close-stderr sh-syntax csh-syntax daemon help version',
      stop: true,
    },
    effects: (call) => [
      ...call.options
        .values('config-file', 'dbus-daemon')
        .map((at) => refused(call, 'chooses what runs', at)),
      ...startsOperands(call),
    ],
    runs: [
      ['xvfb-run -a touch x', 'touch'],
      ["xvfb-run --server-args='-screen 0 1x1x24' touch x", 'touch'],
      ['dbus-run-session -- touch x', 'touch'],
      'dbus-run-session --dbus-daemon=./x ls',
    ],
    harmless: ['dbus-launch --version', ['xvfb-run -a ls', 'ls']],
  },
  {
    names: ['watch', 'gwatch'],
    closed: [],
    options: {
      short: 'bcCd::egn:pq:rs:tvwxh',
      long: 'beep color no-color differences[=] errexit chgexit equexit= interval= precise no-rerun shotsdir= no-title no-wrap exec help version',
      stop: true,
    },
    effects: (call) => {
      const { operands } = call.options;
      if (operands.length === 0 || call.options.has('h', 'help', 'v', 'version')) return [];
      if (call.options.has('x', 'exec')) return startsOperands(call);
      return [...unclearStart(call), { does: 'shell', text: joinWords(operands, call.self) }];
    },
    runs: [
      ['watch touch x', 'touch'],
      ['watch -n 1 -d touch x', 'touch'],
      ["watch 'ls; touch x'", 'ls', 'touch'],
      ['watch --interval=2 -x touch x', 'touch'],
      'watch "$x"',
    ],
    harmless: [['watch -n 5 ls -l', 'ls'], ["watch -d 'ls | wc -l'", 'ls', 'wc'], 'watch --version'],
  },
  {
    names: ['flock'],
    closed: [],
    options: {
      short: 'sxeunow:E:Fc:vhV',
      long: 'shared exclusive unlock nonblock timeout= conflict-exit-code= close no-fork command= verbose fcntl help version',
      stop: true,
    },
    effects: flockEffects,
    runs: [
      ['flock /tmp/l touch x', 'touch'],
      ["flock /tmp/l -c 'touch x'", 'touch'],
      ["flock -n /tmp/l --command 'touch x'", 'touch'],
      ["flock /tmp/l --command='touch x'", 'touch'],
      ["flock -c 'touch x' /tmp/l", 'touch'],
      ["flock -w 5 -x /tmp/l sh -c 'touch x'", 'sh', 'touch'],
      'flock /tmp/l $x',
    ],
    harmless: [
      'flock -n 9',
      'flock -u 9',
      ['flock -w 10 /tmp/l ls -l', 'ls'],
      ["flock /tmp/l -c 'ls'", 'ls'],
    ],
  },
  {
    names: ['script', 'scriptlive', 'asciinema', 'termtosvg'],
    options: {
      short: 'ac:E:efB:I:O:T:t::m:o:qhVFkprd',
      long: 'append command= echo= return flush force log-io= log-in= log-out= log-timing= logging-format= output-limit= quiet timing[=] overwrite stdin idle-time-limit= title= help version',
    },
    effects: scriptEffects,
    runs: [
      ["script -c 'touch x' log", 'touch'],
      ["script -qec 'touch x' /dev/null", 'touch'],
      ["script --command='touch x'", 'touch'],
      ['script -q /dev/null touch x', 'touch'],
      ["script log <<< 'touch x'", 'touch'],
      ["asciinema rec -c 'touch x' out.cast", 'touch'],
      'script log',
      "script -c 'ls' ~/.bashrc",
    ],
    harmless: [["script -qc 'ls -l' /dev/null", 'ls'], 'script --version', 'asciinema play out.cast'],
  },
  {
    names: ['at', 'batch'],
    options: { short: 'Vq:mMlrdbvc:f:t:', long: '' },
    effects: (call) => [
      ...call.options.values('f').map((at) => refused(call, '-f runs the commands of a file', at)),
      ...judgeWritten(call, call.options.values('f'), (text) => [{ does: 'perhaps', text }]),
      ...unlessGiven(['l', 'r', 'd', 'c', 'V', 'f'], shellStdin)(call),
    ],
    runs: [
      ["echo 'touch x' | at now", 'echo', 'touch'],
      ["at now + 1 minute <<< 'touch x'", 'touch'],
      ['batch <<E\ntouch x\nE', 'touch'],
      'at now',
      'at -f job.sh now',
      'curl x | at now',
    ],
    harmless: ['at -l', 'at -d 3', ["echo 'ls' | at now", 'echo', 'ls']],
  },
  {
    names: ['crontab'],
    options: { short: 'u:lreinsTV' },
    effects: crontabEffects,
    runs: [
      'crontab -e',
      "echo '* * * * * touch x' | crontab -",
      ['crontab - <<E\n0 5 * * * touch x\nE', 'touch'],
      ['crontab <<E\n@reboot touch x\nE', 'touch'],
      'crontab -',
      'crontab new.cron',
      "crontab - <<< 'SHELL=./x'",
    ],
    harmless: ['crontab -l', 'crontab -l -u bob'],
  },
  {
    names: ['tsp', 'ts', 'nq', 'pueue'],
    options: { short: 'nfmBdL:N:D:W:E:', long: 'label= after= help version', stop: true },
    effects: (call) => {
      if (call.name === 'ts') return [];
      if (call.name !== 'pueue') return startsOperands(call);
      const [word, ...rest] = call.options.operands;
      const text = rest.filter((arg) => !/^-/.test(arg.text ?? ''));
      return word?.text === 'add'
        ? [{ does: 'shell', text: joinWords(text, call.self) }]
        : unclearStart(call);
    },
    runs: [
      ['tsp touch x', 'touch'],
      ["pueue add -- 'touch x'", 'touch'],
    ],
    harmless: ['pueue status', "ts '%H:%M'", ['nq ls', 'ls']],
  },
  {
    names: ['run-parts'],
    effects: (call) => [refused(call, 'runs every program in a directory')],
    runs: ['run-parts ./dir'],
    harmless: [],
  },
  {
    names: ['entr'],
    options: { short: 'acdnprsx', stop: true },
    effects: (call) => {
      const { operands } = call.options;
      const [text] = operands;
      if (call.options.has('s')) return text === undefined ? [] : [{ does: 'shell', text }];
      const [program, ...rest] = operands;
      // `entr` replaces `/_` with the changed file, which may also be the program.
      const changed = program?.text === '/_' ? refused(call, 'runs the file that changed') : undefined;
      return changed
        ? [changed]
        : program
          ? [...unclearStart(call), { does: 'start', argv: [program, ...rest], stdin: 'none' }]
          : [];
    },
    runs: [
      ['ls | entr touch x', 'ls', 'touch'],
      ["ls | entr -s 'touch x'", 'ls', 'touch'],
      ['ls *.c | entr -rc touch x', 'ls', 'touch'],
      'ls | entr /_',
    ],
    harmless: [['ls | entr -c wc -l', 'ls', 'wc']],
  },
  {
    names: [
      'xterm',
      'gnome-terminal',
      'konsole',
      'urxvt',
      'rxvt',
      'alacritty',
      'kitty',
      'foot',
      'st',
      'x-terminal-emulator',
      'xfce4-terminal',
    ],
    effects: terminalEffects,
    runs: [
      ['xterm -e touch x', 'touch'],
      ['gnome-terminal -- touch x', 'touch'],
      ["xfce4-terminal --command='touch x'", 'touch'],
      'xterm',
      'xterm -hold',
    ],
    harmless: ['xterm -version', 'kitty --version', ['alacritty -e ls', 'ls']],
  },
];

function flockEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  if (options.has(...asking)) return [];
  const before = options.values('c', 'command').map((text): Effect => ({ does: 'shell', text }));
  const [, next, text, ...more] = options.operands;
  if (/^(?:-c|--co.*)$/.test(next?.text ?? '')) {
    const attached = next?.text?.split('=').slice(1).join('=');
    const handed = attached ? knownArg(attached, next ?? call.self) : text;
    return [
      ...before,
      ...(handed === undefined || more.length > 0 ? [] : [{ does: 'shell', text: handed } as const]),
    ];
  }
  return [...before, ...startsAfter(1)(call)];
}

function scriptEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  if (options.has('h', 'V', 'help', 'version')) return [];
  const texts = options.values('c', 'command').map((text): Effect => ({ does: 'shell', text }));
  if (call.name === 'asciinema' && options.operands[0]?.text !== 'rec') return unclearStart(call);
  const [file, ...argv] = call.name === 'asciinema' ? options.operands.slice(1) : options.operands;
  const log: Effect[] = [
    ...(file === undefined ? [] : [{ does: 'write', path: file } as const]),
    ...writeOptions('I', 'O', 'T', 'B', 'log-io', 'log-in', 'log-out', 'log-timing')(call),
  ];
  if (texts.length > 0) return [...log, ...texts];
  if (argv.length > 0) return [...log, ...unclearStart(call), { does: 'start', argv }];
  return [
    ...log,
    ...(call.stdin === 'none' || call.stdin.more ? [refused(call, 'starts a shell')] : shellStdin(call)),
  ];
}

/** The commands of a crontab read from stdin; the contents of a file, or from an editor, are unknown. */
function crontabEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  if (options.has('l', 'r', 'V', 'n', 'T')) return [];
  const [file] = options.operands;
  if (options.has('e')) return [refused(call, '-e starts an editor')];
  if (file !== undefined && file.text !== '-' && file.text !== '/dev/stdin')
    return [refused(call, 'would schedule the commands in a file', file)];
  const table = call.stdin === 'none' ? { text: '', more: false } : call.stdin;
  const commands = table.text
    .split('\n')
    .map((line) => /^\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+(.+)$/.exec(line)?.[1])
    .flatMap((text): Effect[] =>
      text === undefined ? [] : [{ does: 'shell', text: knownArg(text, call.self) }],
    );
  const settings = table.text.split('\n').some((line) => /^\s*(?:SHELL|PATH|BASH_ENV|LD_\w+)\s*=/.test(line));
  const unclear = table.more || settings;
  return unclear
    ? [...commands, { does: 'unknown', at: call.self, reason: 'what cron would run cannot be known' }]
    : commands;
}

/** Terminal emulators: the program follows `-e`, `-x` or `--`; without one they start a shell. */
function terminalEffects(call: ProgramCall): Effect[] {
  const { args } = call;
  if (args.some((arg) => /^--?(?:v|version|help|h)$/.test(arg.text ?? ''))) return [];
  const attached = args.find((arg) => /^--(?:command|execute)=/.test(arg.text ?? ''));
  if (attached?.text !== undefined)
    return [{ does: 'shell', text: knownArg(attached.text.replace(/^[^=]*=/, ''), attached) }];
  const mark = args.findIndex((arg) => /^(?:-e|-x|--|--command|--execute|-E)$/.test(arg.text ?? ''));
  const argv = mark < 0 ? (call.name === 'kitty' || call.name === 'foot' ? args : []) : args.slice(mark + 1);
  const [first] = argv;
  if (first === undefined) return [refused(call, 'starts a shell')];
  return argv.length === 1 ? [{ does: 'shell', text: first }] : [{ does: 'start', argv }];
}
