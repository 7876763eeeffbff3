// Programs whose executable helpers are known, so that the kernel can hold commands to a list of them: with a wrapper or an
// escape to a shell they still execute only listed programs. Those of `isPlainProgram` execute none; the others are below. A program
// that is in neither table is open: an interpreter, a build tool, or one that nacre does not know.
import { isPlainProgram } from './plain-programs.ts';

/** Programs that a program executes to do its work: other programs by name, and folders of them. */
export interface ProgramHelpers {
  readonly names: readonly string[];
  readonly folders: readonly string[];
}

const none: ProgramHelpers = { names: [], folders: [] };
const compiler = helpers('as ld collect2', ['/usr/lib/gcc', '/usr/libexec/gcc', '/usr/lib/gcc-cross']);
const compressors = 'gzip bzip2 xz zstd lzma lzip lzop compress';
const openssh = helpers('ssh ssh-askpass ssh-keygen', ['/usr/lib/openssh', '/usr/libexec/openssh']);
const formatter =
  'groff troff grotty nroff preconv tbl eqn neqn refer col less pager locale manpath gzip xz bzip2 zstd';
// Programs of git's own scripts: submodule, subtree, mergetool, and the merge strategies octopus and resolve.
const gitScripts =
  'basename cat cp cut dirname envsubst expr gettext gettext.sh head mkdir mktemp mv rm rmdir sed sort tail tr uname wc';

const withHelpers: Readonly<Record<string, ProgramHelpers>> = {
  git: join(
    helpers(`${gitScripts} less pager cat true false gpg gpg-agent gpgsm git-lfs`, [
      '/usr/lib/git-core',
      '/usr/libexec/git-core',
    ]),
    openssh,
  ),
  ...each('gcc g++ cc c++', compiler),
  ...each('ssh scp sftp ssh-add ssh-keygen ssh-keyscan rsync', openssh),
  man: helpers(formatter, ['/usr/lib/man-db', '/usr/libexec/man-db']),
  ...each('apropos whatis', helpers('less', ['/usr/lib/man-db'])),
  ...each('egrep fgrep rgrep', helpers('grep', [])),
  ...each('gunzip zcat uncompress', helpers('gzip', [])),
  ...each(
    'zgrep zegrep zfgrep zdiff zcmp zless zmore',
    helpers('zgrep zdiff zcmp gzip grep sed diff cmp less more mktemp rm', []),
  ),
  ...each('bzcat bunzip2 bzgrep bzdiff bzless', helpers('bzgrep bzip2 grep diff less', [])),
  ...each('xzcat unxz lzma unlzma xzgrep xzdiff', helpers('xzgrep xz grep diff', [])),
  ...each('tar rg', helpers(compressors, [])),
  ...each('diff3 sdiff', helpers('diff', [])),
  xargs: helpers('echo', []),
  install: helpers('strip', []),
  ...each('stdbuf nice nohup timeout setsid ionice chrt taskset time env watch flock', none),
};

// Programs of their own that execute others only on request (`find -exec`, `sed e`, `awk system()`), through a shell or directly.
const onRequest = words(`
  [ addr2line ar arp awk base32 base64 bc bridge bzip2 c++filt column csplit curl dc dd dig dos2unix ed envsubst fd fdfind file
  find gawk getcap gettext gzip hexdump ip less locate lz4 mawk more msgfmt mtr nawk nc nl nm nslookup objcopy objdump openssl
  pager patch pr ranlib readelf route sed size sort split sqlite3 strip sum tc tput unix2dos unzip uuidgen wdiff wget which
  xmllint xz zip zipinfo zstd zstdcat`);

// Builtins of bash: the shell itself is always allowed, and executes only what the kernel allows.
const builtins = words(`
  . : [ [[ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval
  exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read
  readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset
  wait`);

const withoutHelpers = new Set([...onRequest, ...builtins]);
const systemFolders = /^(?:\/usr(?:\/local)?)?\/s?bin\//;

/** The names of closed programs that have an entry here, without builtins. */
export const closedPrograms: readonly string[] = [...Object.keys(withHelpers), ...onRequest];

/** The helpers of a listed program; undefined if it is open. */
export function helpersOf(entry: string): ProgramHelpers | undefined {
  const name = entry.replace(systemFolders, '');
  if (Object.hasOwn(withHelpers, name)) return withHelpers[name];
  return withoutHelpers.has(name) || isPlainProgram(name) ? none : undefined;
}

function helpers(names: string, folders: readonly string[]): ProgramHelpers {
  return { names: words(names), folders };
}

function join(one: ProgramHelpers, other: ProgramHelpers): ProgramHelpers {
  return { names: [...one.names, ...other.names], folders: [...one.folders, ...other.folders] };
}

function each(names: string, value: ProgramHelpers): Readonly<Record<string, ProgramHelpers>> {
  return Object.fromEntries(words(names).map((name) => [name, value]));
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
