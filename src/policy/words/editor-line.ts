// Git opens the todo list of a rebase in the same editor as commit messages, and a line `exec COMMAND` in it runs a
// command. So an editor that writes its file is judged as if it wrote that list, unless it is known to add no such
// line.

const rebaseList = ' .git/rebase-merge/git-rebase-todo';
const someFile = ' "$file"';

/** The command line that runs an editor; `forLists` if git uses it only for the todo lists of rebases. */
export function editorLine(text: string, forLists: boolean): string {
  return text + (addsNoCommand(text, forLists) ? someFile : rebaseList);
}

function addsNoCommand(text: string, forLists: boolean): boolean {
  if (interactive.test(text)) return true;
  if (/^(?:perl|ruby)\s/.test(text)) return !mentionsCommand.test(text);
  const scripts = sedScripts(text);
  if (scripts === undefined) return false;
  return forLists
    ? scripts.every((script) => script.split(/[;\n]/).every(isHarmless))
    : scripts.every((script) => !mentionsCommand.test(script) && !readsFile.test(script));
}

/** Editors that ask the user, and `touch`, which does not change the contents of a file. */
const interactive =
  /^(?:touch|(?:\S*\/)?(?:vim?|nvim|nano|pico|emacs|emacsclient|code|codium|cursor|subl|zed|micro|hx|helix|kak|joe|mcedit|gedit|kate)(?: (?:--?wait|-w|-nw|-f|-n|-t|--nofork|--new-window))*)$/;

/** Matches the words `exec` and `x` after a blank, a quote or a delimiter of a pattern. */
const mentionsCommand = /\bexec\b|(?:^|[\s/|,#'"^])x(?:[\s/|,#'"\\]|$)/;
const readsFile = /(?:^|[;{}\s\d$/])[rRwW]\s*[\w./~]/;

/** The scripts of a `sed` that edits its file; undefined if the text is anything else. */
function sedScripts(text: string): readonly string[] | undefined {
  if (!/^g?sed\s/.test(text)) return undefined;
  const words = text.match(word) ?? [];
  if (text.replace(word, '').trim() !== '') return undefined;
  const given = words.slice(1).map(unquoted);
  const options = given.filter((one) => one.startsWith('-'));
  const scripts = given.filter((one) => !one.startsWith('-'));
  const scriptOptions = options.filter((one) => /^-[nErsuz]*e$|^--expression$/.test(one)).length;
  const known = options.every((one) =>
    /^-(?:[nErsuz]*i?(?:\.\w+)?|[nErsuz]*e|-in-place|-regexp-extended|-expression)$/.test(one),
  );
  return known && scripts.length === Math.max(1, scriptOptions) ? scripts : undefined;
}

function unquoted(one: string): string {
  if (one.startsWith("'")) return one.slice(1, -1);
  return one.startsWith('"') ? one.slice(1, -1).replace(/\\([$`"\\])/g, '$1') : one;
}

const word = /'[^']*'|"(?:[^"`$\\]|\\[\s\S]|\$(?=[!"{;\s,]))*"|[^\s'"`$;&|<>()\\]+/g;

const address = String.raw`(?:\d+(?:[~+]\d+)?|\$|/[^/]*/I?)`;
const verb = '(?:pick|edit|squash|fixup|reword|drop|break|[pesfrdb])';
const replaces = ['/', '|', '#', ',']
  .map((end) => {
    const sign = `\\${end}`;
    return String.raw`s${sign}[^${sign}]*${sign}${verb}(?: (?:[^\\\n${sign}]|\\\d)*)?${sign}[gI\d]*`;
  })
  .join('|');
/** A command of sed, with single blanks, that deletes, prints, or begins lines with a verb that runs nothing. */
const harmless = new RegExp(`^(?:${address}(?: ?, ?[+~]?${address})? ?!? ?)?(?:[dpqnN=]|${replaces})?$`);

function isHarmless(command: string): boolean {
  return harmless.test(command.replace(/[\s{}]+/g, ' ').trim());
}
