// Destruction in inline code that no single call shows: a walk over `/` with a call that removes files, `rmtree` under another
// name, a loop that forks. `destructionIn` translates it into shell commands, which the danger rules judge.

const maxLength = 65_536;

/** The source of a pattern for a string in quotes, whose text becomes the group `name`. */
function quoted(name: string): string {
  return `(?<${name}Quote>["'])(?<${name}>[^"'\\\\\\n]{1,200})\\k<${name}Quote>`;
}

const path = quoted('path');

/** A call to look for in code, and the shell command that does the same. */
interface Finding {
  readonly pattern: RegExp;
  readonly toCommand: (groups: Readonly<Record<string, string | undefined>>) => string | undefined;
}

const findings: readonly Finding[] = [
  // Perl: `unlink </*>`
  {
    pattern: /\bunlink\s?\(?\s?<(?<path>[^<>\n]{1,80})>/g,
    toCommand: (groups) => `rm -f ${plain(groups.path)}`,
  },
  // `os.symlink("x", "/bin/sh")`
  {
    pattern: new RegExp(
      `\\b(?:symlink|link|copy|copyfile|copy2|copyFile)(?:Sync)?\\s?\\(\\s?${quoted('from')}\\s?,\\s?${path}`,
      'g',
    ),
    toCommand: (groups) => `cp x ${plain(groups.path)}`,
  },
  // `shutil.rmtree(os.path.join("/", "etc"))`
  {
    pattern:
      /\b(?:rmtree|rm_rf?|rmSync)\s?\(\s?[\w.]{0,20}\bjoin\(\s?(?<root>["'])\/\k<root>\s?,\s?(?<end>["'])(?<name>\w{1,20})\k<end>\s?\)/g,
    toCommand: ({ name }) => deletion(`/${name}`),
  },
  // `fs.truncateSync("/etc/passwd")`
  {
    pattern: new RegExp(`\\btruncateSync\\s?\\(\\s?${path}\\s?\\)`, 'g'),
    toCommand: emptying,
  },
  // `os.chmod("/etc", 0o777)`, and in Perl `chmod 0777, "/etc"`
  {
    pattern: new RegExp(
      `\\bchmod\\w{0,4}\\s?\\(?\\s?(?:(?<first>0o?[0-7]{3,4})\\s?,\\s?)?${path}\\s?(?:,\\s?(?<last>0o?[0-7]{3,4}))?`,
      'g',
    ),
    toCommand: ({ first, last, ...groups }) => {
      const mode = first ?? last;
      return mode && `chmod ${mode.replace('o', '')} ${plain(groups.path)}`;
    },
  },
  // `os.rename("/etc", "x")`
  {
    pattern: new RegExp(`\\b(?:rename|renameSync|move|(?<=\\bos\\.)replace)\\s?\\(?\\s?${path}\\s?,`, 'g'),
    toCommand: (groups) => `mv ${plain(groups.path)} moved`,
  },
  // `truncate("/etc/passwd", 0)`
  {
    pattern: new RegExp(`\\btruncate(?:Sync)?\\s?\\(?\\s?${path}\\s?,\\s?0`, 'g'),
    toCommand: emptying,
  },
  // `os.open("/etc/passwd", os.O_WRONLY)`
  {
    pattern: new RegExp(`\\bopen\\s?\\(\\s?${path}\\s?,[^)\\n]{0,60}O_(?:WRONLY|RDWR|TRUNC)`, 'g'),
    toCommand: emptying,
  },
  // R: `unlink("/etc", recursive = TRUE)`
  {
    pattern: new RegExp(`\\bunlink\\s?\\(\\s?${path}\\s?,\\s?recursive\\b`, 'g'),
    toCommand: (groups) => deletion(groups.path),
  },
  // Perl: `rmtree(["/etc"])`
  {
    pattern: /\brmtree\s?\(?\s?\[\s?(?<quote>["'])(?<path>[^"'\n]{1,200})\k<quote>/g,
    toCommand: (groups) => deletion(groups.path),
  },
  // Tcl: `file delete -force /etc`
  {
    pattern: /\bfile\s{1,9}delete\s{1,9}(?:-force\s{1,9})?(?:--\s{1,9})?(?<path>[/~][^\s;\]"]{0,80})/g,
    toCommand: (groups) => deletion(groups.path),
  },
];

/** Folders near the root, with the patterns of their contents. */
const topFolder =
  '(?:\\/[*.]{0,2}(?:\\/[*.]{0,2})?|~\\/?|\\/(?:etc|usr|home|bin|sbin|var|lib|boot|root|opt|srv|dev)(?:\\/[*.]{0,2}){0,2})';

/** Calls that list a folder near the root: `os.walk("/")`, `Dir["/*"]`, `File::Find::find(sub {…}, "/")`. */
const walks = new RegExp(
  `(?:walk|listdir|scandir|i?glob|Path|readdir\\w{0,8}|opendir|Dir(?:\\.\\w{1,12})?|find(?:depth)?|children|each_child)\\s?[(\\[]\\s?(?:sub\\s?\\{[^}\\n]{0,200}\\}\\s?,\\s?)?(?<quote>["'])(?<path>${topFolder})\\k<quote>`,
  'g',
);
const removes =
  /\b(?:unlink|unlinkSync|remove|removeSync|rmtree|rmdir|rmdirSync|rmSync|rm_rf?|rm_r|rm|delete|truncate|truncateSync)\b(?![\s"']{0,3}[=:])/;
const changesModes = /\b(?:chmod|chown)\b/;

const deleter = '(?:rmtree|rmSync|rmdirSync|rm_rf?|remove_tree|removeSync|emptyDirSync)';
/** Another name for a function that deletes folders: `rmtree as r`, `{ rmSync: r }`, `r = shutil.rmtree`. */
const renamed = new RegExp(
  `\\b${deleter}(?:\\s{1,3}as\\s{1,3}|\\s?:\\s?)([A-Za-z_]\\w{0,30})|\\b([A-Za-z_]\\w{0,30})\\s?=\\s?[\\w.("']{0,40}?\\b${deleter}\\b\\s?(?:[;,\\n]|$)`,
  'g',
);
const maxNames = 4;

const deletesHome =
  /\b(?:rmtree|rm_rf?|rm_r|rm|rmSync|rmdirSync|removeSync)\s?\(?\s?(?:[\w.(]{0,40}[.(])?(?:homedir\(\)|home\(\)|Dir\.home\b|getenv\(["']HOME["']\))\)?\s?(?:[,);\n}]|$)/;

const writesFile =
  /\b(?:open|openSync)\s?\(\s?\w{1,40}\s?,\s?["'][^"'\n]{0,4}[wa+]|\bwrite(?:_bytes|_text|File|FileSync)\b|\bprint\b[^\n;]{0,80}>\s?[A-Za-z_]/;
const deviceNames =
  /(?<quote>["'])(?<path>\/dev\/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|mem)\w{0,6})\k<quote>/g;

/** `kill(-1)`, and a loop that kills thousands of numbers. */
const killsAll =
  /(?:\b|_)kill\w{0,4}\s?\(?\s?(?:-1\b|[^,()\n]{1,30}(?:,|=>)\s?-1\b)|\bkill\w{0,4}\b[^\n]{0,60}\brange\(|\bkill\b[^;\n]{0,20}\d\.\.\d{4}|<\s?\d{4,9};[^\n]{0,80}\bkill\(/;

/** Shell commands that do what the code would do to a home or system directory, to a disk, or to every process. */
export function destructionIn(code: string): readonly string[] {
  if (code.length > maxLength) return [];
  return [
    ...(removes.test(code) ? pathsOf(walks, withoutPrinted(code)).map(deletion) : []),
    ...renamedCalls(code),
    ...(changesModes.test(code) ? pathsOf(walks, code).map((found) => `chmod -R 777 ${plain(found)}`) : []),
    ...findings.flatMap(({ pattern, toCommand }) =>
      [...code.matchAll(pattern)].flatMap(({ groups = {} }) => toCommand(groups) ?? []),
    ),
    ...(writesFile.test(code) ? pathsOf(deviceNames, code).map((found) => `: > ${found}`) : []),
    ...(deletesHome.test(code) ? ['rm -rf ~'] : []),
    ...(killsAll.test(code) ? ['kill -9 -1'] : []),
  ];
}

function pathsOf(pattern: RegExp, code: string): readonly string[] {
  return [...code.matchAll(pattern)].map(({ groups }) => groups?.path ?? '');
}

/** Deletions of the folders that are passed to functions under another name. */
function renamedCalls(code: string): readonly string[] {
  const names = [...code.matchAll(renamed)].flatMap(([, one, other]) => one ?? other ?? []);
  return names
    .slice(0, maxNames)
    .flatMap((name) => pathsOf(new RegExp(`\\b${name}\\s?\\(\\s?${path}`, 'g'), code))
    .map(deletion);
}

function deletion(found: string | undefined): string {
  return `rm -rf ${plain(found).replace(/\/[*.]{1,2}$/, '/*')}`;
}

function emptying(groups: Readonly<Record<string, string | undefined>>): string {
  return `: > '${groups.path}'`;
}

/** A path as one word of shell text, with its `*` and `~`. */
function plain(found = ''): string {
  return found.replace(/[^\w/.*?~-]/g, '_').replace(/\/\*\*$/, '/*');
}

const fromArguments = new RegExp(
  `(?:\\b${deleter}|\\brm\\b)[^;\\n]{0,60}(?:argv|ARGV|stdin|STDIN|\\bgets\\b|<>)`,
);

/** Returns true if code deletes folders that its arguments or its input name. */
export function deletesArguments(code: string): boolean {
  return code.length <= maxLength && fromArguments.test(code);
}

const printed = /^[ \t]{0,40}(?:print|puts|console\.log)\b[^\n]{0,400}$/gm;

/** The code without lines that only print. */
export function withoutPrinted(code: string): string {
  return code.replace(printed, '');
}

const endless =
  /\bwhile\s{0,3}\(?\s?(?:1|true|True)\b|\bfor\s?\(\s?;\s?;\s?\)|\bloop\b|\bredo\b|\buntil\s{1,3}(?:0|false)\b|\bcount\(\)|iter\(int,\s?1\)|range\(\s?10\s?\*\*|range\(\d{6}/;
const starts =
  /\bfork\b|\bpcntl_fork\b|\bPopen\(|\.start\(\)|\bspawn\(|\bexec\(|\b(?:system|execute)\s?\(\s?["'][^"'\n]{0,80}&\s?["']/;
const waits =
  /\bwait\w{0,4}\b|communicate|(?<!["'])\bsleep\s?[(\d]|await|\bjoin\b|\bon\(|\bpoll\b|timeout|Sync|accept|recv|break/i;
/** A function that forks and calls itself. */
const recursion =
  /\bsub\s{1,3}(\w{1,20})\s?\{[^}]{0,80}\bfork\b[^}]{0,80}\b\1\b|\bdef\s{1,3}(\w{1,20})\(\)[^\0]{0,200}\bProcess\(target=\2\b/;

/** Returns true if code starts processes without end and waits for none of them. */
export function forksEndlessly(code: string): boolean {
  if (code.length > maxLength) return false;
  return recursion.test(code) || (starts.test(code) && endless.test(code) && !waits.test(code));
}
