import type { Dice } from './dice.ts';
import { quoted, single } from './quoting.ts';

/** Commands to run first, and an expression that then expands to a text. */
export interface Value {
  readonly before: readonly string[];
  readonly use: string;
}

/** Returns a random way to compute a text at run time. */
export function valueFor(dice: Dice, text: string): Value {
  const ways = dice.pick([indirectWays, readWays, plainWays, plainWays, subtleWays, subtleWays]);
  return dice.pick(ways)(dice, text);
}

type Way = (dice: Dice, text: string) => Value;

const use = (dice: Dice, name: string): string =>
  dice.pick([`$${name}`, `"$${name}"`, `\${${name}}`, `"\${${name}}"`]);

const upper = (text: string): string => text.toUpperCase();

const plainWays: readonly Way[] = [
  (dice, text) => ({ before: [`v=${quoted(dice, text)}`], use: use(dice, 'v') }),
  (dice, text) => ({ before: [`declare v=${quoted(dice, text)}`], use: use(dice, 'v') }),
  (dice, text) => ({ before: [`export v=${quoted(dice, text)}`], use: use(dice, 'v') }),
  (dice, text) => ({
    before: [`v=${quoted(dice, text.slice(0, 1))}`, `v+=${quoted(dice, text.slice(1))}`],
    use: use(dice, 'v'),
  }),
  (dice, text) => ({
    before: [`v=${quoted(dice, text.slice(0, 1))}`, `w=${quoted(dice, text.slice(1))}`],
    use: '"$v$w"',
  }),
  (dice, text) => ({
    before: [`v=${quoted(dice, `x${text}`)}`],
    use: dice.pick(['${v#x}', '"${v#?}"', '${v:1}']),
  }),
  (dice, text) => ({
    before: [`v=${quoted(dice, `${text}xy`)}`],
    use: dice.pick(['${v%xy}', '"${v%%x*}"', '${v::-2}']),
  }),
  (dice, text) => ({
    before: [`v=${quoted(dice, upper(text))}`],
    use: dice.pick(['${v,,}', '${v@L}', '"${v,,?}"']),
  }),
  (dice, text) => ({ before: [`declare -l v=${quoted(dice, upper(text))}`], use: '$v' }),
  (dice, text) => ({ before: [`declare -l v`, `v=${quoted(dice, upper(text))}`], use: '$v' }),
  (dice, text) => ({ before: ['v=q'], use: `\${v/q/${quoted(dice, text)}}` }),
  (_dice, text) => ({ before: ['v=qq'], use: `"\${v//qq/${single(text)}}"` }),
  (dice, text) => ({
    before: [`v=${quoted(dice, text.slice(1))}`],
    use: `\${v/#/${quoted(dice, text.slice(0, 1))}}`,
  }),
  (dice, text) => ({
    before: [`v=${quoted(dice, text.slice(0, 1))}`],
    use: `\${v/%/${quoted(dice, text.slice(1))}}`,
  }),
  (dice, text) => ({
    before: [`v=(${quoted(dice, text.slice(1))})`],
    use: `\${v[@]/#/${quoted(dice, text.slice(0, 1))}}`,
  }),
  (dice, text) => ({
    before: [`v=(${quoted(dice, `x${text}`)} x:)`],
    use: dice.pick(['"${v[@]#x}"', '${v[@]/#x}', '"${v[@]/x}"', '${v[*]#x}', '"${v[@]#?}"']),
  }),
  (dice, text) => ({
    before: [`set -- ${quoted(dice, `${text}xy`)} :xy`],
    use: dice.pick(['"${@%xy}"', '${@/%xy}', '"${@/xy}"', '${*%%xy}', '"${@%x?}"']),
  }),
  (dice, text) => ({
    before: [`v=(${quoted(dice, upper(text))})`],
    use: dice.pick(['${v[@],,}', '"${v[@],,}"', '${v[*],,?}']),
  }),
  (dice, text) => ({ before: ['unset v'], use: `\${v:-${quoted(dice, text)}}` }),
  (dice, text) => ({ before: ['unset v'], use: `"\${v-$(printf %s ${quoted(dice, text)})}"` }),
  (dice, text) => ({ before: ['v=', `: "\${v:=${quoted(dice, text).replaceAll('"', '')}}"`], use: '$v' }),
  (dice, text) => ({ before: ['v=1'], use: `\${v:+${quoted(dice, text)}}` }),
  (dice, text) => ({
    before: [`v=(${quoted(dice, text)} zz)`],
    use: dice.pick(['$v', '${v[0]}', '"${v[@]:0:1}"']),
  }),
  (dice, text) => ({
    before: [`v=(zz ${quoted(dice, text)})`],
    use: dice.pick(['${v[1]}', '${v[-1]}', '${v[0+1]}', '"${v[@]:1}"']),
  }),
  (dice, text) => ({
    before: [`v[3]=${quoted(dice, text)}`],
    use: dice.pick(['${v[3]}', '"${v[@]}"', '${v[*]}']),
  }),
  (dice, text) => ({ before: ['v=(zz)', `v+=(${quoted(dice, text)})`], use: '"${v[1]}"' }),
  (dice, text) => ({
    before: [`declare -A m=([k]=${quoted(dice, text)})`],
    use: dice.pick(['${m[k]}', '"${m[@]}"', "${m['k']}"]),
  }),
  (dice, text) => ({ before: ['declare -A m', `m[k]=${quoted(dice, text)}`, 'k=k'], use: '${m[$k]}' }),
  (dice, text) => ({
    before: [`set -- ${quoted(dice, text)} zz`],
    use: dice.pick(['$1', '"$1"', '${1}', '"${@:1:1}"']),
  }),
  (dice, text) => ({
    before: [`set -- zz ${quoted(dice, text)}`, 'shift'],
    use: dice.pick(['$1', '"$@"', '$*']),
  }),
];

