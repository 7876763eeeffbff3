import {
  commonFlags,
  type Expected,
  type Line,
  type LineCommand,
  type LineFlag,
} from './describe-command-line.ts';

/** Completion for zsh: to be sourced after compinit, or a file _nacre in a folder of fpath. */
export function toZsh(line: Line): string {
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

function toCase({ name, flags, words }: LineCommand): string {
  const specs = [...flags.flatMap(toSpecs), ...toWords(words)];
  return `    ${name}) _arguments $common${specs.map((spec) => ` \\\n      ${spec}`).join('')} ;;\n`;
}

function toSpecs({ names, description, placeholder, expected }: LineFlag): string[] {
  const others = names.length > 1 ? `(${names.join(' ')})` : '';
  const value = expected.kind === 'nothing' ? '' : `:${plain(placeholder)}:${toAction(expected)}`;
  const sign = (name: string) => (expected.kind === 'nothing' ? '' : name.startsWith('--') ? '=' : '+');
  return names.map((name) => quote(`${others}${name}${sign(name)}[${plain(description)}]${value}`));
}

function toWords(words: Expected): string[] {
  if (words.kind === 'nothing' || words.kind === 'anything') return [];
  if (words.kind === 'command')
    return [quote('(-)1:program: _command_names -e'), quote('*::argument: _normal')];
  return [quote(`1:word:${toAction(words)}`)];
}

function toAction(expected: Expected): string {
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
