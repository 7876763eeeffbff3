import type { ProgramCall } from '../options/program-call.ts';
import { knownArg } from '../words/arg.ts';
import { allOf, startsAfter, startsOperands, unclearStart } from './effects.ts';
import { refused, shellStdin, unlessGiven } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Programs that start another one as a different user (`su`), in namespaces (`unshare`) or in a sandbox (`bwrap`). */
export const userWrapperPrograms: readonly ProgramEntry[] = [
  {
    names: ['su', 'runuser'],
    options: {
      short: 'c:flmpPTs:g:G:u:w:hV',
      long: 'command= session-command= fast login preserve-environment pty no-pty shell= group= supp-group= user= whitelist-environment= help version',
    },
    effects: suEffects,
    runs: [
      ["su -c 'touch x'", 'touch'],
      ["su - bob -c 'touch x'", 'touch'],
      ["su bob --command='touch x'", 'touch'],
      ["su --session-command 'touch x' bob", 'touch'],
      ["su -lc 'touch x' bob", 'touch'],
      ['runuser -u bob -- touch x', 'touch'],
      ['runuser -u bob touch x', 'touch'],
      "su -s ./evil -c 'ls' bob",
      'su',
      'su - bob',
    ],
    harmless: ['su --help', ["su -c 'ls -l' bob", 'ls'], ['runuser -u bob -- ls -l', 'ls']],
  },
  {
    names: ['sg', 'newgrp'],
    options: { short: 'c:', long: 'command=' },
    effects: sgEffects,
    runs: [
      ["sg staff 'touch x'", 'touch'],
      ["sg staff -c 'touch x'", 'touch'],
      ["sg - staff -c 'touch x'", 'touch'],
      ["newgrp staff <<< 'touch x'", 'touch'],
      'sg staff "$x"',
    ],
    harmless: [["sg staff -c 'ls -l'", 'ls']],
  },
  {
    names: ['pkexec'],
    options: { short: '', long: 'version help user= disable-internal-agent keep-cwd', stop: true },
    effects: (call) =>
      call.args.length === 0 ? [refused(call, 'starts a shell')] : [...startsOperands(call)],
    runs: [['pkexec touch x', 'touch'], ['pkexec --user bob touch x', 'touch'], 'pkexec'],
    harmless: ['pkexec --version', ['pkexec ls', 'ls']],
  },
  {
    names: ['setpriv'],
    options: {
      short: 'dhV',
      long: 'dump nnp no-new-privs ambient-caps= inh-caps= bounding-set= clear-groups keep-groups init-groups groups= list-caps rgid= egid= regid= ruid= euid= reuid= securebits= pdeathsig= ptracer= selinux-label= apparmor-profile= landlock-access= landlock-rule= seccomp-filter= reset-env help version',
      stop: true,
    },
    effects: startsOperands,
    runs: [
      ['setpriv --reuid=1000 --clear-groups touch x', 'touch'],
      ['setpriv --pdeathsig KILL touch x', 'touch'],
    ],
    harmless: ['setpriv --dump', ['setpriv --nnp ls', 'ls']],
  },
  {
    names: ['capsh'],
    options: { short: '+', long: 'print help modes has-p=', stop: true },
    effects: ({ args, self, name }) => {
      const unclear = args.find((arg) => arg.text === undefined);
      if (unclear !== undefined)
        return [{ does: 'unknown', at: unclear, reason: `what ${name} would start cannot be known` }];
      const shell = args.findIndex((arg) => arg.text === '--' || arg.text === '==');
      const rest = shell < 0 ? [] : args.slice(shell + 1);
      const bash: Effect = { does: 'start', argv: [knownArg('bash', self), ...rest] };
      const other = args.find((arg) => arg.text?.startsWith('--shell='));
      return [
        ...(other === undefined
          ? []
          : [{ does: 'refuse', at: other, reason: `${name} --shell chooses what runs` } as const]),
        ...(shell < 0 ? [] : [bash]),
      ];
    },
    runs: [["capsh --drop=all -- -c 'touch x'", 'bash', 'touch'], 'capsh --', 'capsh --shell=./x --'],
    harmless: ['capsh --print', 'capsh --decode=00'],
  },
  {
    names: ['chroot'],
    options: { short: 'u:g:G:', long: 'userspec= groups= skip-chdir help version', stop: true },
    effects: (call) =>
      call.options.operands.length === 1 ? [refused(call, 'starts a shell')] : startsAfter(1)(call),
    runs: [['chroot /mnt touch x', 'touch'], ['chroot --userspec=a:b /mnt touch x', 'touch'], 'chroot /mnt'],
    harmless: ['chroot --help', ['chroot /mnt ls', 'ls']],
  },
  {
    names: ['unshare'],
    options: {
      short: 'mnpuiUCTfrcR:S:G:w:hV',
      long: 'mount[=] uts[=] ipc[=] net[=] pid[=] user[=] cgroup[=] time[=] fork map-user= map-group= map-root-user map-current-user map-auto map-users= map-groups= kill-child[=] mount-proc[=] propagation= setgroups= keep-caps root= wd= setuid= setgid= monotonic= boottime= load-interp= mount-binfmt[=] help version',
      stop: true,
    },
    effects: unlessGiven(['h', 'V', 'help', 'version'], shellOrOperands),
    runs: [
      ['unshare -r touch x', 'touch'],
      ['unshare --pid --fork --kill-child touch x', 'touch'],
      'unshare -r',
    ],
    harmless: ['unshare --help', ['unshare -rn ls', 'ls']],
  },
  {
    names: ['nsenter'],
    options: {
      short: 'at:m::u::i::n::p::C::U::T::G:S:r::w::W:FZehV',
      long: 'all target= mount[=] uts[=] ipc[=] net[=] pid[=] cgroup[=] user[=] time[=] setgid= setuid= preserve-credentials root[=] wd[=] wdns= env no-fork follow-context join-cgroup user-parent keep-caps help version',
      stop: true,
    },
    effects: unlessGiven(['h', 'V', 'help', 'version'], shellOrOperands),
    runs: [
      ['nsenter -t 1 -m -p touch x', 'touch'],
      ['nsenter --target=1 --all touch x', 'touch'],
      'nsenter -t 1 -a',
    ],
    harmless: ['nsenter --version', ['nsenter -t 1 -n ls', 'ls']],
  },
  {
    names: ['bwrap'],
    effects: (call) => startsAfterOptions(call, bwrapValues),
    runs: [
      ['bwrap --ro-bind / / --unshare-all touch x', 'touch'],
      ['bwrap --dev-bind / / -- touch x', 'touch'],
      'bwrap --args 3 ls',
      'bwrap --bind / / $x',
    ],
    harmless: ['bwrap --version', ['bwrap --ro-bind / / --setenv A 1 --proc /proc ls', 'ls']],
  },
  {
    names: ['firejail'],
    options: { short: 'c', stop: true },
    effects: ({ args, self, name }) => {
      const start = args.findIndex((arg) => !/^--./.test(arg.text ?? ''));
      const asking = args.some((arg) => /^--(?:list|tree|top|help|version|ls=|get=)/.test(arg.text ?? ''));
      const argv = start < 0 ? [] : args.slice(args[start]?.text === '--' ? start + 1 : start);
      if (argv.length > 0) return [{ does: 'start', argv }];
      return asking ? [] : [{ does: 'refuse', at: self, reason: `${name} starts a shell` }];
    },
    runs: [['firejail --net=none touch x', 'touch'], 'firejail --noprofile'],
    harmless: ['firejail --list', ['firejail --private -- ls', 'ls']],
  },
  {
    names: [
      'proot',
      'fakeroot',
      'fakeroot-sysv',
      'fakeroot-tcp',
      'fakeroot-ng',
      'pseudo',
      'eatmydata',
      'faketime',
      'libfaketime',
    ],
    options: {
      short: 'r:b:q:w:k:v:0i:R:S:Vhl:s:fum:p:c:',
      long: 'rootfs= bind= qemu= cwd= kernel-release= verbose= root-id lib= faked= unknown-is-real fd-base= help version exclude-monotonic',
      stop: true,
    },
    effects: (call) => {
      const skipped = call.name.endsWith('faketime') ? 1 : 0;
      const loads = call.options.has('lib', 'faked', 'l') && call.name.startsWith('fake');
      return [
        ...(loads ? [refused(call, 'would load code from a file')] : []),
        ...(call.options.operands.length <= skipped && !call.options.has('h', 'V', 'help', 'version')
          ? [refused(call, 'starts a shell')]
          : startsAfter(skipped)(call)),
      ];
    },
    runs: [
      ['fakeroot touch x', 'touch'],
      ['fakeroot -- touch x', 'touch'],
      ['proot -r root -b /proc touch x', 'touch'],
      ["faketime '2020-01-01' touch x", 'touch'],
      'fakeroot',
      'fakeroot --lib ./x.so ls',
    ],
    harmless: [['fakeroot ls', 'ls'], 'fakeroot --version'],
  },
  {
    names: ['systemd-run'],
    options: {
      short: 'H:M:rp:tPqGdShu:E:',
      long: 'user system scope unit= property= description= slice= slice-inherit expand-environment= remain-after-exit send-sighup service-type= uid= gid= nice= working-directory= same-dir setenv= pty pipe quiet on-active= on-boot= on-startup= on-unit-active= on-unit-inactive= on-calendar= on-clock-change on-timezone-change path-property= socket-property= timer-property= no-block wait collect no-ask-password host= machine= shell background= ignore-failure pty-late json= help version',
      stop: true,
    },
    effects: allOf(systemdProperties, unlessGiven(['h', 'help', 'version'], shellOrOperands)),
    runs: [
      ['systemd-run --user --scope touch x', 'touch'],
      ['systemd-run -p MemoryMax=1G touch x', 'touch'],
      'systemd-run --shell',
      'systemd-run -p ExecStartPre=./x ls',
    ],
    harmless: ['systemd-run --version', ['systemd-run --user -p MemoryMax=1G ls', 'ls']],
  },
  {
    names: ['start-stop-daemon'],
    options: {
      short: 'SKTHVp:x:a:n:u:g:c:s:k:r:d:R:N:P:I:O:bCmoqvt:',
      long: 'start stop status help version pidfile= exec= startas= name= user= group= chuid= signal= chroot= chdir= retry= nicelevel= procsched= iosched= umask= output= background no-close make-pidfile remove-pidfile notify-await notify-timeout= oknodo quiet verbose test pid= ppid=',
    },
    effects: (call) => {
      const { options } = call;
      const program = options.last('a', 'startas') ?? options.last('x', 'exec');
      const starts = options.has('S', 'start') && program !== undefined;
      const start: Effect[] = starts ? [{ does: 'start', argv: [program, ...options.operands] }] : [];
      return [...unclearStart(call), ...start];
    },
    runs: [
      ['start-stop-daemon --start --exec touch -- x', 'touch'],
      ['start-stop-daemon -S -b -x touch', 'touch'],
      ['start-stop-daemon -S -x ls -a touch', 'touch'],
    ],
    harmless: ['start-stop-daemon --stop --pidfile x.pid', 'start-stop-daemon -T -p x.pid'],
  },
];

function suEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  if (options.has('h', 'V', 'help', 'version')) return [];
  const shell = options.last('s', 'shell');
  const chosen: Effect[] =
    shell === undefined || /^\/(?:usr\/)?bin\/(?:ba|da)?sh$/.test(shell.text ?? '')
      ? []
      : [refused(call, '-s chooses the shell that runs', shell)];
  const texts = options.values('c', 'command', 'session-command');
  if (texts.length > 0) return [...chosen, ...texts.map((text): Effect => ({ does: 'shell', text }))];
  // `runuser -u USER PROGRAM …` starts the program without a shell.
  if (options.has('u', 'user') && options.operands.length > 0)
    return [{ does: 'start', argv: options.operands }];
  return [...chosen, ...shellStdin(call)];
}

/** `sg GROUP [-c] COMMAND` passes the command to a shell; without a command, the shell reads stdin. */
function sgEffects(call: ProgramCall): Effect[] {
  const [, command] = call.options.operands.filter((word) => word.text !== '-');
  const texts = [...call.options.values('c', 'command'), ...(command === undefined ? [] : [command])];
  return texts.length > 0 ? texts.map((text) => ({ does: 'shell', text })) : shellStdin(call);
}

/** Without a program, it starts a shell. */
function shellOrOperands(call: ProgramCall): Effect[] {
  return call.options.operands.length > 0
    ? startsOperands(call)
    : [...unclearStart(call), refused(call, 'starts a shell')];
}