/** Ways that depend on the scope of an assignment, on subscripts and on numbers. */
const subtleWays: readonly Way[] = [
  (dice, text) => ({ before: ['v=:', `v=${quoted(dice, text)} export v`], use: '$v' }),
  (dice, text) => ({ before: ['v=:', `v=${quoted(dice, text)} declare -x v`], use: '$v' }),
  (dice, text) => ({ before: ['v=:', `v=${quoted(dice, text)} readonly v`], use: '$v' }),
  (dice, text) => ({ before: ['v=:', `v=${quoted(dice, text)} :`], use: '$v' }),
  (dice, text) => ({ before: ['v=:', `v=${quoted(dice, text)} eval 'w=$v'`], use: '$w' }),
  (dice, text) => ({ before: ['v=:', 'fn() { export v\n}', `v=${quoted(dice, text)} fn`], use: '$v' }),
  (dice, text) => ({ before: ['v=:', `fn() { v=${quoted(dice, text)}\n}`, 'v=zz fn'], use: '$v' }),
  (dice, text) => ({ before: ['v=:', `fn() { declare -g v=${quoted(dice, text)}\n}`, 'v=zz fn'], use: '$v' }),
  (dice, text) => ({
    before: ['v=:', `fn() { local v=zz\ndeclare -g v=${quoted(dice, text)}\n}`, 'fn'],
    use: '$v',
  }),
  (dice, text) => ({
    before: ['v=:', `fn() { local v=zz\ngn\n}`, `gn() { unset v\nv=${quoted(dice, text)}\n}`, 'fn'],
    use: '$v',
  }),
  (dice, text) => ({ before: [`set -- : : ${quoted(dice, text)}`, 'shift 2'], use: '$1' }),
  (dice, text) => ({ before: [`set -- : ${quoted(dice, text)} :`, 'shift $(($# - 2))'], use: '$1' }),
  (dice, text) => ({ before: [`v=${quoted(dice, `12345678${text}`)}`], use: '${v:010}' }),
  (dice, text) => ({ before: [`a[1]=${quoted(dice, text)}`], use: '${a[@]:1:1}' }),
  (dice, text) => ({ before: [`a=(: [5]=: ${quoted(dice, text)})`], use: '${a[6]}' }),
  (dice, text) => ({ before: ['a=(: [5]=: :)'], use: `\${a[2]} ${quoted(dice, text)}` }),
  (dice, text) => ({ before: ['a[3]=:', `a+=(${quoted(dice, text)})`], use: '${a[4]}' }),
  (dice, text) => ({ before: ['a[3]=:', 'a+=(:)'], use: `\${a[1]} ${quoted(dice, text)}` }),
  (dice, text) => ({ before: ['v=:', 'unset v'], use: `\${v-${quoted(dice, text)}}` }),
  (dice, text) => ({ before: ['v=:', 'unset v'], use: `\${v+:} ${quoted(dice, text)}` }),
  (dice, text) => ({ before: ['v='], use: `$v ${quoted(dice, text)}` }),
  (dice, text) => ({ before: ["v='  '"], use: `$v ${quoted(dice, text)}` }),
  (dice, text) => ({ before: ['a=()'], use: `"\${a[@]}" ${quoted(dice, text)}` }),
  (dice, text) => ({ before: ['set --'], use: `"$@" ${quoted(dice, text)}` }),
  (dice, text) => ({ before: ['set --'], use: `$1 ${quoted(dice, text)}` }),
  (dice, text) => ({ before: [], use: `$(:) ${quoted(dice, text)}` }),
  (_dice, text) => ({ before: [`v='${text}*:'`], use: "${v%%'*'*} :" }),
  (dice, text) => ({
    before: [`v='${text}[x]'`],
    use: dice.pick(['${v%%[*}', '${v%"[x]"}', '${v%\\[*}', '${v%[[]x]}']),
  }),
  (dice, text) => ({ before: [`v='é${text}'`], use: dice.pick(['${v#?}', '${v:1}', '${v:2}', '${v#é}']) }),
  (dice, text) => ({
    before: [`v=${quoted(dice, `:;${text}`)}`, 'IFS=";"'],
    use: dice.pick(['$v', '${v#:;}', '${v#$v} $v']),
  }),
  (dice, text) => ({ before: [`IFS=x`, `v=${quoted(dice, `x${text}`)}`], use: '$v' }),
  (dice, text) => ({ before: [`IFS=x`, `v=${quoted(dice, `${text}x:`)}`], use: '$v' }),
  (dice, text) => ({ before: [`IFS=x`, `v=${quoted(dice, `:x${text}`)}`, 'set -- $v'], use: '$2' }),
  (dice, text) => ({ before: ['v=:', `for v in ${quoted(dice, text)}\ndo break\ndone`], use: '$v' }),
  (dice, text) => ({ before: ['v=:', `while v=${quoted(dice, text)}\ndo break\ndone`], use: '$v' }),
  (dice, text) => ({ before: ['v=:', `until v=${quoted(dice, text)}\ndo :\ndone`], use: '$v' }),
  (dice, text) => ({ before: ['v=:', `if v=${quoted(dice, text)}\nthen :\nfi`], use: '$v' }),
  (dice, text) => ({ before: ['v=:', `case x in *) v=${quoted(dice, text)};; esac`], use: '$v' }),
  (dice, text) => ({
    before: ['v=:', `: "\${v/:/}" "\${w:=${quoted(dice, text).replaceAll('"', '')}}"`],
    use: '$w',
  }),
  (_dice, text) => ({ before: ['v=w', `declare "$v=${text}"`], use: '$w' }),
  (dice, text) => ({ before: ['v=:', `{ v=${quoted(dice, text)}\n} > out`], use: '$v' }),
  (dice, text) => ({ before: ['w=:', `v=${quoted(dice, text)}`, 'w=$v v=:'], use: '$w' }),
  (dice, text) => ({ before: [`v=${quoted(dice, text)} w=$v`], use: '$w' }),
  (dice, text) => ({ before: ['declare -u v', `v=:`, `declare +u v`, `v=${quoted(dice, text)}`], use: '$v' }),
  (dice, text) => ({
    before: ['i=2', `a=(: : ${quoted(dice, text)})`],
    use: dice.pick(['${a[i]}', '${a[i--]}', '${a[++i-1]}', '${a[i=2]}', '${a[-1]}']),
  }),
];

