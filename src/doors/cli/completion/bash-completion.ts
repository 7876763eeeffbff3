import {
  commonFlags,
  type DescribedCommandLine,
  type DescribedFlag,
  type ExpectedValue,
} from './describe-command-line.ts';

/** The script of `nacre completions bash`; it does not need the bash-completion package. */
export function toBashCompletion(line: DescribedCommandLine): string {
  const names = line.commands.map(({ name }) => name).join(' ');
  return `# Completion for nacre in bash: source <(nacre completions bash)
${toValueFunction(line)}
${toFlagFunction(line)}
${toArgumentFunction(line)}
_nacre() {
  local cur=\${COMP_WORDS[COMP_CWORD]} command=\${COMP_WORDS[1]} flag=\${COMP_WORDS[COMP_CWORD - 1]} index word first=
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    _nacre_offer '${names} --help --version'
    return
  fi
  # Bash splits --flag=value at the equals sign.
  if [[ $cur == = ]]; then cur=; elif [[ $flag == = ]]; then flag=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for (( index = 2; index < COMP_CWORD; index += 1 )); do
    word=\${COMP_WORDS[index]}
    if [[ $word == = ]]; then index=$(( index + 1 ));
    elif [[ $word != -* ]] && ! _nacre_takes_value "$command" "\${COMP_WORDS[index - 1]}"; then first=$word; break; fi
  done
  if [[ -z $first ]] && _nacre_value "$command" "$flag"; then return; fi
  if [[ $cur == -* && -z $first ]]; then _nacre_offer "$(_nacre_flags "$command")"; else _nacre_words "$command"; fi
}
_nacre_takes_value() {
  local cur= COMPREPLY
  _nacre_value "$1" "$2"
}
_nacre_offer() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}
_nacre_some_of() {
  local before=
  if [[ $cur == *,* ]]; then before=\${cur%,*},; fi
  COMPREPLY=($(compgen -P "$before" -W "$1" -- "\${cur##*,}"))
  compopt -o nospace 2> /dev/null
}
_nacre_files() {
  local IFS=$'\\n'
  compopt -o filenames 2> /dev/null
  COMPREPLY=($(compgen -f -- "$cur"))
}
complete -F _nacre nacre
`;
}

/** `_nacre_value` completes the value of a flag; it fails for a flag without a value. */
function toValueFunction(line: DescribedCommandLine): string {
  const own = line.commands.flatMap(({ name, flags }) =>
    flags.flatMap((flag) => toCase(`${name} `, flag.names, flag.expected)),
  );
  const common = commonFlags(line).flatMap((flag) => toCase('* ', flag.names, flag.expected));
  return `_nacre_value() {\n  case "$1 $2" in\n${[...own, ...common].join('')}    *) return 1 ;;\n  esac\n}`;
}

function toCase(prefix: string, names: readonly string[], expected: ExpectedValue): string[] {
  if (expected.kind === 'nothing') return [];
  const start = prefix === '* ' ? "*' '" : `'${prefix}'`;
  const patterns = names.map((name) => `${start}${name}`).join(' | ');
  return [`    ${patterns}) ${toOffer(expected)} ;;\n`];
}

function toFlagFunction(line: DescribedCommandLine): string {
  const cases = line.commands
    .filter(({ flags }) => flags.length > 0)
    .map(({ name, flags }) => `    ${name}) echo '${toNames(flags)}' ;;\n`);
  return `_nacre_flags() {\n  echo '${toNames(commonFlags(line))}'\n  case "$1" in\n${cases.join('')}  esac\n}`;
}

function toNames(flags: readonly DescribedFlag[]): string {
  return flags.flatMap(({ names }) => names).join(' ');
}

function toArgumentFunction(line: DescribedCommandLine): string {
  const cases = line.commands.map(({ name, argument }) => {
    // The words after the program are its arguments, which are often file names.
    const offer =
      argument.kind === 'command'
        ? 'if [[ $first ]]; then _nacre_files; else _nacre_programs; fi'
        : toOffer(argument);
    return `    ${name}) ${offer} ;;\n`;
  });
  return `_nacre_programs() {
  COMPREPLY=($(compgen -c -- "$cur"))
}
_nacre_words() {\n  case "$1" in\n${cases.join('')}  esac\n}`;
}

function toOffer(expected: ExpectedValue): string {
  switch (expected.kind) {
    case 'one-of':
      return `_nacre_offer '${expected.options.join(' ')}'`;
    case 'some-of':
      return `_nacre_some_of '${expected.options.join(' ')}'`;
    case 'file':
      return '_nacre_files';
    default:
      return ':';
  }
}
