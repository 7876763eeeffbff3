import { type Arg, knownArg } from '../words/arg.ts';
import type { Effect } from './program.ts';

const homeFolder = String.raw`(?:[\w.]{0,40}(?:require\(["'](?:node:)?os["']\)\.)?homedir\(\)|process\.env\.HOME|ENV\[["']HOME["']\]|os\.environ\[["']HOME["']\])`;
const path = String.raw`(?:(${homeFolder})\s?\+\s?|[\w.]{0,40}expanduser\(\s?|[\w.]{0,40}Path\(\s?)?[rub]{0,2}(["'])([^"'\n]{1,200})\2\)?`;

/** Calls that write the file that they name. */
const writers = [
  String.raw`\b(?:open|openSync)\s?\(\s?${path}\s?,\s?(?:mode\s?=\s?)?["'][^"'\n]{0,4}[wax+]`,
  String.raw`\b(?:writeFile|appendFile|outputFile|createWriteStream|writeFileSync|appendFileSync|outputFileSync|file_put_contents|(?:File|IO)\.write)\s?\(\s?${path}`,
  String.raw`\b(?:extractall|mkdir|mkdirSync|makedirs|chdir|save|savefig|to_csv|to_json|dump_to|retrieve|mkfifo|touch)\s?\(\s?(?:path\s?=\s?)?${path}`,
  String.raw`\b(?:extract|unpack_archive|copytree|urlretrieve|symlink_to|renames|extract_to|make_archive)\s?\(\s?(?:[^,()\n]{1,100},\s?)?(?:path\s?=\s?|extract_dir\s?=\s?)?${path}`,
  String.raw`\b${path}\s?\.\s?write_(?:text|bytes)\b`,
  String.raw`\b(?:copy2?|copyfile|move|rename|replace|symlink|link|cp|copyFile|copyFileSync|cpSync|renameSync|symlinkSync|linkSync)\s?\(\s?[^,()\n]{1,100}(?:\([^()\n]{0,100}\))?\s?,\s?${path}`,
  String.raw`\bopen\b[^;\n]{0,60}?["']\+?>>?["']\s?,\s?${path}`,
  String.raw`\bopen\b()[^;\n]{0,60}?(["'])\+?>>?\s?([^"'>\s][^"'\n]{0,200})\2`,
].map((source) => new RegExp(source, 'g'));

/** Hidden files, and files outside of the project: others are not protected. */
const mayBeProtected = /(?:^|\/)\.[^./]|^~|^\/(?:etc|usr|bin|sbin|lib|boot|root|home|proc|sys|dev)\//;

/** A call that writes, moves, links or unpacks files, or a mode for writing. */
const writesAnyFile =
  /write|\b(?:rename|copy|copytree|copyfile|move|symlink|link|truncate|unpack_archive|extractall|chdir|makedirs|savefig)\w{0,12}\s?[(\s"']|\b(?:FileUtils|shutil|File::Copy)\b|O_(?:WRONLY|RDWR|CREAT)|["'][rb]?[wax]\+?[bt]?["']|["']\+?>|\b(?:output|cpSync|to_csv|to_json)\s?\(/i;

const toTerminal = /\bstd(?:out|err)\s?\.\s?(?:buffer\.)?write/g;

/** A path with a hidden file or folder in it. */
const hiddenName = /(?:^|\/)\.\w/;

/** The files outside of the project, or hidden ones, that inline code visibly writes. */
export function writesOfCode(code: string, at: Arg, home: string): Effect[] {
  if (code.length > 65_536 || !/[.~/]/.test(code)) return [];
  const found = writers.flatMap((writer) =>
    [...code.matchAll(writer)].flatMap(([, isHome, , file = '']): Effect[] => {
      const name = isHome ? `${home}${file}` : file.replace(/^~(?=\/)/, home);
      return mayBeProtected.test(name) ? [{ does: 'write', path: knownArg(name, at) }] : [];
    }),
  );
  return [...found, ...hiddenStrings(code, at)];
}

/** The strings of code that are hidden names, if the code writes files: any of them may be such a file. */
function hiddenStrings(code: string, at: Arg): Effect[] {
  if (!writesFiles(code)) return [];
  const joined = code.replace(/(["'`])\s?\+?\s?\1/g, '');
  return [...joined.matchAll(/(["'`])([^"'`\n]{1,200})\1/g)].flatMap(([, , name = '']): Effect[] =>
    hiddenName.test(name) && !/\s/.test(name) ? [{ does: 'write', path: knownArg(name, at) }] : [],
  );
}

/** Returns true if the code visibly writes files. */
export function writesFiles(code: string): boolean {
  return writesAnyFile.test(code.replace(toTerminal, ''));
}

/** The arguments of inline code that are hidden names, if the code writes files: any of them may be such a file. */
export function writtenArguments(code: string, args: readonly Arg[]): Effect[] {
  const named = args.filter(({ text }) => hiddenName.test(text ?? ''));
  return named.length === 0 || !writesFiles(code) ? [] : named.map((path) => ({ does: 'write', path }));
}
