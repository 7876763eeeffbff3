import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, withoutPrefix } from '../words/arg.ts';
import { refused, refusedSub, stdinText, subcommands, unknownInput } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** System and network administration tools, such as `systemctl`, `mount` and `ip`. */
export const systemToolPrograms: readonly ProgramEntry[] = [
  {
    names: ['aws'],
    effects: (call) =>
      call.args[0]?.text === 'configure' &&
      call.args.some(({ text }) => /credential_process|plugins/.test(text ?? ''))
        ? [refused(call, 'configure may name a program')]
        : [],
    runs: ['aws configure set credential_process ./x'],
    harmless: ['aws s3 ls', 'aws configure list', 'aws configure set region eu-west-1'],
  },
  {
    names: ['yq', 'gojq', 'dasel'],
    options: { short: 'is:', long: 'inplace in-place split-exp=' },
    effects: ({ options, args }) => [
      ...(options.has('i', 'inplace', 'in-place')
        ? args
            .filter((arg) => !prefixOf(arg).startsWith('-'))
            .map((path) => ({ does: 'write', path }) as const)
        : []),
      ...options.values('s', 'split-exp').flatMap(splitFiles),
    ],
    runs: [
      "yq -i '.a = 1' ~/.bashrc",
      `yq -s '".vscode/" + .name' a.yml`,
      `yq --split-exp='".git/hooks/x"' a.yml`,
    ],
    harmless: [
      'yq .a f.yml',
      "yq -i '.a = 1' f.yml",
      "yq -s '.[0] * .[1]' a.yml b.yml",
      `yq -s '"out/" + .name' a.yml`,
    ],
  },
  {
    names: ['telnet'],
    effects: (call) => [
      ...unknownInput(call),
      ...(/^[ \t]*[!zs]|\x1d/m.test(stdinText(call))
        ? [refused(call, 'would run commands in its input')]
        : []),
    ],
    runs: ["telnet <<< '!touch x'"],
    harmless: ['telnet host 80', "telnet host 80 <<< 'GET /'"],
  },
  {
    names: ['systemctl', 'loginctl', 'machinectl', 'timedatectl', 'hostnamectl', 'resolvectl'],
    options: {
      short: 'H:M:p:t:n:o:qaflr',
      long: 'host= machine= user system root= property= type= state= no-pager now quiet runtime job-mode= signal= kill-whom= lines= output= all full force setenv= uid= message=',
      stop: false,
    },
    effects: (call) => [
      ...subcommands({
        edit: refusedSub('starts an editor'),
        'link set-environment import-environment': refusedSub('chooses which code services run'),
        'shell login': {
          options: { short: 'E:', long: 'setenv= uid=', stop: true },
          effects: ({ options }) =>
            options.operands.length > 1
              ? [{ does: 'start', argv: options.operands.slice(1) }]
              : [refused(call, 'starts a shell')],
        },
      })(call),
      ...call.options.operands
        .filter((word) => /^(?:\.{0,2}\/).*\.(?:service|timer|socket|path)$/.test(word.text ?? ''))
        .map((at) => refused(call, 'would load a service from a file', at)),
    ],
    runs: [
      'systemctl edit x',
      'systemctl link ./x.service',
      'systemctl enable ./evil.service',
      'systemctl set-environment LD_PRELOAD=x',
      ['machinectl shell x /bin/touch y', 'touch'],
      'machinectl shell x',
    ],
    harmless: [
      'systemctl status nginx',
      'systemctl restart nginx',
      'systemctl --user list-units',
      'systemctl daemon-reload',
      'loginctl list-sessions',
      'systemctl enable --now nginx',
    ],
  },
  {
    names: ['ip', 'nft', 'tc', 'bridge'],
    closed: [],
    open: ['nft'],
    options: { short: 'n:b:f:46sdhjo', long: '', stop: false },
    effects: networkEffects,
    runs: [
      ['ip netns exec ns touch x', 'touch'],
      ['ip vrf exec red touch x', 'touch'],
      ["ip netns exec ns sh -c 'touch x'", 'sh', 'touch'],
      ['ip netn exe ns touch x', 'touch'],
      ['ip -all netns exec touch x', 'touch'],
      'ip -batch x',
      'bridge -b x',
      'tc exec bpf import /x run touch',
    ],
    harmless: [
      'ip addr show',
      'ip -br link',
      'tc qdisc show',
      'ip route get 1.1.1.1',
      ['ip netns exec ns ls', 'ls'],
      'nft list ruleset',
    ],
  },
  {
    names: ['tcpdump', 'tshark', 'dumpcap', 'nmap', 'ngrep'],
    effects: captureEffects,
    runs: [
      ['tcpdump -i eth0 -G 1 -w x -z touch', 'touch'],
      ['tcpdump -ztouch -w x', 'touch'],
      'tcpdump -w ~/.bashrc',
      'nmap --script=./x.nse host',
      'nmap --script ./x.nse host',
      'nmap -oN ~/.bashrc host',
      'nmap --interactive',
      'nmap --datadir ./x host',
      'tshark -X lua_script:x.lua',
      'tshark -Xlua_script:x.lua',
      'nmap -oG/etc/x host',
    ],
    harmless: [
      'tcpdump -i eth0 -c 10 port 80',
      'tcpdump -w out.pcap',
      'tcpdump -r in.pcap',
      'nmap -sV -p 80 host',
      'nmap --script vuln host',
      'nmap --script=http-title -oX out.xml host',
      'tshark -r a.pcap',
    ],
  },
  {
    names: [
      'logrotate',
      'cron',
      'anacron',
      'monit',
      'supervisord',
      'runsvdir',
      'fcron',
      'incrontab',
      'mailx',
      'mail',
      'mutt',
      'procmail',
    ],
    effects: daemonEffects,
    runs: [
      'logrotate -f ./x.conf',
      'supervisord -c ./x.conf',
      'incrontab -e',
      'procmail ./rc',
      "mailx -S 'pager=touch' x",
      "mail a@b <<< '~!touch x'",
      'mutt -F ./rc',
    ],
    harmless: [
      'logrotate -d /etc/logrotate.conf',
      "mail -s hi a@b <<< 'text'",
      'logrotate --version',
      'incrontab -l',
    ],
  },
  {
    names: [
      'xdg-open',
      'open',
      'gio',
      'gtk-launch',
      'exo-open',
      'kde-open',
      'sensible-browser',
      'x-www-browser',
      'gnome-open',
      'run-mailcap',
    ],
    effects: (call) =>
      call.args
        .filter(
          (arg, index) =>
            /^-(?:a|b|e|t|n|-args|-launch)$/.test(arg.text ?? '') ||
            /\.(?:desktop|sh|command|app|workflow|jar|exe|run|AppImage)$/i.test(arg.text ?? '') ||
            (call.name === 'gio' && index === 0 && arg.text === 'launch') ||
            call.name === 'gtk-launch',
        )
        .map((at) => refused(call, 'would start a program', at)),
    runs: [
      'open -a Terminal x.sh',
      'xdg-open ./evil.desktop',
      'gio launch ./x.desktop',
      'gtk-launch x',
      'open ./evil.command',
    ],
    harmless: ['xdg-open https://example.com', 'open .', 'xdg-open a.pdf', 'gio info a'],
  },
];

