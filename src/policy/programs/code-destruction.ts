// Destruction in inline code that no single call shows: a walk over `/` with a call that removes files, `rmtree` under another
// name, a loop that forks. `destructionIn` translates it into shell commands, which the danger rules judge.

const maxLength = 65_536;
const quotedText = `(["'])([^"'\\\\\\n]{1,200})`;
/** Folders near the root, with the patterns of their contents. */
const topFolder =
  '(?:\\/[*.]{0,2}(?:\\/[*.]{0,2})?|~\\/?|\\/(?:etc|usr|home|bin|sbin|var|lib|boot|root|opt|srv|dev)(?:\\/[*.]{0,2}){0,2})';

/** Calls that list a folder near the root: `os.walk("/")`, `Dir["/*"]`, `File::Find::find(sub {…}, "/")`. */
const walks = new RegExp(
  `(?:walk|listdir|scandir|i?glob|Path|readdir\\w{0,8}|opendir|Dir(?:\\.\\w{1,12})?|find(?:depth)?|children|each_child)\\s?[(\\[]\\s?(?:sub\\s?\\{[^}\\n]{0,200}\\}\\s?,\\s?)?(["'])(${topFolder})\\1`,
  'g',
);
const removes =
  /\b(?:unlink|unlinkSync|remove|removeSync|rmtree|rmdir|rmdirSync|rmSync|rm_rf?|rm_r|rm|delete|truncate|truncateSync)\b(?![\s"']{0,3}[=:])/;
const perlGlobs = /\bunlink\s?\(?\s?<([^<>\n]{1,80})>/g;

const deleter = '(?:rmtree|rmSync|rmdirSync|rm_rf?|remove_tree|removeSync|emptyDirSync)';
/** Another name for a function that deletes folders: `rmtree as r`, `{ rmSync: r }`, `r = shutil.rmtree`. */
const renamed = new RegExp(
  `\\b${deleter}(?:\\s{1,3}as\\s{1,3}|\\s?:\\s?)([A-Za-z_]\\w{0,30})|\\b([A-Za-z_]\\w{0,30})\\s?=\\s?[\\w.("']{0,40}?\\b${deleter}\\b\\s?(?:[;,\\n]|$)`,
  'g',
);
const deletesHome =
  /\b(?:rmtree|rm_rf?|rm_r|rm|rmSync|rmdirSync|removeSync)\s?\(?\s?(?:[\w.(]{0,40}[.(])?(?:homedir\(\)|home\(\)|Dir\.home\b|getenv\(["']HOME["']\))\)?\s?(?:[,);\n}]|$)/;

const fromArguments = new RegExp(
  `(?:\\b${deleter}|\\brm\\b)[^;\\n]{0,60}(?:argv|ARGV|stdin|STDIN|\\bgets\\b|<>)`,
);

/** Returns true if code deletes folders that its arguments or its input name. */
export function deletesArguments(code: string): boolean {
  return code.length <= maxLength && fromArguments.test(code);
}

const modes = new RegExp(
  `\\bchmod\\w{0,4}\\s?\\(?\\s?(?:(0o?[0-7]{3,4})\\s?,\\s?)?${quotedText}\\2\\s?(?:,\\s?(0o?[0-7]{3,4}))?`,
  'g',
);
const moves = new RegExp(`\\b(?:rename|renameSync|move|replace)\\s?\\(?\\s?${quotedText}\\1\\s?,`, 'g');
const empties = new RegExp(`\\btruncate(?:Sync)?\\s?\\(?\\s?${quotedText}\\1\\s?,\\s?0`, 'g');
const opened = new RegExp(`\\bopen\\s?\\(\\s?${quotedText}\\1\\s?,[^)\\n]{0,60}O_(?:WRONLY|RDWR|TRUNC)`, 'g');
const recursive = new RegExp(
  `\\bunlink\\s?\\(\\s?${quotedText}\\1\\s?,\\s?recursive\\b|\\brmtree\\s?\\(?\\s?\\[\\s?(["'])([^"'\\n]{1,200})\\3`,
  'g',
);
const tclDeletes = /\bfile\s{1,9}delete\s{1,9}(?:-force\s{1,9})?(?:--\s{1,9})?([/~][^\s;\]"]{0,80})/g;
const copies = new RegExp(
  `\\b(?:symlink|link|copy|copyfile|copy2|copyFile)(?:Sync)?\\s?\\(\\s?${quotedText}\\1\\s?,\\s?(["'])([^"'\\\\\\n]{1,200})\\3`,
  'g',
);
const joined =
  /\b(?:rmtree|rm_rf?|rmSync)\s?\(\s?[\w.]{0,20}\bjoin\(\s?(["'])\/\1\s?,\s?(["'])(\w{1,20})\2\s?\)/g;
const truncates = new RegExp(`\\btruncateSync\\s?\\(\\s?${quotedText}\\1\\s?\\)`, 'g');
const deviceNames = /(["'])(\/dev\/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|mem)\w{0,6})\1/g;
const writes =
  /\b(?:open|openSync)\s?\(\s?\w{1,40}\s?,\s?["'][^"'\n]{0,4}[wa+]|\bwrite(?:_bytes|_text|File|FileSync)\b|\bprint\b[^\n;]{0,80}>\s?[A-Za-z_]/;
const changesModes = /\b(chmod|chown)\b/;
const kills =
  /(?:\b|_)kill\w{0,4}\s?\(?\s?(?:-1\b|[^,()\n]{1,30}(?:,|=>)\s?-1\b)|\bkill\w{0,4}\b[^\n]{0,60}\brange\(|\bkill\b[^;\n]{0,20}\d\.\.\d{4}|<\s?\d{4,9};[^\n]{0,80}\bkill\(/;

const printed = /^[ \t]{0,40}(?:print|puts|console\.log)\b[^\n]{0,400}$/gm;

/** The code without lines that only print. */
export function withoutPrinted(code: string): string {
  return code.replace(printed, '');
}

/** Commands that do what the code would do to a home or system directory, or to every process. */
export function destructionIn(code: string): string[] {
  if (code.length > maxLength) return [];
  const names = [...code.matchAll(renamed)].flatMap(([, one, other]) => one ?? other ?? []).slice(0, 4);
  const calls = names.map((name) => new RegExp(`\\b${name}\\s?\\(\\s?${quotedText}\\1`, 'g'));
  return [
    ...(removes.test(code)
      ? [...withoutPrinted(code).matchAll(walks)].map(([, , path = '']) => deletion(path))
      : []),
    ...[...code.matchAll(perlGlobs)].map(([, path = '']) => `rm -f ${plain(path)}`),
    ...calls.flatMap((call) => [...code.matchAll(call)].map(([, , path = '']) => deletion(path))),
    ...(changesModes.test(code)
      ? [...code.matchAll(walks)].map(([, , path = '']) => `chmod -R 777 ${plain(path)}`)
      : []),
    ...[...code.matchAll(copies)].map(([, , , , path = '']) => `cp x ${plain(path)}`),
    ...[...code.matchAll(joined)].map(([, , , name = '']) => deletion(`/${name}`)),
    ...[...code.matchAll(truncates)].map(([, , path = '']) => `: > '${path}'`),
    ...(writes.test(code) ? [...code.matchAll(deviceNames)].map(([, , path = '']) => `: > ${path}`) : []),
    ...(deletesHome.test(code) ? ['rm -rf ~'] : []),
    ...[...code.matchAll(modes)].map(([, before, , path = '', after]) => chmod(before ?? after ?? '', path)),
    ...[...code.matchAll(moves)].map(([, , path = '']) => `mv ${plain(path)} moved`),
    ...[...code.matchAll(empties), ...code.matchAll(opened)].map(([, , path = '']) => `: > '${path}'`),
    ...[...code.matchAll(recursive)].map(([, , one, , other]) => deletion(one ?? other ?? '')),
    ...[...code.matchAll(tclDeletes)].map(([, path = '']) => deletion(path)),
    ...(kills.test(code) ? ['kill -9 -1'] : []),
  ];
}

function deletion(path: string): string {
  return `rm -rf ${plain(path).replace(/\/[*.]{1,2}$/, '/*')}`;
}

/** A path as one word of shell text, with its `*` and `~`. */
function plain(path: string): string {
  return path.replace(/[^\w/.*?~-]/g, '_').replace(/\/\*\*$/, '/*');
}

function chmod(mode: string, path: string): string {
  return mode === '' ? ':' : `chmod ${mode.replace('o', '')} ${plain(path)}`;
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
