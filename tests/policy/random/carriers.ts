import type { Dice } from './dice.ts';
import { quoted, single } from './quoting.ts';

/** Wraps shell code so that it runs indirectly, in a random way. */
export function carried(dice: Dice, code: string): string {
  const groups = [evaluated, structured, structured, substituted, substituted, started, reevaluated, printed];
  const group = dice.pick(groups);
  return dice.pick(group)(dice, code);
}

type Carrier = (dice: Dice, code: string) => string;

/** Returns a heredoc delimiter that the code does not contain. */
function mark(code: string): string {
  let found = 'E';
  while (code.includes(found)) found += 'E';
  return found;
}

const oneLine = (code: string): string => (code.includes('\n') ? `eval ${single(code)}` : code);

const evaluated: readonly Carrier[] = [
  (dice, code) => `eval ${quoted(dice, code)}`,
  (dice, code) => `eval -- ${quoted(dice, code)}`,
  (dice, code) => `v=${quoted(dice, code)}\neval "$v"`,
  (dice, code) => `builtin eval ${quoted(dice, code)}`,
  (dice, code) => `command eval ${quoted(dice, code)}`,
  (dice, code) => `bash -c ${quoted(dice, code)}`,
  (dice, code) => `bash -c 'eval "$1"' _ ${quoted(dice, code)}`,
  (dice, code) => `bash -c 'eval "$0"' ${quoted(dice, code)}`,
  (dice, code) => `v=${quoted(dice, code)} bash -c 'eval "$v"'`,
  (dice, code) => `export v=${quoted(dice, code)}\nbash -c 'eval "$v"'`,
  (dice, code) => `bash <<< ${quoted(dice, code)}`,
  (dice, code) => `bash -s a b <<< ${quoted(dice, code)}`,
  (_dice, code) => `bash <<'${mark(code)}'\n${code}\n${mark(code)}`,
  (_dice, code) => `bash -s <<\\${mark(code)}\n${code}\n${mark(code)}`,
  (dice, code) => `printf '%s\\n' ${quoted(dice, code)} | bash`,
  (dice, code) => `echo ${quoted(dice, code)} | bash /dev/stdin`,
  (_dice, code) => `cat <<'${mark(code)}' | bash\n${code}\n${mark(code)}`,
  (dice, code) => `bash <(printf '%s\\n' ${quoted(dice, code)})`,
  (dice, code) => `. <(printf '%s\\n' ${quoted(dice, code)})`,
  (dice, code) => `source /dev/stdin <<< ${quoted(dice, code)}`,
  (_dice, code) => `. /dev/stdin <<'${mark(code)}'\n${code}\n${mark(code)}`,
  (dice, code) => `exec 8<<< ${quoted(dice, code)}\n. /dev/fd/8`,
  (dice, code) => `exec 8<<< ${quoted(dice, code)}\nbash <&8`,
  (dice, code) => `{ bash\n} <<< ${quoted(dice, code)}`,
  (dice, code) => `fn() { bash\n}\nfn <<< ${quoted(dice, code)}`,
  (dice, code) => `fn() { bash\n} <<< ${quoted(dice, code)}\nfn`,
  (dice, code) => `trap ${quoted(dice, code)} EXIT`,
  (dice, code) => `trap -- ${quoted(dice, code)} 0`,
  (dice, code) => `(trap ${quoted(dice, code)} EXIT)`,
  (dice, code) => `trap ${quoted(dice, code)} DEBUG\n:\ntrap - DEBUG`,
  (dice, code) => `trap ${quoted(dice, code)} ERR\nkn\ntrap - ERR`,
  (dice, code) => `fn() { trap ${quoted(dice, code)} RETURN\n}\nfn\ntrap - RETURN`,
  (dice, code) => `mapfile -t -C ${quoted(dice, `${oneLine(code)} #`)} -c 1 zz <<< zz`,
  (dice, code) => `shopt -s expand_aliases\nalias q=${quoted(dice, oneLine(code))}\nq`,
  (dice, code) => `shopt -s expand_aliases\nalias q='q2 ' q2=${quoted(dice, oneLine(code))}\nq`,
  (dice, code) => `IFS= read -r -d '' v <<< ${quoted(dice, code)}\neval "$v"`,
  (dice, code) => `set -- ${quoted(dice, code)}\neval "$@"`,
  (_dice, code) => `eval "$(cat <<'${mark(code)}'\n${code}\n${mark(code)}\n)"`,
  (dice, code) => `eval "$(printf '%q ' eval ${quoted(dice, code)})"`,
  (dice, code) =>
    `v=${quoted(dice, `${code} `)}\neval "\${v@E}"`.replace('@E', dice.pick(['', '%%zz', ':-zz'])),
];