function captureEffects(call: ProgramCall): Effect[] {
  const { args, name } = call;
  const value = (letters: string): Arg[] =>
    args.flatMap((arg, index): Arg[] => {
      const text = prefixOf(arg);
      const next = args[index + 1];
      if (text === letters) return next === undefined ? [] : [next];
      return text.startsWith(letters) && !text.startsWith('--') ? [withoutPrefix(arg, letters.length)] : [];
    });
  if (name === 'nmap') {
    const scripts = args.filter(
      (arg, index) =>
        /^--(?:interactive|datadir|servicedb|versiondb|resume|stylesheet)/.test(arg.text ?? '') ||
        (/^--script(?:=|$)/.test(arg.text ?? '') &&
          /[/]|\.nse/.test(arg.text?.includes('=') ? (arg.text ?? '') : (args[index + 1]?.text ?? '/'))),
    );
    return [
      ...scripts.map((at) => refused(call, 'would run a script of its own', at)),
      ...['-oN', '-oX', '-oG', '-oS', '-oA'].flatMap(value).map((path): Effect => ({ does: 'write', path })),
    ];
  }
  const lua = name === 'tshark' ? value('-X') : [];
  return [
    ...(name === 'tcpdump'
      ? value('-z').map((program): Effect => ({ does: 'start', argv: [program], stdin: 'none' }))
      : []),
    ...lua.map((at) => refused(call, '-X runs a script', at)),
    ...value('-w')
      .filter(({ text }) => text !== '-')
      .map((path): Effect => ({ does: 'write', path })),
  ];
}

/** Daemons and mail programs, which run the commands in their configuration. */
function daemonEffects(call: ProgramCall): Effect[] {
  const asks = call.args.some((arg) => /^(?:-d|--debug|--version|-l|--help|-h|-\?)$/.test(arg.text ?? ''));
  if (/^mail/.test(call.name) || call.name === 'mutt') {
    const bad = call.args.filter((arg) => /^-[SFe]|^-[a-z]*:/.test(arg.text ?? ''));
    const typed = call.stdin === 'none' ? '' : call.stdin.text;
    return [
      ...bad.map((at) => refused(call, 'would be given settings that run programs', at)),
      ...(/^~[!|:<re]/m.test(typed) ? [refused(call, 'would run a command in its text')] : []),
    ];
  }
  return asks ? [] : [refused(call, 'runs the commands in its settings')];
}

/** `ip` and `tc` accept abbreviations, such as `ip netn e`. */
function networkEffects({ args, name }: ProgramCall): Effect[] {
  const refused = args
    .filter(
      ({ text = '' }, index) =>
        /^-{1,2}b(?:a(?:t(?:ch?)?)?)?$/.test(text) ||
        (name === 'tc' && isExec(text) && args.slice(0, index).every((arg) => prefixOf(arg).startsWith('-'))),
    )
    .map(
      (at): Effect => ({
        does: 'refuse',
        at,
        reason: `${name} ${at.text ?? ''} runs commands that are not judged`,
      }),
    );
  const at = args.findIndex(
    ({ text = '' }, index) => isExec(text) && /^(?:net|netn|netns|vrf?)$/.test(args[index - 1]?.text ?? ''),
  );
  // With `-all` the program follows at once, without the name of a namespace.
  const isAll = args.slice(0, Math.max(at, 0)).some(({ text }) => /^-{1,2}a(?:ll?)?$/.test(text ?? ''));
  const argv = at < 0 ? [] : args.slice(isAll ? at + 1 : at + 2);
  return argv.length === 0 ? refused : [...refused, { does: 'start', argv }];
}

function isExec(word: string): boolean {
  return word !== '' && 'exec'.startsWith(word);
}

/** The expression of `yq -s` makes the names of files; strings in it may be their folders. */
function splitFiles(expression: Arg): Effect[] {
  const strings = [...prefixOf(expression).matchAll(/"([^"]*)"/g)].map(([, text = '']) => text);
  return strings
    .filter((text) => text !== '')
    .map((text) => ({ does: 'write', path: knownArg(text, expression) }));
}
