import {
  commonFlags,
  type Expected,
  type Line,
  type LineCommand,
  type LineFlag,
} from './describe-command-line.ts';

/** Completion for fish, to be sourced or saved among its completions. */
export function toFish(line: Line): string {
  const commands = line.commands.map(
    ({ name, summary }) => `complete -c nacre -f -n __fish_use_subcommand -a ${name} -d ${quote(summary)}\n`,
  );
  const given = 'not __fish_use_subcommand';
  const common = commonFlags(line).map((flag) => toFlag(flag, given));
  return [
    '# Completion for nacre in fish: nacre completions fish | source\n',
    'complete -c nacre -f\n',
    ...commands,
    ...line.commands.flatMap(toCommand),
    ...common,
  ].join('');
}

function toCommand({ name, flags, words }: LineCommand): string[] {
  const seen = `__fish_seen_subcommand_from ${name}`;
  return [...flags.map((flag) => toFlag(flag, seen)), ...toWords(words, seen)];
}

function toFlag({ names, description, expected }: LineFlag, condition: string): string {
  const spelled = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  const parts = [`-n ${quote(condition)}`, ...spelled, ...toValue(expected), `-d ${quote(description)}`];
  return `complete -c nacre ${parts.join(' ')}\n`;
}

function toValue(expected: Expected): string[] {
  switch (expected.kind) {
    case 'nothing':
      return [];
    case 'one-of':
      return [`-x -a ${quote(expected.options.join(' '))}`];
    case 'some-of':
      return [`-x -a ${quote(`(__fish_append , ${expected.options.join(' ')})`)}`];
    case 'file':
      return ['-r -F'];
    default:
      return ['-x'];
  }
}

function toWords(words: Expected, condition: string): string[] {
  const start = `complete -c nacre -n ${quote(condition)}`;
  switch (words.kind) {
    case 'command':
      return [`${start} -F -a '(__fish_complete_command)'\n`];
    case 'file':
      return [`${start} -F\n`];
    case 'one-of':
    case 'some-of':
      return [`${start} -f -a ${quote(words.options.join(' '))}\n`];
    default:
      return [];
  }
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