/** Code printed with escapes (some of them not known to the printing command) after text that may hide it. */
const printed: readonly Carrier[] = [
  (dice, code) => `printf ${single(escapes(dice, hidden(dice, code)).replaceAll('%', '%%'))} | bash`,
  (dice, code) => `printf '%b\\n' ${single(escapes(dice, hidden(dice, code)))} | bash`,
  (dice, code) => `printf '%s\\n' ${single(escapes(dice, hidden(dice, code)))} | bash`,
  (dice, code) => `echo -e ${single(escapes(dice, hidden(dice, code)))} | bash`,
  (dice, code) => `echo -ne ${single(escapes(dice, hidden(dice, code)))} | bash`,
  (dice, code) => `echo -eE ${single(escapes(dice, hidden(dice, code)))} | bash`,
  (dice, code) => `echo ${single(escapes(dice, hidden(dice, code)))} | bash`,
  (dice, code) => `eval "$(printf ${single(escapes(dice, hidden(dice, code)).replaceAll('%', '%%'))})"`,
  (dice, code) => `printf -v v ${single(escapes(dice, hidden(dice, code)).replaceAll('%', '%%'))}\neval "$v"`,
  (dice, code) => `sh -c ${single(`echo ${single(escapes(dice, hidden(dice, code)))} | bash`)}`,
  (dice, code) =>
    `sh -c ${single(`printf ${single(escapes(dice, hidden(dice, code)).replaceAll('%', '%%'))} | bash`)}`,
  (_dice, code) => `base64 -d <<< ${Buffer.from(code).toString('base64')} | bash`,
  (dice, code) =>
    `printf 'cat <<E%d\\n:\\nE%d\\n%s\\nE\\n' ${dice.pick(['', '0 1', '1 01', '" 1" 1'])} ${single(code)} | bash`,
  (_dice, code) => `printf '%s\\n' ': \\' ${single(code)} | bash`,
  (_dice, code) => `read -r v <<< ${single(hidden(_dice, oneLine(code)))}\neval "$v"`,
  (_dice, code) => `read v <<< ${single(`: "\\"; ${oneLine(code)}; \\""`)}\neval "$v"`,
  (_dice, code) => `v=${single(`; ${code}`)}\neval ": \${v/$v/&}"`,
];

/** Puts code after a comment, in quotes that an escape may close, or after a heredoc. */
function hidden(dice: Dice, code: string): string {
  return dice.pick([
    () => code,
    () => `#\n${code}`,
    () => `: "\\"\n${code}\n: \\""`,
    () => `cat <<E\nx\nE\n${code}`,
    () => `: 'a'\n${code}\n: 'b'`,
  ])();
}

function escapes(dice: Dice, text: string): string {
  return [...text]
    .map((character) => (dice.once(6) || character === '\n' ? escaped(dice, character) : character))
    .join('');
}

