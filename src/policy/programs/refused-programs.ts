import type { ProgramCall } from '../options/program-call.ts';
import { wordText } from '../words/arg.ts';
import { refused } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Programs whose ordinary use runs code that their arguments do not show: editors, hooks, supervisors, the bus. */
export const refusedPrograms: readonly ProgramEntry[] = [
  always(
    'editor sensible-editor select-editor vipe vidir vipw vigr visudo mg zile jed ne vis jmacs jpico jstar rjoe tilde e3 le gedit kate geany mousepad codium cursor windsurf',
    'starts an editor',
  ),
  always('bashbug perlbug perlthanks reportbug bts debchange dch debcommit', 'starts an editor or a mailer'),
  always(
    'supervise svscan runsv s6-svscan s6-supervise supervisor forever pm2 pm2-runtime inetd xinetd atd crond fcrontab incrond watchman reflex modd air gow watchmedo when-changed',
    'runs programs that its files name',
  ),
  always(
    'git-receive-pack git-upload-pack git-upload-archive git-shell ssh-argv0 agetty getty login sulogin',
    'starts programs for its caller',
  ),
  always(
    'dbus-daemon dbus-broker pkcon kernel-install installkernel dpkg-reconfigure deb-systemd-invoke invoke-rc.d ifup ifdown wg-quick pivot_root switch_root insmod',
    'runs programs of the system',
  ),
  always(
    'see edit compose print xdg-email gnome-www-browser www-browser w3m lynx links elinks pinentry jexec',
    'starts the program that the system chose for a file',
  ),
  always(
    'smbclient cadaver ncftp rpcclient websocat lldb-mi ddd byobu tmate reptyr',
    'has commands that start programs',
  ),
  always(
    'terminator tilix lxterminal mate-terminal wezterm ghostty qterminal terminology sakura uxterm lxterm eterm mlterm cool-retro-term',
    'starts a shell',
  ),
  {
    names: ['busctl', 'gdbus', 'dbus-send', 'gapplication'],
    effects: (call) =>
      call.args.some((arg) =>
        /^(?:call|set-property|emit|launch|action|--dest(?:=.*)?|--print-reply.*)$/.test(wordText(arg)),
      )
        ? [refused(call, 'can make other processes start programs')]
        : [],
    runs: ['busctl call a /b c StartTransientUnit', 'dbus-send --dest=a /b c.d', 'gapplication launch a'],
    harmless: ['busctl list', 'busctl --user tree', 'gdbus introspect -y -d a -o /'],
  },
  {
    names: ['mount'],
    effects: (call) =>
      call.args.some((arg) => !/^-(?:[lvhV]+|-help|-version|-show-labels)$/.test(wordText(arg)))
        ? [refused(call, 'can put other files in the place of programs')]
        : [],
    runs: ['mount --bind ./evil /usr/bin/ls', 'mount -t fuse.x a b', 'mount -a'],
    harmless: ['mount', 'mount -l'],
  },
  {
    names: [
      'service',
      'update-alternatives',
      'update-rc.d',
      'update-ca-certificates',
      'apt-key',
      'modprobe',
      'depmod',
    ],
    effects: (call) => {
      const bad = call.args.find((arg) =>
        /[/]|^--(?:install|set|config|auto|all|hooksdir|altdir|admindir|dirname|root|basedir|keyring)|^adv$|^-[CdI]/.test(
          arg.text ?? '/',
        ),
      );
      return bad === undefined ? [] : [refused(call, 'would change or choose which program runs', bad)];
    },
    runs: [
      'service ../../tmp/x start',
      'update-alternatives --set editor ./x',
      'apt-key adv --x',
      'modprobe -C x y',
    ],
    harmless: [
      'service nginx status',
      'update-alternatives --display editor',
      'apt-key list',
      'modprobe loop',
    ],
  },
  {
    names: ['sysctl'],
    effects: (call) =>
      call.args.some(
        (arg) =>
          arg.text === undefined ||
          /core_pattern|modprobe|hotplug|poweroff_cmd|usermodehelper|binfmt|^-[a-zA-Z]*[pf]|^--(?:load|system|pattern)/.test(
            arg.text,
          ),
      )
        ? [refused(call, 'can set the program that the kernel starts')]
        : [],
    runs: ["sysctl -w kernel.core_pattern='|/tmp/x'", 'sysctl -p x', 'sysctl kernel.modprobe=/tmp/x'],
    harmless: ['sysctl -a', 'sysctl -n vm.swappiness', 'sysctl -w vm.swappiness=10'],
  },
  {
    names: ['rename', 'prename', 'file-rename', 'perl-rename'],
    effects: renameEffects,
    runs: [
      'rename \'system("touch x")\' a',
      "rename 's/a/`touch x`/e' a",
      "rename -e 'exec q(touch)' a",
      'rename "$x" a',
      "prename 's/(?{system(1)})//' a",
    ],
    harmless: [
      "rename 's/\\.htm$/.html/' a.htm",
      "rename 'y/A-Z/a-z/' *",
      'rename .htm .html a.htm',
      "rename -n 's/a/b/g' *",
    ],
  },
  {
    names: ['cscope'],
    effects: (call) =>
      call.args.some((arg) => /^-[a-zA-Z]*[bLVh]|^--(?:help|version)$/.test(wordText(arg)))
        ? []
        : [refused(call, 'starts an editor')],
    runs: ['cscope', 'cscope -d'],
    harmless: ['cscope -bR', 'cscope -L -0 main'],
  },
  {
    names: [
      'groff',
      'troff',
      'nroff',
      'pic',
      'gpic',
      'eqn',
      'tbl',
      'grog',
      'soelim',
      'preconv',
      'grops',
      'grotty',
    ],
    effects: (call) =>
      call.args
        .filter((arg) => /^-[a-zA-Z]*[UXFMIPL]|^--(?:unsafe)/.test(arg.text ?? '-U'))
        .map((at) => refused(call, 'would run commands in the text, or programs of other folders', at)),
    runs: ['groff -U a.roff', 'troff -zU a', 'pic -U a', 'groff -F ./fonts -Tx a', 'groff -X a'],
    harmless: ['groff -man -Tutf8 a.1', 'nroff -c a', 'tbl a', 'groff -ms -Tps a.ms'],
  },
  {
    names: ['dlv', 'delve'],
    effects: (call) => {
      const [verb, ...rest] = call.args;
      if (/^(?:version|help|--help|--version|debug|test|core|dap|connect)$/.test(wordText(verb)))
        return rest.some((arg) => /^--(?:init|backend-|redirect|build-flags)/.test(arg.text ?? '--init'))
          ? [refused(call, 'would run commands or start other programs')]
          : [];
      const argv = rest.filter((arg) => !/^-/.test(arg.text ?? ''));
      return wordText(verb) === 'exec' && argv.length > 0
        ? [{ does: 'start', argv }]
        : [refused(call, `${wordText(verb)} is not known to be harmless`)];
    },
    runs: [['dlv exec touch', 'touch'], 'dlv debug --init x', 'dlv attach 1'],
    harmless: ['dlv version', 'dlv debug', 'dlv test ./pkg'],
  },
  {
    names: ['quilt'],
    effects: (call) =>
      /^(?:series|applied|unapplied|top|next|previous|push|pop|new|add|remove|refresh|diff|files|patches|import|fold|delete|rename|--version|--help)$/.test(
        wordText(call.args[0]),
      ) && !call.args.some((arg) => /^(?:-e|--diff=|--combine)/.test(arg.text ?? '-e'))
        ? []
        : [refused(call, 'would start an editor, a shell or another program')],
    runs: ['quilt shell touch x', 'quilt edit a', 'quilt diff --diff=./x', 'quilt mail'],
    harmless: ['quilt push -a', 'quilt refresh', 'quilt series'],
  },
  {
    names: ['scalar'],
    effects: (call) =>
      /^(?:list|help|version|-h|--help)$/.test(wordText(call.args[0]))
        ? []
        : [refused(call, 'starts git with settings that run programs')],
    runs: ['scalar -c core.fsmonitor=./x clone a', 'scalar run all'],
    harmless: ['scalar list', 'scalar version'],
  },
  {
    names: ['multilog', 's6-log'],
    effects: (call) =>
      call.args
        .filter((arg) => /^!/.test(arg.text ?? '!'))
        .map((at) => refused(call, 'starts a processor', at)),
    runs: ["multilog '!touch x' ./main"],
    harmless: ['multilog t ./main'],
  },
];

