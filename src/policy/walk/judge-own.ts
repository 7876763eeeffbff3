import { type Arg, knownArg, mayBeOption, withoutPrefix, wordText } from '../words/arg.ts';
import { baseName, normalisePath } from '../words/paths.ts';
import { mentionsOwn, pathsOf, refuseOwn } from './judge-write.ts';
import type { WalkScope } from './scope.ts';
import { relativePath } from './trails.ts';
import type { Walk } from './walk.ts';

/** Refuses words that name nacre's own files for a program that may change them, and `nacre allow` itself. */
export function judgeOwn(walk: Walk, program: string, args: readonly Arg[], scope: WalkScope): void {
  const base = baseName(program);
  if (base === 'ln') recordLinks(walk, args, scope);
  if (base === 'nacre' && changesSettings.has(wordText(args.find((arg) => !mayBeOption(arg)))))
    refuseOwn(walk, args[0] ?? knownArg(program, { pos: 0, end: 0 }), program);
  if (readers.has(base) || (base === 'find' && !args.some(({ text }) => findActions.test(text ?? ''))))
    return;
  const isInside = scope.shell.cwd?.some((cwd) => walk.ownFiles.include(cwd)) === true;
  for (const arg of args)
    if ((isInside || mayName(walk, arg)) && names(walk, arg, scope)) refuseOwn(walk, arg, program);
}

const changesSettings = new Set('allow deny init uninstall approvals'.split(' '));

/** Programs that only read the files they name, or whose arguments are text. Shells are judged by what they run. */
const readers = new Set(
  `bash sh dash cat ls less more head tail grep egrep fgrep rg stat file wc diff cmp md5sum sha256sum du readlink
  realpath basename dirname echo printf test [ cd pushd : true false git gh source . export declare local read`.split(
    /\s+/,
  ),
);

const findActions = /^-(?:delete|exec|execdir|ok|okdir|fprint|fprintf|fprint0|fls)$/;

function mayName({ ownFiles }: Walk, { text, pieces }: Arg): boolean {
  if (text !== undefined) return ownFiles.mayName(text);
  return pieces.some((piece) =>
    typeof piece === 'string' ? ownFiles.mayName(piece) : piece.hole === 'glob' || mentionsOwn(piece),
  );
}

function names(walk: Walk, arg: Arg, scope: WalkScope): boolean {
  const text = wordText(arg);
  // Inline code mentions the path somewhere in its text.
  if (/\s|['"(]/.test(text)) return /\.config\/nacre|\/state\/nacre/.test(text);
  if (arg.pieces.some(mentionsOwn)) return true;
  return valuesIn(arg).some((word) => pathsOf(walk, word, scope).some((path) => walk.ownFiles.include(path)));
}

/** The word itself, and the value in `--output=FILE`, `of=FILE` and `-oFILE`. */
function valuesIn(arg: Arg): Arg[] {
  const [first] = arg.pieces;
  const length =
    typeof first === 'string' ? (/^(?:[^=/]*=|-[A-Za-z](?=[/.~]))/.exec(first)?.[0].length ?? 0) : 0;
  return length === 0 ? [arg] : [arg, withoutPrefix(arg, length)];
}

/** Records symbolic links, so that a write through one of them is recognised. */
function recordLinks(walk: Walk, args: readonly Arg[], { shell }: WalkScope): void {
  const [to, name] = args.filter((arg) => !mayBeOption(arg)).map(wordText);
  const cwd = shell.cwd?.[0];
  const target = to === undefined ? undefined : normalisePath(to, cwd);
  if (target === undefined || to === undefined) return;
  // In an unknown directory, a relative name is compared as it is written.
  const link = normalisePath(name ?? baseName(to), cwd) ?? relativePath(name ?? baseName(to));
  walk.links.set(link, target);
  walk.links.set(`${link}/${baseName(to)}`, target);
}