function escaped(dice: Dice, character: string): string {
  const code = character.charCodeAt(0);
  const octal = code.toString(8);
  if (character === '\n' && dice.once(2)) return dice.pick(['\n', '\\n', '\\n']);
  return dice.pick([
    `\\x${code.toString(16).padStart(2, '0')}`,
    `\\x${code.toString(16)}`,
    `\\${octal}`,
    `\\${octal.padStart(3, '0')}`,
    `\\0${octal.padStart(3, '0')}`,
    `\\u${code.toString(16).padStart(4, '0')}`,
    `\\U${code.toString(16).padStart(8, '0')}`,
    `\\${character}`,
    character,
  ]);
}

const structured: readonly Carrier[] = [
  (_dice, code) => `if :\nthen ${code}\nfi`,
  (_dice, code) => `if kn\nthen :\nelif :\nthen ${code}\nfi`,
  (_dice, code) => `if ${code}\nthen :\nfi`,
  (_dice, code) => `for i in 1\ndo ${code}\ndone`,
  (_dice, code) => `for ((i = 0; i < 1; i++))\ndo ${code}\ndone`,
  (_dice, code) => `i=0\nwhile ((i++ < 1))\ndo ${code}\ndone`,
  (_dice, code) => `i=0\nuntil ((i++ > 0))\ndo ${code}\ndone`,
  (_dice, code) => `while ${code}\ndo break\ndone`,
  (_dice, code) => `case a in\n(a) ${code}\n;;\nesac`,
  (_dice, code) => `case a in\na) :\n;&\nb) ${code}\nesac`,
  (_dice, code) => `case a in\na) :\n;;&\n?) ${code}\nesac`,
  (_dice, code) => `select v in a\ndo ${code}\nbreak\ndone <<< 1 2> err`,
  (_dice, code) => `{ ${code}\n}`,
  (_dice, code) => `(${code}\n)`,
  (_dice, code) => `! { ${code}\n}`,
  (_dice, code) => `time { ${code}\n} 2> err`,
  (_dice, code) => `{ ${code}\n} > out 2>&1`,
  (_dice, code) => `{ ${code}\n} | cat`,
  (_dice, code) => `: | { ${code}\n}`,
  (_dice, code) => `{ ${code}\n} &\nwait`,
  (_dice, code) => `coproc { ${code}\n}\nwait`,
  (_dice, code) => `coproc CO { ${code}\n} > out\nwait`,
  (_dice, code) => `kn || { ${code}\n}`,
  (_dice, code) => `: && ! kn && { ${code}\n}`,
  (_dice, code) => `fn() { ${code}\n}\nfn`,
  (_dice, code) => `function fn { ${code}\n}\nfn a b`,
  (_dice, code) => `fn() (${code}\n)\nfn`,
  (_dice, code) => `fn() if :\nthen ${code}\nfi\nfn`,
  (_dice, code) => `fn() { gn() { ${code}\n}\n}\nfn\ngn`,
  (_dice, code) => `fn() { [ "$1" = 0 ] && { ${code}\nreturn\n}\nfn 0\n}\nfn 1`,
  (_dice, code) => `fn() { ${code}\n}\nexport -f fn\nbash -c fn`,
  (_dice, code) => `fn() { ${code}\n}\neval "$(declare -f fn | cat)"\nfn`,
  (_dice, code) => `ka() { ${code}\n}\nka`,
  (_dice, code) => `echo() { ${code}\n}\necho a`,
  (_dice, code) => `test() { ${code}\n}\ntest a`,
  (_dice, code) => `[() { ${code}\n}\n[ a ]`,
  (_dice, code) => `cd() { ${code}\n}\ncd .`,
  (_dice, code) => `v=fn\nfn() { ${code}\n}\n$v`,
  (_dice, code) => `command_not_found_handle() { ${code}\n}\nnosuch 2> err`,
  (_dice, code) => `cat <<Q\n$(${code}\n)\nQ`,
  (_dice, code) => `cat <<-Q\n\t$(${code}\n)\n\tQ`,
];