/** The number of values of each `bwrap` option; options that are not listed take none. */
const bwrapValues: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'bind bind-try dev-bind dev-bind-try ro-bind ro-bind-try symlink setenv file bind-data ro-bind-data chmod bind-fd ro-bind-fd overlay'
      .split(' ')
      .map((name) => [`--${name}`, 2]),
  ),
  ...Object.fromEntries(
    'proc dev tmpfs mqueue dir unsetenv chdir uid gid hostname exec-label file-label seccomp add-seccomp-fd sync-fd block-fd userns-block-fd info-fd json-status-fd lock-file perms size remount-ro cap-add cap-drop userns userns2 pidns argv0 tmp-overlay ro-overlay overlay-src'
      .split(' ')
      .map((name) => [`--${name}`, 1]),
  ),
};

function startsAfterOptions(
  { args, name, self }: ProgramCall,
  values: Readonly<Record<string, number>>,
): Effect[] {
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at]?.text;
    if (word === '--args')
      return [{ does: 'unknown', at: args[at] ?? self, reason: `${name} reads its options` }];
    if (word === '--') {
      at++;
      break;
    }
    if (word === undefined || !word.startsWith('--')) break;
    at += values[word] ?? 0;
  }
  const argv = args.slice(at);
  return argv.length === 0 ? [] : [{ does: 'start', argv }];
}

function systemdProperties(call: ProgramCall): Effect[] {
  return call.options
    .values('p', 'property', 'path-property', 'socket-property', 'timer-property')
    .filter(
      (property) =>
        property.text === undefined || /^(?:Exec|Environment|RootImage|BindPaths)/i.test(property.text),
    )
    .map((property) => refused(call, '-p chooses what runs', property));
}
