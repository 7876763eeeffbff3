import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf } from '../words/arg.ts';
import { refused } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/**
 * Programs with many options of which some run code, such as `yt-dlp --exec`. Options are recognised by the words in their
 * names, so that abbreviations and options of later versions are refused too.
 */
export const codeOptionPrograms: readonly ProgramEntry[] = [
  refusing(
    'yt-dlp youtube-dl gallery-dl',
    /exe|cmd|config|plugin|location|downloader|post-?processor|ppa|alias|preset/,
    ['--exec touch', '--downloader ./x'],
    ['-f best URL', '-o a.mp4 URL'],
  ),
  refusing(
    'chromium chromium-browser google-chrome google-chrome-stable chrome firefox',
    /prefix|launcher|subprocess|load-|extension|gdb|command|profile|user-data|(?:^|-)P$/,
    ["--renderer-cmd-prefix='touch x'", '--gpu-launcher=touch'],
    ['--headless --screenshot=a.png URL'],
  ),
  refusing(
    'borg borgmatic',
    /rsh|remote-path|command|config/,
    ['--rsh ./x list', 'create --content-from-command a -- touch x'],
    ['list repo', 'create repo::a src'],
  ),
  refusing(
    'restic',
    /command|^-o|option|rclone/,
    ['-o sftp.command=touch snapshots', '--password-command touch snapshots'],
    ['snapshots', 'backup src'],
  ),
  refusing(
    'rclone',
    /command|mapper|ssh|config|script|^--rc/,
    ['--password-command touch ls remote:', '--sftp-ssh touch ls remote:'],
    ['ls remote:', 'copy a remote:b'],
  ),
  refusing(
    'duplicity rdiff-backup unison rsnapshot dar afio dump restore lsyncd',
    /command|schema|binary|ssh|gpg|sshcmd|diff|merge|editor|^-[cEGBFP]|config|rsync/,
    ['--remote-schema touch a b', '-F touch'],
    ['a b'],
  ),
  refusing(
    'mpv vlc cvlc mplayer mencoder ffplay feh sxiv',
    /script|exec|input|config|include|plugin|ytdl|action|hook|^-A/,
    ['--script=x.lua a', '--script x a'],
    ['a.mp4'],
  ),
  refusing(
    'openvpn openconnect vpnc pppd dhclient udhcpc dhcpcd wpa_cli hostapd_cli dnsmasq stunnel stunnel4',
    /script|up|down|config|exec|pty|connect|plugin|iproute|learn|verify|^-(?:s|sf|a|c|C|B)$/,
    ['--up touch', '-s ./x'],
    ['--version', '--help'],
  ),
  refusing(
    'sshfs plink pscp psftp puttygen sshuttle pdsh pssh parallel-ssh prsync pslurp clush dsh mussh sshd dbclient',
    /^-(?:o|R|e|x|J|S|f|proxycmd|load)|proxy|cmd|command|option|script|ssh/,
    ['-o ssh_command=./x a b', '-proxycmd touch host'],
    ['a@host:b c'],
  ),
  refusing(
    'windres llvm-windres cflow rpcgen cxref',
    /preproc|cpp|^-Y|use-temp/,
    ['--preprocessor=touch a', '--cpp=touch a'],
    ['a.rc a.o'],
  ),
  refusing(
    'opt llc bugpoint llvm-reduce llvm-cov llvm-exegesis llvm-jitlink llvm-rtdyld clang-tidy clang-query clang-check',
    /load|plugin|test|demangler|exec|compile-command|run|tool|config|execute/,
    ['-load=./x.so a.ll', '--test=./x a'],
    ['a.ll'],
  ),
  refusing(
    'lcov genhtml gcovr cppcheck sphinx-build mkdocs asciidoctor asciidoc a2x enscript a2ps texi2any makeinfo texi2dvi texi2pdf dvips mpost mptopdf highlight doxygen',
    /tool|exec|addon|clang|^-[rTBFMfpP]|require|template|filter|init|plug|conf|shell|backend|^-R0|^-D/,
    ['--filter=touch a', '--gcov-tool touch a'],
    ['a'],
  ),
  refusing(
    'msmtp fetchmail swaks neomutt alpine s-nail sendmail exim exim4 mbsync',
    /eval|mda|connect|plug|pipe|command|config|^-(?:f|C|D|be|F|e|c|H|O|oX|bm)|script|file/,
    ["--passwordeval='touch x' a", '-f rc'],
    ['--version'],
  ),
  refusing(
    'jar javadoc jarsigner keytool javap jdeps jlink jmod jpackage jcmd jmap jstack jinfo jps jstat jconsole jhsdb serialver jdeprscan jimage',
    /^-J|^@|doclet|taglet|provider|agent|launcher|resource|processor|plugin|add-option/i,
    ['-J-javaagent:x.jar a', '-J-XX:OnError=touch a'],
    ['a.class'],
  ),
  refusing(
    'dpkg-buildpackage debuild sbuild pbuilder cowbuilder dpkg-source dpkg-genchanges mk-build-deps debsign uscan debi git-buildpackage gbp',
    /hook|command|^-[rpt]|root|sign|tool|builder|check|setup|exec|script|editor/,
    ['-r./x', '--root-command=touch'],
    ['--help'],
  ),
  refusing(
    'cvs bzr brz darcs fossil repo mr myrepos tig gitk git-gui stg git-annex gita mani vcsh yadm etckeeper',
    /^-(?:e|d|c|x)|editor|rsh|external|diff-command|command|shell|exec|config|forall|hook/,
    ['-e touch ci', '-c a'],
    ['status'],
  ),
  refusing(
    'cdk cdktf sam serverless sls netlify vercel wrangler flyctl eb az gcloud gsutil bq kpt skaffold okteto telepresence multipass limactl',
    /^-[acC]$|app|exec|command|ssh|flags-file|script|build-|hook|config|plugin|flag/,
    ["--app 'touch x' ls", '--command touch ls'],
    ['--version', 'version'],
  ),
  refusing('cowsay cowthink', /^-f.*\/|\/.*\.(?:cow|pm)$|^\.{0,2}\//, ['-f ./x.cow hi'], ['hi', '-f tux hi']),
  refusing(
    'prove',
    /^-(?:e|I|M|P|a)|exec|harness|formatter|source|plugin|archive|rc/,
    ['-e touch a.t', '--exec=touch a.t'],
    ['-r t', '-v t/a.t'],
  ),
  refusing(
    'xpdf zathura evince mupdf gimp blender soffice libreoffice lowriter unoconv povray openscad krita',
    /exec|cmd|script|python|macro|batch|^-[bPx]|headless-eval|run|shell|plugin|env:/,
    ['--python x.py', 'macro:///x'],
    ['a.pdf'],
  ),
  refusing(
    'rofi wofi yad dmenu_run bemenu-run xbindkeys sxhkd xdotool i3-msg swaymsg hyprctl bspc',
    /exec|run|command|button|config|^-[cfm]$|modi|show|dispatch|script/,
    ['exec touch x', '--config=x'],
    ['--version'],
  ),
  refusing(
    'rotatelogs mbuffer stap bpftrace ettercap snmptrapd',
    /^-[pAcegGwvzRL]|command|script|unsafe|run|exec|plugin/,
    ['-p ./x a 5', '-c touch'],
    ['--version'],
  ),
  refusing(
    'csvkit csvpy mlr miller vd visidata nnn ranger mc mcedit vifm lf broot ncdu peco percol',
    /exec|cmd|command|^-[cexpP]|shell|system|load|script|config|play|batch/,
    ['--exec touch', "--cmd 'shell touch x'"],
    ['--version'],
  ),
  refusing(
    'gpgconf gpg-connect-agent gpgtar gpg-zip dirmngr gpg-wks-server gpg-wks-client',
    /^--(?:exec|run|gpg|options|launch|agent|dirmngr|pinentry|homedir|subst)|program|^-E/,
    ['--exec touch', '--gpg touch a'],
    ['--version', '--list-dirs'],
  ),
];

/** Declares programs whose options (and other words) of some form are refused. */
function refusing(
  names: string,
  runsCode: RegExp,
  hostile: readonly string[],
  harmless: readonly string[],
): ProgramEntry {
  const [first = '', ...others] = names.split(' ');
  return {
    names: [first, ...others],
    effects: (call) => refuse(call, runsCode),
    runs: hostile.map((words) => `${first} ${words}`),
    harmless: harmless.map((words) => `${first} ${words}`),
  };
}

function refuse(call: ProgramCall, runsCode: RegExp): Effect[] {
  const effects = call.args.flatMap((arg): Effect[] => {
    const word = (prefixOf(arg).split('=')[0] ?? '').slice(0, 200);
    const counts = /^[-@]/.test(word) || verbs.test(word) || runsCode.source.includes('/');
    return counts && word.length > 1 && runsCode.test(word)
      ? [refused(call, `${word} may run other code`, arg)]
      : [];
  });
  return [...effects, ...unknownWords(call), ...perhaps(call)];
}

/** Subcommands, of programs in this file, that run other programs. */
const verbs = /^(?:exec|shell|forall|dispatch|ssh)$|^macro:/;

/** An unknown word may be any option. */
function unknownWords(call: ProgramCall): Effect[] {
  const at = call.args.find((arg) => arg.many && arg.text === undefined && typeof arg.pieces[0] !== 'string');
  return at === undefined
    ? []
    : [{ does: 'unknown', at, reason: `what ${call.name} would do cannot be known` }];
}

/** The values are judged for danger, in case one of them is a command. */
function perhaps({ args }: ProgramCall): Effect[] {
  return args
    .filter((arg: Arg) => /\s/.test(arg.text ?? ''))
    .map(
      (arg): Effect => ({
        does: 'perhaps',
        text: knownArg((arg.text ?? '').replace(/^--?[\w-]+=/, ''), arg),
      }),
    );
}