const substituted: readonly Carrier[] = [
  (_dice, code) => `: $(${code}\n)`,
  (_dice, code) => `: "$(${code}\n)"`,
  (_dice, code) => `: "a$(${code}\n)b"`,
  (_dice, code) => `: "\${zz:-'$(${code}\n)'}"`,
  (_dice, code) => `: "\${zz:-$'$(${code}\n)'}"`,
  (_dice, code) => `cat <<${mark(code)}\n\${zz:-'$(${code}\n)'}\n${mark(code)}`,
  (_dice, code) => `cat <<${mark(code)}\n"\${PATH:+$'a$(${code}\n)'}"\n${mark(code)}`,
  (_dice, code) => `v=$(${code}\n)`,
  (_dice, code) => `cat <<${mark(code)}\n\${zz:-\${zy:-'$(${code}\n)'}}\n${mark(code)}`,
  (_dice, code) => `: "$(echo \${zz-$'$(${code}\n)'})"`,
  (_dice, code) => `v=(1 "$(${code}\n)")`,
  (_dice, code) => `v=(1 "$(${code}\n)")a`,
  (_dice, code) => `v=([$zz'$(${code}\n)']=1) 2> err`,
  (_dice, code) => `v[>(echo '$(${code}\n)')]=1 2> err`,
  (_dice, code) => `: >& ${single(`$(${code}\n)out`)} 2> err`,
  (_dice, code) => `: $(($(echo ${single(`v[$(${code}\n)]`)}))) 2> err`,
  (_dice, code) => `: $(($(if :\nthen echo ${single(`v[$(${code}\n)]`)}\nfi))) 2> err`,
  (_dice, code) => `((cat <<${mark(code)}\n${code}\n${mark(code)}\n) | cat)`,
  (_dice, code) => `v[$(${code}\n)0]=1 2> err`,
  (_dice, code) => `declare -A m\nm[$(${code}\n)k]=1`,
  (_dice, code) => `declare v=$(${code}\n)`,
  (_dice, code) => `export v="$(${code}\n)"`,
  (_dice, code) => `[ -n "$(${code}\n)" ]`,
  (_dice, code) => `[[ -n $(${code}\n) ]]`,
  (_dice, code) => `[[ a == $(${code}\n) || b < c ]]`,
  (_dice, code) => `(( 1 + $(${code}\n) )) 2> err`,
  (_dice, code) => `: $(( $(${code}\n)0 ))`,
  (_dice, code) => `: \${v:-$(${code}\n)}`,
  (_dice, code) => `unset v\n: "\${v:=$(${code}\n)}"`,
  (_dice, code) => `v=1\n: \${v:+$(${code}\n)}`,
  (_dice, code) => `v=1\n: \${v/1/$(${code}\n)}`,
  (_dice, code) => `v=1\n: \${v#$(${code}\n)}`,
  (_dice, code) => `v=1\n: \${v:$(${code}\n)0:1}`,
  (_dice, code) => `v=(1)\n: \${v[$(${code}\n)0]}`,
  (_dice, code) => `v=1\n: "\${v^^$(${code}\n)}"`,
  (_dice, code) => `cat <(${code}\n) > out`,
  (_dice, code) => `: > >(${code}\n)\nwait $!`,
  (_dice, code) => `read v < <(${code}\n)`,
  (_dice, code) => `cat <<< "$(${code}\n)"`,
  (_dice, code) => `: > "out$(${code}\n)" 2> err`,
  (_dice, code) => `for v in $(${code}\n)\ndo :\ndone`,
  (_dice, code) => `case $(${code}\n) in a) :\nesac`,
  (_dice, code) => `case a in $(${code}\n)) :\nesac`,
  (_dice, code) => `fn() { :\n}\nfn "$(${code}\n)"`,
  (_dice, code) => `v=$(${code}\n) :`,
  (_dice, code) => `set -- $(${code}\n)`,
  (_dice, code) => `: {a,$(${code}\n)}`,
  (_dice, code) => `: $"$(${code}\n)"`,
  (_dice, code) => `printf -v "v$(${code}\n)" %s 1 2> err`,
  (_dice, code) => `echo a{1..2}"$(${code}\n)" > out`,
  (_dice, code) => `: \`eval ${single(code).replace(/[\\`$]/g, '\\$&')}\``,
];