const readWays: readonly Way[] = [
  (dice, text) => ({ before: [`printf -v v %s ${quoted(dice, text)}`], use: '$v' }),
  (dice, text) => ({ before: [`printf -v 'v[2]' %s ${quoted(dice, text)}`], use: '${v[2]}' }),
  (dice, text) => ({ before: [`read v <<< ${quoted(dice, text)}`], use: '$v' }),
  (dice, text) => ({ before: [`read -r zz v <<< "zz "${quoted(dice, text)}`], use: '"$v"' }),
  (dice, text) => ({ before: [`read <<< ${quoted(dice, text)}`], use: '$REPLY' }),
  (dice, text) => ({ before: [`read -a v <<< ${quoted(dice, text)}`], use: '${v[0]}' }),
  (dice, text) => ({ before: [`IFS=: read v w <<< zz:${quoted(dice, text)}`], use: '$w' }),
  (dice, text) => ({ before: [`read -d q v <<< ${quoted(dice, `${text}qzz`)}`], use: '$v' }),
  (dice, text) => ({ before: [`read -n ${text.length} v <<< ${quoted(dice, `${text}zz`)}`], use: '$v' }),
  (dice, text) => ({ before: [`mapfile -t v <<< ${quoted(dice, text)}`], use: '${v[0]}' }),
  (dice, text) => ({ before: [`read v < <(printf '%s\\n' ${quoted(dice, text)})`], use: '$v' }),
  (dice, text) => ({ before: [`exec 7<<< ${quoted(dice, text)}`, 'read -u 7 v'], use: '$v' }),
  (dice, text) => ({ before: [`exec 7<<< ${quoted(dice, text)}`, 'read v <&7'], use: '$v' }),
  (dice, text) => ({
    before: [`coproc printf '%s\\n' ${quoted(dice, text)}`, 'read -u ${COPROC[0]} v'],
    use: '$v',
  }),
  (_dice, text) => ({ before: [`read v <<Q\n${text}\nQ`], use: '$v' }),
  (_dice, text) => ({ before: [`{ read zz\nread v\n} <<-'Q'\n\tzz\n\t${text}\n\tQ`], use: '$v' }),
  (dice, text) => ({
    before: ['shopt -s lastpipe', `printf '%s\\n' ${quoted(dice, text)} | read v`],
    use: '$v',
  }),
  (dice, text) => ({ before: [`. <(printf 'v=%s' ${quoted(dice, text)})`], use: '$v' }),
  (dice, text) => ({ before: [`source /dev/stdin <<< v=${quoted(dice, text)}`], use: '$v' }),
  (dice, text) => ({ before: [`eval v=${quoted(dice, text)}`], use: '$v' }),
  (_dice, text) => ({ before: [`[[ x${text} =~ x(.*) ]]`], use: '${BASH_REMATCH[1]}' }),
  (dice, text) => ({ before: [`getopts q: o -q ${quoted(dice, text)}`], use: '$OPTARG' }),
  (dice, text) => ({ before: [`: ${quoted(dice, text)}`], use: '$_' }),
  (dice, text) => ({ before: [`for v in zz ${quoted(dice, text)}\ndo :\ndone`], use: '$v' }),
  (dice, text) => ({
    before: [`select v in zz ${quoted(dice, text)}\ndo break\ndone <<< 2 2> err`],
    use: '$v',
  }),
  (dice, text) => ({ before: [`while read v\ndo w=$v\ndone <<< ${quoted(dice, text)}`], use: '$w' }),
];

