import type { ProgramCall } from '../options/program-call.ts';
import { prefixOf } from '../words/arg.ts';
import { startsAfter, unclearStart } from './effects.ts';
import { refused, type Sub, startingSub, subcommands, unlessGiven } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Small programs that start the program named in their arguments, such as `logsave`, `msgexec` and `mpirun`. */
export const starterPrograms: readonly ProgramEntry[] = [
  ...[
    starter(
      'prlimit',
      'c::d::e::f::i::l::m::n::p:q::r::s::t::u::v::x::y::o:',
      'core[=] data[=] nice[=] fsize[=] sigpending[=] memlock[=] rss[=] nofile[=] msgqueue[=] rtprio[=] stack[=] cpu[=] nproc[=] as[=] locks[=] rttime[=] pid= noheadings raw verbose output=',
    ),
    starter('choom', 'n:p:', 'adjust= pid='),
    starter('cgexec', 'g:', 'sticky'),
    starter('systemd-inhibit', '', 'what= who= why= mode= no-pager no-legend list no-ask-password json='),
    starter('systemd-cat', 't:p:', 'identifier= priority= stderr-priority= level-prefix= namespace='),
    starter('caffeinate', 'disut:w:', ''),
    starter('tini tini-static docker-init', 'p:svwge:l', ''),
    starter('gnome-session-inhibit', 'l', 'app-id= reason= inhibit= inhibit-only list'),
    starter('debconf', 'o:f:p:', 'owner= frontend= priority= terse'),
    starter('tcpsvd udpsvd', 'hEvb:C:u:l:c:', '', 2),
    starter('dumb-init', 'cvr:', 'rewrite= single-child verbose'),
    starter('catatonit', 'gLP', ''),
    starter('s6-setsid', 'sbfgiIqd:', ''),
    starter('pidproxy', '', '', 1),
    starter('torsocks', 'u:p:a:P:diq', 'user= pass= address= port= isolate debug quiet on off show'),
    starter('torify tsocks ifne chronic', 'nve', ''),
    starter('proxychains proxychains4', 'qf:', ''),
    starter(
      'rlwrap',
      'a::A::b:cC:D:e:Ef:F:g:H:iIl:m::M:nNoO:p::P:q:rRs:S:t:U:vw:WxX',
      'always-readline[=] ansi-colour-aware[=] break-chars= complete-filenames command-name= history-no-dupes= extra-char-after-completion= file= history-format= forget-matching= history-filename= case-insensitive pass-sigint-as-sigterm logfile= multi-line[=] multi-line-ext= no-warnings no-children one-shot prompt-regexp= prompt-colour[=] pre-given= quote-characters= remember renice histsize= substitute-prompt= set-term-name= mirror-arguments= wait-before-prompt= polling only-cook=',
    ),
    starter('trickle', 'vsd:u:w:t:l:n:p:', ''),
    starter('lockrun', 'L:WS:R:T:QIv', 'lockfile= wait sleep= retries= maxtime= quiet idempotent verbose'),
    starter('retry', 'd:m:t:u:v', 'delay= message= times= until= verbose'),
    starter(
      'ccache',
      'cCszxpk:F:M:v',
      'cleanup clear show-stats zero-stats show-config get-config= max-size= max-files= verbose print-stats',
    ),
    starter(
      'sccache',
      'sz',
      'show-stats zero-stats start-server stop-server show-adv-stats dist-status stats-format=',
    ),
    starter('distcc icecc', 'j', 'show-hosts scan-includes show-principal build-native'),
    starter('bear', 'o:av', 'output= append verbose force-preload force-wrapper'),
    starter(
      'scan-build',
      'vk',
      'o= v k analyze-headers enable-checker= disable-checker= status-bugs html-title= plist plist-html keep-going exclude= maxloop= stats no-failure-reports',
      0,
      true,
    ),
    starter('intercept-build intercept', 'v', 'cdb= append verbose'),
    starter(
      'compiledb',
      'p:o:d:e:nfSv',
      'parse= output= build-dir= exclude= no-build overwrite full no-strict command-style verbose',
    ),
    starter('dtach', 'a:A:c:n:N:p:e:Er:z', ''),
    starter('abduco', 'aAcne:fpqrlv', '', 1),
    starter('daemonize', 'ac:e:E:o:p:l:u:v', ''),
    starter(
      'dzdo sudo-rs',
      'AbBEHKklnPSvC:D:g:p:R:r:t:T:U:u:',
      'askpass background bell close-from= chdir= preserve-env[=] group= set-home host= list non-interactive preserve-groups prompt= role= stdin type= command-timeout= other-user= user= validate remove-timestamp reset-timestamp',
    ),
    starter('please', 'a:d:g:lnt:u:', 'allowenv= dir= group= list noprompt target= user= warm purge'),
    starter('pfexec calife', 'P:', ''),
    starter('fakechroot', 'sl:de:c:b:', 'use-system-libs elfloader= environment= config-dir= bindir='),
    starter('gosu su-exec setuidgid envuidgid envdir setlock', 'nNxX', '', 1),
    starter('chpst', 'u:U:b:e:/:n:l:L:m:d:o:p:f:c:r:t:Pv012', ''),
    starter('softlimit', 'm:d:s:l:a:o:p:f:c:r:t:', ''),
    starter(
      'memusage',
      'p:d:n:b:utmT:x:y:',
      'progname= png= data= unbuffered buffer= no-timer mmap total time-based title= x-size= y-size= usage',
    ),
    starter('sotruss', 'F:T:o:ef', 'from= to= output= exit follow'),
    starter('logsave', 'asv', '', 1),
    starter('fstab-decode', '', ''),
    starter(
      'debconf-apt-progress',
      '',
      'from= to= config start start-with= stop no-progress dlwaypoint= logfile= logstderr',
    ),
    starter('nocache', 'D:n:', ''),
    starter('not', '', 'crash'),
    starter('zrun', '', ''),
    starter('lckdo', 'wW:etQE:sx', '', 1),
    starter('annotate-output cronic fghack pgrphack readproctitle s6-fghack', '', ''),
    starter('s6-setlock s6-envdir s6-setuidgid s6-envuidgid chruby-exec timed-run', 'nNrwt:fLiI', '', 1),
    starter(
      'systemd-socket-activate',
      'l:aE:d',
      'listen= accept setenv= fdname= inetd datagram seqpacket now',
    ),
    starter(
      'systemd-nspawn',
      'D:M:u:bqxP',
      'directory= machine= user= boot quiet ephemeral pipe chdir= setenv= as-pid2 private-network read-only',
    ),
    starter(
      'mpirun mpiexec orterun prterun srun salloc',
      'n:c:N:H:x:q',
      'np= n= ntasks= nodes= host= hostfile= oversubscribe allow-run-as-root quiet partition= time= mem= gres= cpus-per-task= job-name=',
      0,
      true,
    ),
    starter(
      'gdbserver',
      '',
      'once debug multi no-startup-with-shell startup-with-shell disable-randomization no-disable-randomization wrapper=',
      1,
    ),
    starter('aa-exec', 'p:n:idv', 'profile= namespace= immediate debug verbose'),
    starter('seunshare', 't:h:Z:C:k', 'tmpdir= homedir= verbose kill'),
    starter('minijail0 nsjail', 'u:g:nprvC:b:P:S:T:eqMoQ', 'chroot= user= group= quiet'),
    starter('hugectl', '', 'heap text data bss shm force verbose= explain'),
    starter('gamemoderun mangohud primusrun optirun prime-run socksify usewithtor', '', 'dlsym'),
    starter(
      'kcov',
      '',
      'include-path= exclude-path= include-pattern= exclude-pattern= clean verify merge cobertura-only collect-only report-only',
      1,
    ),
    starter(
      'operf ocount',
      'ptg e:lsf:i:',
      'pid= system-wide events= lazy-conversion separate-cpu separate-thread callgraph',
    ),
    starter('gp-collect-app', 'o:p:h:F:A:d:y:l:t:', ''),
    starter(
      'c8 nyc',
      'r:x:n:e:',
      'reporter= include= exclude= all check-coverage lines= branches= functions= statements= reports-dir= temp-dir= temp-directory= report-dir= extension= clean silent src= skip-full',
    ),
    starter(
      'viddy hwatch',
      'n:dtpbexs:c',
      'interval= differences[=] no-title precise beep errexit exec color',
    ),
    starter('autoexpect', 'f:pcqQC:P:', ''),
    starter('dislocate', '', ''),
    starter('tcpserver tcpclient', 'qQvhHpPdDoOrRl:c:x:b:g:u:t:i:B:1XU', '', 2),
    starter('micro-inetd', '', '', 1),
    starter(
      'faucet hose',
      '0123456789s:',
      'in out err fd= once verbose quiet unix foreignhost= localhost= serial daemon shutdown[=] delay= retry= netslave',
      2,
    ),
    starter('mosh-server', '', ''),
    starter(
      'schroot dchroot',
      'abc:d:epqru:n:s:lif',
      'chroot= directory= user= session-name= preserve-environment list info config all quiet begin-session run-session end-session recover-session automatic-session force option=',
    ),
    starter(
      'flatpak-spawn',
      'v',
      'verbose forward-fd= clear-env watch-bus env= latest-version no-network sandbox sandbox-expose= directory= host',
    ),
    starter('envconsul summon', 'p:f:e:D:', 'once'),
    starter(
      'msgfilter',
      'i:o:D:nPs',
      'input= directory= output-file= newline keep-header force-po indent no-location add-location[=] strict width= no-wrap sort-output sort-by-file no-escape escape properties-input stringtable-input properties-output',
    ),
    starter('msgexec', 'i:D:P', 'input= directory= newline properties-input stringtable-input'),
    starter(
      'daemon',
      'n:P:X:u:rFo:l:D:e:NiU',
      'name= pidfile= pidfiles= command= user= respawn output= stdout= stderr= errlog= dbglog= chdir= env= unsafe inherit foreground noconfig running stop verbose[=] debug[=]',
    ),
    starter('luit', 'vhlVcpxk:', '', 0, true),
    starter('pg_virtualenv', 'av:p:o:i:c:st', ''),
    starter('dvtm', 'Mm:d:h:t:s:c:v', ''),
  ],
  {
    names: ['ttyrec'],
    options: { short: 'aue:f:hV', long: 'help version', stop: true },
    effects: (call) => {
      if (call.options.has('help', 'version', 'h', 'V')) return [];
      const typed = call.options.values('e').map((text): Effect => ({ does: 'shell', text }));
      const mark = call.args.findIndex(({ text }) => text === '--');
      if (mark >= 0) return [...typed, { does: 'start', argv: call.args.slice(mark + 1) }];
      return typed.length > 0 ? typed : [refused(call, 'starts a shell')];
    },
    runs: [["ttyrec -e 'touch x'", 'touch'], ['ttyrec -f a -- touch x', 'touch'], 'ttyrec a'],
    harmless: [["ttyrec -e 'ls' a", 'ls']],
  },
  {
    names: ['uclampset'],
    options: {
      short: 'asm:M:p:vRhV',
      long: 'all-tasks system pid= reset-on-fork verbose help version',
      stop: true,
    },
    effects: (call) =>
      call.options.has('p', 'pid', 'h', 'V', 'help', 'version') ? [] : startsAfter(0)(call),
    runs: [['uclampset -m 5 touch x', 'touch']],
    harmless: ['uclampset -p 12', ['uclampset -m 5 ls', 'ls']],
  },
  {
    names: ['runcon'],
    options: { short: 'ct:u:r:l:', long: 'compute type= user= role= range= help version', stop: true },
    effects: (call) => {
      if (call.options.has('help', 'version')) return [];
      const isNamed = call.options.has('c', 't', 'u', 'r', 'l', 'compute', 'type', 'user', 'role', 'range');
      return startsAfter(isNamed ? 0 : 1)(call);
    },
    runs: [
      ['runcon unconfined_t touch x', 'touch'],
      ['runcon -t unconfined_t touch x', 'touch'],
    ],
    harmless: [['runcon -t x ls', 'ls'], 'runcon'],
  },
  {
    names: ['pee', 'mispipe'],
    options: {
      short: '',
      long: 'ignore-sigpipe no-ignore-sigpipe ignore-write-errors no-ignore-write-errors',
      stop: true,
    },
    effects: (call) => [
      ...unclearStart(call),
      ...call.options.operands.map((text): Effect => ({ does: 'shell', text })),
    ],
    runs: [["pee 'touch x' cat", 'touch', 'cat'], ["mispipe ls 'touch x'", 'ls', 'touch'], 'pee "$x"'],
    harmless: [["ls | pee 'sort -u' wc", 'ls', 'sort', 'wc'], 'mispipe'],
  },
  {
    names: ['dpkg-architecture'],
    options: {
      short: 'a:t:A:T:lLeifsuq:c:e:',
      long: 'list list-known equal= is= query= print-set print-unset command= host-arch= host-type= target-arch= target-type= match-wildcard= match-bits= match-endian= force help version',
    },
    effects: ({ options }) =>
      options.values('c', 'command').map((text) => ({ does: 'shell', text }) as const),
    runs: [["dpkg-architecture -c 'touch x'", 'touch']],
    harmless: ['dpkg-architecture -qDEB_HOST_MULTIARCH', 'dpkg-architecture -l'],
  },
  {
    names: ['gpg-agent'],
    options: {
      short: 'vqsc',
      long: 'daemon server supervised verbose quiet sh csh version help gpgconf-list gpgconf-test default-cache-ttl= max-cache-ttl= enable-ssh-support',
      stop: true,
    },
    effects: unlessGiven(['version', 'help', 'gpgconf-list', 'gpgconf-test'], startsAfter(0)),
    runs: [['gpg-agent --daemon touch x', 'touch'], 'gpg-agent --pinentry-program ./x --daemon'],
    harmless: ['gpg-agent --version', 'gpg-agent --daemon'],
  },
  {
    names: ['trace-cmd', 'gprofng', 'lldb-server'],
    effects: subcommands({
      'record start stream profile': startingSub('e:p:o:f:F', 'output='),
      'collect gdbserver g': startsBehindOperands('app'),
    }),
    runs: [
      ['trace-cmd record -e all touch x', 'touch'],
      ['gprofng collect app touch x', 'touch'],
    ],
    harmless: ['trace-cmd report', ['trace-cmd record ls', 'ls'], 'gprofng display text x.er'],
  },
  {
    names: [
      'dagger',
      'railway',
      'devbox',
      'flox',
      'guix',
      'shadowenv',
      'berglas',
      'teller',
      'carton',
      'plenv',
      'perlbrew',
      'rvm',
      'n',
      'etcdctl',
      'consul',
      'firebase',
      'distrobox',
      'toolbox',
      'apptainer',
      'singularity',
      'sexpect',
      'incus',
      'lxc',
    ],
    effects: subcommands({
      'run exec do spawn lock elect watch emulators:exec enter activate shell environment use':
        startsBehindOperands(),
    }),
    runs: [
      'dagger run touch x',
      ['railway run touch x', 'touch'],
      ['railway run app ls', 'app'],
      'guix shell foo -- touch x',
      'etcdctl lock a touch x',
      'consul watch -type=key touch x',
      'apptainer exec img.sif touch x',
      ['carton exec touch x', 'touch'],
      "firebase emulators:exec 'touch x'",
    ],
    harmless: [
      'railway status',
      'guix install hello',
      'etcdctl get a',
      'consul members',
      'lxc list',
      ['carton exec ls', 'ls'],
    ],
  },
];

