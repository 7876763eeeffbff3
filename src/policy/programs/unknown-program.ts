import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, withoutPrefix, wordText } from '../words/arg.ts';
import { isPlainProgram } from './plain-programs.ts';
import type { Effect, ProgramEntry } from './program.ts';

/**
 * The effects of a program without an entry. It may start what its arguments name, as wrappers do: the first operand, or the one
 * after `--`, if it is the name of a program that is known and more words follow; or the value of an option such as
 * `--exec`. Other arguments are data.
 */
export function unknownProgramEffects(
  call: ProgramCall,
  programNamed: (name: string) => ProgramEntry | undefined,
): Effect[] {
  const isProgram = (word: string): boolean => {
    const base = word.slice(word.lastIndexOf('/') + 1);
    return !ordinaryWords.has(word) && (isPlainProgram(base) || programNamed(base) !== undefined);
  };
  return [
    ...startedOperands(call.args, isProgram),
    ...optionCommands(call, isProgram),
    ...outputFiles(call.args),
  ];
}

/** Words that are programs too, but usually mean something else: `alembic upgrade head`, `mytool test`. */
const ordinaryWords = new Set(
  `. [ a ar arch as at batch bind builtin cal case clear code col command compress convert context cp cut date declare delta df diff dir display
  dot du echo enable env eval exec expand export expr factor false fc file find flow fmt fold foot format free go head help hash host hostname
  http https id import info install invoke ip jobs join just kill last ld let link list local locale log login ls mail make man merge mix more mv nice
  nl node open op pack parallel paste patch pg pip please port pr print ps pt publish pull push read reset retry rev rm rr run script search
  sed seq set sg show size sl sleep sort source split st stack star stat start stop strace stream strings sum sync tail task tc tee test time top touch-up tr
  tree true ts tty type uname unlink unset up update users view w wait watch wc which who yes`.split(/\s+/),
);

function startedOperands(args: readonly Arg[], isProgram: (word: string) => boolean): Effect[] {
  const mark = args.findIndex(({ text }) => text === '--');
  const first = args.findIndex((arg) => !prefixOf(arg).startsWith('-'));
  return [first, mark < 0 ? -1 : mark + 1, ...afterValue(args, first)]
    .filter((at, index, all) => at >= 0 && all.indexOf(at) === index && at < args.length - 1)
    .filter((at) => isProgram(wordText(args[at])))
    .map((at): Effect => ({ does: 'start', argv: args.slice(at) }));
}

/** After an option, the first word without a dash may be its value, and the next one the program. */
function afterValue(args: readonly Arg[], first: number): number[] {
  const isValue = first > 0 && /^-[A-Za-z]$|^--[\w-]+$/.test(wordText(args[first - 1]));
  const next = args.findIndex((arg, at) => at > first && !prefixOf(arg).startsWith('-'));
  return isValue && next > 0 ? [next] : [];
}

const outputOption = /^--?out(?:put)?(?:-?(?:file|path))?$/i;

/** Options that usually name a file to write; they count only if the path is known, because they may mean something else. */
const perhapsOutput =
  /^(?:-[oO]|--?[\w-]{0,40}(?:out|output|log|report|xml|dump|save|dest|destination|export|target|trace|profile|cache)[\w-]{0,40})$/i;

/** Values of options such as `--outfile`. */
function outputFiles(args: readonly Arg[]): Effect[] {
  return args.flatMap((arg, at): Effect[] => {
    const [name = '', ...attached] = prefixOf(arg).split('=');
    const isCertain = outputOption.test(name);
    if (!isCertain && !perhapsOutput.test(name)) return [];
    const path = attached.length > 0 ? withoutPrefix(arg, name.length + 1) : args[at + 1];
    const counts =
      path !== undefined && (isCertain || (path.text !== undefined && !path.text.startsWith('-')));
    return counts ? [{ does: 'write', path }] : [];
  });
}

const executes =
  /^--?(?:[\w-]*-)?(?:exec|execute|command|cmd|run|shell|eval|hook|pager|editor|program|rsh|wrapper|launcher|preprocessor|interpreter|callback|handler)(?:-\w+)?$/;

/** Options whose value is the path of a program that they start. */
const choosesProgram =
  /^--?(?:[\w-]*-)?(?:python|perl|ruby|node|java|bin|binary|executable|modprobe|compiler|linker|debugger|browser|ssh|git|make|tool)(?:-(?:path|executable|binary|program|command))?$/;

/** Values of options such as `--exec`, and values of `-c`, `-e` and `-x` that are command lines. */
function optionCommands({ args }: ProgramCall, isProgram: (word: string) => boolean): Effect[] {
  return args.flatMap((arg, at): Effect[] => {
    const [name = '', ...attached] = prefixOf(arg).split('=');
    const value = attached.length > 0 ? attached.join('=') : args[at + 1]?.text;
    if (value === undefined) return [];
    const [program = '', ...rest] = value.trim().split(/\s+/);
    const isCommand = executes.test(name) || (/^-[cexCEX]$/.test(name) && rest.length > 0);
    const isPath = /^(?:\.{1,2}|~)?\/\S/.test(program);
    return (isCommand && (isProgram(program) || isPath)) || (choosesProgram.test(name) && isPath)
      ? [{ does: 'shell', text: knownArg(value, arg) }]
      : [];
  });
}