const indirectWays: readonly Way[] = [
  (dice, text) => ({
    before: [`w=${quoted(dice, text)}`, 'v=w'],
    use: dice.pick(['${!v}', '"${!v}"', '${!v:-zz}']),
  }),
  (dice, text) => ({ before: [`w=(zz ${quoted(dice, text)})`, "v='w[1]'"], use: '${!v}' }),
  (dice, text) => ({ before: ['declare -n r=w', `w=${quoted(dice, text)}`], use: '$r' }),
  (dice, text) => ({ before: ['declare -n r=w', `r=${quoted(dice, text)}`], use: '$w' }),
  (dice, text) => ({ before: ["declare -n r='w[1]'", `w=(zz ${quoted(dice, text)})`], use: '$r' }),
  (dice, text) => ({ before: ['declare -n r', 'r=w', `w=${quoted(dice, text)}`], use: '$r' }),
  (dice, text) => ({ before: [`fn() { declare -n q=$1\nq=${quoted(dice, text)}\n}`, 'fn w'], use: '$w' }),
  (dice, text) => ({ before: [`fn() { v=${quoted(dice, text)}\n}`, 'fn'], use: '$v' }),
  (dice, text) => ({ before: [`fn() { declare -g v=${quoted(dice, text)}\n}`, 'fn'], use: '$v' }),
  (dice, text) => ({
    before: [`fn() { local v=zz\nunset v\nv=${quoted(dice, text)}\nw=$v\n}`, 'fn'],
    use: '$w',
  }),
  (dice, text) => ({ before: [`fn() { printf -v "$1" %s ${quoted(dice, text)}\n}`, 'fn v'], use: '$v' }),
  (dice, text) => ({ before: ['n=v', `declare $n=${quoted(dice, text)}`], use: '$v' }),
  (dice, text) => ({ before: ['n=v', `read $n <<< ${quoted(dice, text)}`], use: '$v' }),
  (dice, text) => ({
    before: [],
    use: dice.pick([`$(printf %s ${quoted(dice, text)})`, `"$(echo ${quoted(dice, text)})"`]),
  }),
  (_dice, text) => ({ before: [], use: `\`echo ${text}\`` }),
  (dice, text) => ({ before: [], use: `$(cat <<< ${quoted(dice, text)})` }),
  (dice, text) => ({ before: [`fn() { echo ${quoted(dice, text)}\n}`], use: '$(fn)' }),
  (dice, text) => ({ before: [`v=${quoted(dice, text)}`], use: '$(echo $v)' }),
  (_dice, text) => ({
    before: [`v='${text.replace(/./, (one) => `\\x${one.charCodeAt(0).toString(16)}`)}'`],
    use: '${v@E}',
  }),
  (dice, text) => ({ before: [`v=${quoted(dice, text)}`], use: '${v@P}' }),
  (dice, text) => ({ before: [`vv1=${quoted(dice, text)}`], use: '$(n=${!vv@}; echo ${!n})' }),
  (dice, text) => ({
    before: ['i=1', `w=(zz ${quoted(dice, text)})`],
    use: dice.pick(['${w[i]}', '${w[$i]}', '${w[i+0]}', '${w[$((i))]}']),
  }),
  (dice, text) => ({
    before: [`w='zz,'${quoted(dice, text)}`, 'IFS=,', 'set -- $w', 'unset IFS'],
    use: '$2',
  }),
  (dice, text) => ({ before: [`w=zz-${quoted(dice, text)}`, 'IFS=-'], use: '$(set -- $w; printf %s "$2")' }),
  (dice, text) => ({ before: [`v=zz`, `kn || v=${quoted(dice, text)}`], use: '$v' }),
  (dice, text) => ({ before: [`v=zz`, `if kn\nthen v=zy\nelse v=${quoted(dice, text)}\nfi`], use: '$v' }),
  (dice, text) => ({ before: [`case zz in\nq) v=zy;;\nz*) v=${quoted(dice, text)};;\nesac`], use: '$v' }),
  (dice, text) => ({
    before: [`i=0`, `while ((i++ < 2))\ndo v=$w\nw=${quoted(dice, text)}\ndone`],
    use: '$v',
  }),
  (_dice, text) => ({ before: [`trap 'v=${text}' DEBUG`, ':', 'trap - DEBUG'], use: '$v' }),
  (_dice, text) => ({ before: [`trap 'v=${text}' ERR`, 'kn', ':'], use: '$v' }),
];
