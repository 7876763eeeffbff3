import {
  commonFlags,
  type DescribedCommand,
  type DescribedCommandLine,
  type DescribedFlag,
  type ExpectedValue,
} from './describe-command-line.ts';

/** The script of `nacre completions fish`, to be sourced or saved in fish's completions folder. */
export function toFishCompletion(line: DescribedCommandLine): string {
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

function toCommand({ name, flags, argument }: DescribedCommand): string[] {
  const seen = `__fish_seen_subcommand_from ${name}`;
  return [...flags.map((flag) => toFlag(flag, seen)), ...toArgument(argument, seen)];
}

function toFlag({ names, description, expected }: DescribedFlag, condition: string): string {
  const spelled = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  const parts = [`-n ${quote(condition)}`, ...spelled, ...toValue(expected), `-d ${quote(description)}`];
  return `complete -c nacre ${parts.join(' ')}\n`;
}

function toValue(expected: ExpectedValue): string[] {
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

function toArgument(argument: ExpectedValue, condition: string): string[] {
  const start = `complete -c nacre -n ${quote(condition)}`;
  switch (argument.kind) {
    case 'command':
      return [`${start} -F -a '(__fish_complete_command)'\n`];
    case 'file':
      return [`${start} -F\n`];
    case 'one-of':
    case 'some-of':
      return [`${start} -f -a ${quote(argument.options.join(' '))}\n`];
    default:
      return [];
  }
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
