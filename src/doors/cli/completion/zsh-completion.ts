import {
  commonFlags,
  type DescribedCommand,
  type DescribedCommandLine,
  type DescribedFlag,
  type ExpectedValue,
} from './describe-command-line.ts';

/** The zsh completion script: sourced after `compinit`, or saved as `_nacre` in a folder of `fpath`. */
export function toZshCompletion(line: DescribedCommandLine): string {
  const described = line.commands.map(({ name, summary }) => toRow(quote(`${name}:${summary}`)));
  return `#compdef nacre
# Completion for nacre in zsh: source <(nacre completions zsh)
_nacre() {
  local curcontext=$curcontext state line
  local -a commands common
  commands=(
${described.join('')}  )
  if (( CURRENT == 2 )); then
    _describe -t commands command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT -= 1 ))
  common=(
${commonFlags(line).flatMap(toSpecs).map(toRow).join('')}  )
  case $command in
${line.commands.map(toCase).join('')}  esac
}
if [[ $funcstack[1] == _nacre ]]; then _nacre "$@"; else compdef _nacre nacre; fi
`;
}

function toRow(text: string): string {
  return `    ${text}\n`;
}

function toCase({ name, flags, argument }: DescribedCommand): string {
  const specs = [...flags.flatMap(toSpecs), ...toArgument(argument)];
  return `    ${name}) _arguments $common${specs.map((spec) => ` \\\n      ${spec}`).join('')} ;;\n`;
}

function toSpecs({ names, description, placeholder, expected }: DescribedFlag): string[] {
  const others = names.length > 1 ? `(${names.join(' ')})` : '';
  const value = expected.kind === 'nothing' ? '' : `:${plain(placeholder)}:${toAction(expected)}`;
  const sign = (name: string) => (expected.kind === 'nothing' ? '' : name.startsWith('--') ? '=' : '+');
  return names.map((name) => quote(`${others}${name}${sign(name)}[${plain(description)}]${value}`));
}

function toArgument(argument: ExpectedValue): string[] {
  if (argument.kind === 'nothing' || argument.kind === 'anything') return [];
  if (argument.kind === 'command')
    return [quote('(-)1:program: _command_names -e'), quote('*::argument: _normal')];
  return [quote(`1:word:${toAction(argument)}`)];
}

function toAction(expected: ExpectedValue): string {
  switch (expected.kind) {
    case 'one-of':
      return `(${expected.options.join(' ')})`;
    case 'some-of':
      return ` _values -s , value ${expected.options.join(' ')}`;
    case 'file':
      return '_files';
    default:
      return ' ';
  }
}

function plain(text: string): string {
  return text.replace(/[\\[\]:]/g, '\\$&');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