/** Declares programs whose operands, after `before` others, are a program and its arguments. */
function starter(names: string, short: string, long: string, before = 0, singleDash = false): ProgramEntry {
  const [first = '', ...others] = names.split(' ');
  const operands = '1 '.repeat(before);
  return {
    names: [first, ...others],
    options: { short: `${short}hV`, long: `${long} help version`.trim(), stop: true, singleDash },
    effects: unlessGiven(['help', 'version'], startsAfter(before)),
    runs: [
      [`${first} ${operands}touch x`, 'touch'],
      `${first} --no-such-option ${operands}ls`,
      `${first} $x $y $z`,
    ],
    harmless: [`${first} --version`, [`${first} ${operands}ls`, 'ls']],
  };
}

/**
 * For subcommands that start a program after operands of their own, such as `apptainer exec IMAGE`. The program follows `--`. Without
 * `--`, it is known only for programs of `startsAtOnce`, and every other call is refused. A first operand `kind` is skipped.
 */
function startsBehindOperands(kind?: string): Sub {
  return {
    effects: (call: ProgramCall): Effect[] => {
      const mark = call.args.findIndex(({ text }) => text === '--');
      if (mark >= 0) return [{ does: 'start', argv: call.args.slice(mark + 1) }];
      const hasKind = kind !== undefined && call.args[0]?.text === kind;
      const argv = hasKind ? call.args.slice(1) : call.args;
      const [first] = argv;
      if (first === undefined) return [refused(call, 'starts a shell')];
      if (argv.some(({ text }) => /\s/.test(text ?? '')) || prefixOf(first).startsWith('-'))
        return [refused(call, 'starts a program that is not known')];
      return startsAtOnce.has(call.name)
        ? [{ does: 'start', argv }]
        : [refused(call, 'starts a program; write -- before it')];
    },
  };
}

/** Programs whose subcommand has no operands before the program. */
const startsAtOnce = new Set('railway carton plenv perlbrew shadowenv gprofng'.split(' '));