/** Declares programs that are refused unless they only print their help or version. */
function always(names: string, reason: string): ProgramEntry {
  const [first = '', ...others] = names.split(' ');
  return {
    names: [first, ...others],
    effects: (call) => (onlyAsks(call) ? [] : [refused(call, reason)]),
    runs: [`${first} x`, first],
    harmless: [`${first} --version`, `${first} --help`],
  };
}

function onlyAsks({ args }: ProgramCall): boolean {
  return args.length === 1 && /^--?(?:help|version)$/.test(wordText(args[0]));
}

const replacement = /^(?:s|y|tr)([/|,#!:@])((?:(?!\1)[^\\]|\\.)*)\1((?:(?!\1)[^\\]|\\.)*)\1([gimsxudr]*)$/;

/** Perl's `rename` evaluates its first operand as code; that of util-linux has two plain texts there. */
function renameEffects(call: ProgramCall): Effect[] {
  const options = call.args.filter((arg) => /^-/.test(arg.text ?? ''));
  const unsafe = options.find(
    (arg) =>
      !/^-(?:[nvfoilsa]+|-(?:dry-run|no-act|verbose|force|help|version|symlink|all|last|no-overwrite|interactive|nono|man))$/.test(
        wordText(arg),
      ),
  );
  if (unsafe !== undefined) return [refused(call, `${wordText(unsafe)} may run code`, unsafe)];
  const [first] = call.args.filter((arg) => !/^-/.test(arg.text ?? ''));
  if (first === undefined) return [];
  const code = first.text;
  const isPlain = code !== undefined && /^[\w.,~ -]+$/.test(code);
  const known = code !== undefined && replacement.test(code) && !/\(\?\??\{|[@$]\{|`/.test(code);
  return isPlain || known ? [] : [refused(call, 'would evaluate its first operand as code', first)];
}