const started: readonly Carrier[] = [
  (dice, code) => `command bash -c ${quoted(dice, code)}`,
  (dice, code) => `sh -c ${quoted(dice, code)}`,
  (dice, code) => `sh <<< ${quoted(dice, code)}`,
  (dice, code) => `echo ${quoted(dice, oneLine(code))} | sh`,
  (_dice, code) => `sh -c ${single(`v=:; v=${single(code)} :; eval "$v"`)}`,
  (_dice, code) => `sh -c ${single(`[[ a || ${oneLine(code)} ]]`)} 2> err`,
  (_dice, code) => `sh -c ${single(`((a || ${oneLine(code)}))`)} 2> err`,
  (_dice, code) => `sh -c ${single(`: $'\\'; ${oneLine(code)} #'`)} 2> err`,
  (_dice, code) => `sh -c ${single(`: &>out ${oneLine(code)}`)} 2> err`,
  (dice, code) => `printf '%s\\0' : ${quoted(dice, code)} | xargs -0 -n 1 bash -c`,
  (dice, code) => `printf '%s\\n' : ${quoted(dice, oneLine(code))} | xargs -d '\\n' -n 1 bash -c`,
  (dice, code) => `printf '%s\\n' ${quoted(dice, oneLine(code))} | xargs -I% bash -c % 2> err`,
  (dice, code) => `printf '%s\\n' ${quoted(dice, oneLine(code))} | xargs -L 1 bash -c 2> err`,
  (dice, code) => `sed -f <(printf '1e %s\\n' ${quoted(dice, oneLine(code))}) <<< a > out 2> err`,
  (_dice, code) =>
    `awk -f <(printf '%s\\n' 'BEGIN { system(ENVIRON["c"]) }')\nc=${single(code)} awk -f <(printf '%s\\n' 'BEGIN { system(ENVIRON["c"]) }')`,
  (dice, code) => `env A=1 bash -c ${quoted(dice, code)}`,
  (dice, code) => `env -u A bash -c ${quoted(dice, code)}`,
  (dice, code) => `env -S ${quoted(dice, `bash -c ${single(code)}`)}`,
  (dice, code) => `nice -n 1 bash -c ${quoted(dice, code)}`,
  (dice, code) => `timeout 2 bash -c ${quoted(dice, code)}`,
  (dice, code) => `nohup bash -c ${quoted(dice, code)} > out 2>&1`,
  (dice, code) => `(exec bash -c ${quoted(dice, code)})`,
  (dice, code) => `(exec -a x bash -c ${quoted(dice, code)})`,
  (dice, code) => `echo a | xargs -I% bash -c ${quoted(dice, code)}`,
  (dice, code) => `echo a | xargs -n 1 bash -c ${quoted(dice, code)}`,
  (dice, code) => `printf '%s\\0' ${quoted(dice, code)} | xargs -0 bash -c`,
  (dice, code) => `xargs -0 -n 1 bash -c < <(printf '%s\\0' ${quoted(dice, code)})`,
  (dice, code) => `find . -maxdepth 0 -exec bash -c ${quoted(dice, code)} \\;`,
  (dice, code) => `find . -maxdepth 0 -exec bash -c ${quoted(dice, code)} {} +`,
  (dice, code) => `find . -maxdepth 0 -execdir bash -c ${quoted(dice, code)} ';' 2> err`,
  (_dice, code) => `sed '1e bash -c ${single(code.replaceAll("'", '"')).slice(1, -1)}' <<< a > out 2> err`,
  (dice, code) => `echo ${quoted(dice, oneLine(code))} | sed 's/^/bash -c :; /e' > out 2> err`,
  (dice, code) =>
    `awk 'BEGIN { system(ENVIRON["v"]) }' v=1\nv=${quoted(dice, code)} awk 'BEGIN { system(ENVIRON["v"]) }'`,
  (_dice, code) => `awk -v c=${single(code)} 'BEGIN { system(c) }' 2> err`,
  (dice, code) => `echo ${quoted(dice, oneLine(code))} | awk '{ print | "bash" }'`,
  (dice, code) => `echo ${quoted(dice, oneLine(code))} | awk '{ $0 | getline v }' 2> err`,
  (dice, code) => `printf '%s\\n' ${quoted(dice, code)} > f.sh\nbash -c "$(cat f.sh)"`,
  (dice, code) => `v=${quoted(dice, code)}\nbash -c "$v"`,
  (dice, code) => `v=(bash -c ${quoted(dice, code)})\n"\${v[@]}"`,
];

const integer = (dice: Dice): string =>
  dice.pick(['RANDOM', 'SRANDOM', 'OPTIND', 'HISTCMD', 'SECONDS', 'LINENO']);

/** Stores one of the arguments in `v`. */
function argument(dice: Dice): string {
  return dice.pick([
    'v=$2',
    `v=\${@: -1}`,
    `v="\${@: -1}"`,
    `v=\${!#}`,
    `v=\${@:$#}`,
    `v=\${*:2}`,
    `v=\${@/x/y}`,
    `v=\${2%x}`,
    'shift\nv=$1',
    'shift $((1))\nv=$1',
    'for v\ndo :\ndone',
    'for v in "$@"\ndo :\ndone',
    `w=2\nv=\${!w}`,
    'while (($# > 1))\ndo shift\nv=$1\ndone',
  ]);
}

/** Stores one of the entries of `z` in `v`. */
function entry(dice: Dice): string {
  return dice.pick([
    `v=\${z[1]}`,
    `v=\${z[-1]}`,
    `v=\${z[@]: -1}`,
    `v=\${z[@]:1}`,
    `v=\${z[@]/x/y}`,
    `v=\${z[\${#z[@]} - 1]}`,
    `for v in "\${z[@]}"\ndo :\ndone`,
    `unset "z[0]"\nv=\${z[*]}`,
  ]);
}

/** Evaluates `v` as arithmetic or as a name. */
function sink(dice: Dice): string {
  return dice.pick([
    ': $((v))',
    '((v))',
    'let v',
    '[[ v -eq 0 ]]',
    '[[ $v -eq 0 ]]',
    '[[ -v $v ]]',
    `b=(1)\n: \${b[v]}`,
    'b[$v]=1',
    `: \${zz:v}`,
    `: \${!v}`,
    'unset "$v"',
    'declare -i y=$v',
    'declare -i y\ny+=$v',
    'RANDOM=$v',
    'b=([$v]=1)',
    ': $[v]',
    'printf -v "$v" x',
  ]);
}

const reevaluated: readonly Carrier[] = [
  (dice, code) => `${integer(dice)}=${quoted(dice, `a[$(${code}\n)]`)} 2> err`,
  (dice, code) => `read -r -d '' ${integer(dice)} <<< ${quoted(dice, `a[$(${code}\n)]`)} 2> err`,
  (dice, code) => `printf -v ${integer(dice)} %s ${quoted(dice, `a[$(${code}\n)]`)} 2> err`,
  (dice, code) => `declare ${integer(dice)}=${quoted(dice, `a[$(${code}\n)]`)} 2> err`,
  (dice, code) => `for ${integer(dice)} in ${quoted(dice, `a[$(${code}\n)]`)}\ndo :\ndone 2> err`,
  (dice, code) => `declare -n r=${integer(dice)}\nr=${quoted(dice, `a[$(${code}\n)]`)} 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\n${integer(dice)}=v 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\n((v)) 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\n: $((v + 1)) 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\nw=v\nlet w+=1 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\n[[ v -eq 0 ]] 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\n[[ $v -eq 0 ]] 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\n[[ -v $v ]] 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\ntest -v "$v" 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\n: \${!v} 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\nunset "$v" 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\nread "$v" <<< 1 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\nprintf -v "$v" %s 1 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\ndeclare -i w=$v 2> err`,
  (dice, code) => `declare -i w\nw=${quoted(dice, `a[$(${code}\n)]`)} 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\nw=(1 2)\n: \${w[v]} 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\nw=1\n: \${w:v} 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\nw[v]=1 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\nfor ((i = v; i < 0; i++))\ndo :\ndone 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\ndeclare "$v=1" 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\nwait -n -p "$v" 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\ngetopts x "$v" -x 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\ndeclare -n r=$v 2> err\n: $r 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\nmapfile "$v" <<< 1 2> err`,
  (dice, code) => `read v <<< ${quoted(dice, `a[$(${oneLine(code)})]`)}\n((v)) 2> err`,
  (dice, code) => `fn() { (( $1 ))\n}\nfn ${quoted(dice, `a[$(${code}\n)]`)} 2> err`,
  (dice, code) => `fn() { [[ $1 -gt 0 ]]\n}\nfn ${quoted(dice, `a[$(${code}\n)]`)} 2> err`,
  (dice, code) => `v=${quoted(dice, `$(${code}\n)`)}\n: "\${v@P}"`,
  (dice, code) => `PS4=${quoted(dice, `$(${code}\n)`)}\nset -x\n: 2> err\nset +x`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\nhead=(1)\n: \${#w[v]} \${head[@]:v} 2> err`,
  (dice, code) => `v=${quoted(dice, `a[$(${code}\n)]`)}\nset -- 1 2\nshift v 2> err\n: \${@:v} 2> err`,
  (dice, code) => `set -- 1 ${quoted(dice, `a[$(${code}\n)]`)}\n${argument(dice)}\n${sink(dice)} 2> err`,
  (dice, code) => `z=(1 ${quoted(dice, `a[$(${code}\n)]`)})\n${entry(dice)}\n${sink(dice)} 2> err`,
  (dice, code) =>
    `fn() { ${argument(dice)}\n${sink(dice)}\n}\nfn 1 ${quoted(dice, `a[$(${code}\n)]`)} 2> err`,
  (dice, code) =>
    `set -- -x ${quoted(dice, `a[$(${code}\n)]`)}\ngetopts x: o\nv=$OPTARG\n${sink(dice)} 2> err`,
  (dice, code) =>
    `select w in x\ndo v=$REPLY\n${sink(dice)}\nbreak\ndone <<< ${quoted(dice, `a[$(${oneLine(code)})]`)} 2> err`,
  (dice, code) => `declare -i w=v\nx=${quoted(dice, `a[$(${code}\n)]`)}\nw+=x 2> err`,
  (dice, code) => `x=${quoted(dice, `a[$(${code}\n)]`)} ${dice.pick(['<<<', '>', '2>'])} $((x)) 2> err`,
  (dice, code) => `TIMEFORMAT=${quoted(dice, oneLine(code))}\neval "$({ time :\n} 2>&1)"`,
  (_dice, code) => `eval "$( (: \${zz?;${oneLine(code)};}) 2>&1)"`,
  (dice, code) => `v=${quoted(dice, oneLine(code))}\nw=$(declare -p v)\neval eval "\${w#*=}"`,
  (dice, code) => `fn() { while (($#))\ndo eval "$1"\nshift\ndone\n}\nfn : ${quoted(dice, code)}`,
  (dice, code) => `v=(${quoted(dice, oneLine(code))}) bash -c 'v=\${v#?}\neval "eval \${v%?}"' 2> err`,
  (dice, code) => `compgen -W ${quoted(dice, `$(${code}\n)`)}`,
  (dice, code) => `compgen -C ${quoted(dice, code)} a 2> err`,
];
