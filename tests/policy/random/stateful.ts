import type { Dice } from './dice.ts';
import { quoted } from './quoting.ts';

const names = ['ka', 'kb', 'kc', 'kd', 'kn'] as const;
const variables = ['v', 'w', 'x'] as const;
const functions = ['f', 'g', 'h'] as const;

/** Returns a script that changes variables, arrays, arguments and functions at random and runs their values. */
export function stateful(dice: Dice): string[] {
  const statements = dice.some(2, 7, () => change(dice, 0));
  return [
    ...statements,
    ...dice.some(1, 3, () => use(dice)),
    ...(dice.once(3) ? [change(dice, 0), use(dice)] : []),
  ];
}

function change(dice: Dice, depth: number): string {
  return depth < 2 && dice.once(3) ? nested(dice, depth) : dice.pick(changes)(dice);
}

const word = (dice: Dice): string =>
  dice.once(3)
    ? dice.pick([
        '$v',
        '"$w"',
        '${x}',
        '${a[0]}',
        '"${a[1]}"',
        '$1',
        '"$2"',
        '${!x}',
        '${v:-ka}',
        '"${w:+kb}"',
        '${m[p]}',
        '$r',
      ])
    : quoted(dice, dice.pick(names));

const changes: readonly ((dice: Dice) => string)[] = [
  (dice) => `${dice.pick(variables)}=${word(dice)}`,
  (dice) => `${dice.pick(variables)}=${word(dice)}`,
  (dice) => `declare ${dice.pick(['', '-g ', '-x ', '-l ', '-r '])}${dice.pick(variables)}=${word(dice)}`,
  (dice) => `local ${dice.pick(variables)}=${word(dice)} 2> err`,
  (dice) => `export ${dice.pick(variables)}=${word(dice)}`,
  (dice) => `unset ${dice.pick(['v', 'w', 'x', 'a', "'a[0]'", '-f f', 'f', '-v v', 'm', '-n r'])}`,
  (dice) => `${dice.pick(variables)}+=${dice.pick(["''", '""', 'a'])}`,
  (dice) => `a=(${word(dice)} ${word(dice)})`,
  (dice) => `a+=(${word(dice)})`,
  (dice) => `a[${dice.pick(['0', '1', '2', 'i', '${#a[@]}'])}]=${word(dice)}`,
  (dice) => `declare -A m\nm[${dice.pick(['p', 'q'])}]=${word(dice)}`,
  (dice) => `set -- ${word(dice)} ${word(dice)}`,
  () => 'shift',
  () => 'x=v',
  () => 'x=w',
  () => 'declare -n r=v',
  () => 'declare -n r=w',
  (dice) => `r=${word(dice)}`,
  (dice) => `printf -v ${dice.pick(variables)} %s ${word(dice)}`,
  (dice) => `read ${dice.pick(variables)} <<< ${word(dice)}`,
  (dice) => `read v w <<< "${dice.pick(names)} ${dice.pick(names)}"`,
  (dice) => `read -a a <<< "${dice.pick(names)} ${dice.pick(names)}"`,
  (dice) => `mapfile -t a <<< ${word(dice)}`,
  (dice) => `v=$(echo ${word(dice)})`,
  (dice) => `: \${${dice.pick(variables)}:=${dice.pick(names)}}`,
  (dice) => `${dice.pick(functions)}() { ${dice.pick(names)}\n}`,
  (dice) => `${dice.pick(functions)}() { ${dice.pick(variables)}=${word(dice)}\n}`,
  (dice) => `${dice.pick(functions)}() { "\${1:-kd}"\n}`,
  (dice) => `${dice.pick(names)}() { command ${dice.pick(names)}\n}`,
  () => 'f',
  (dice) => `g ${word(dice)}`,
  (dice) => `eval ${dice.pick(variables)}=${dice.pick(names)}`,
  (dice) => `. <(echo ${dice.pick(variables)}=${dice.pick(names)})`,
  (dice) => `trap 'v=${dice.pick(names)}' ${dice.pick(['DEBUG', 'ERR', 'EXIT'])}`,
  (dice) => `trap '$v' ${dice.pick(['DEBUG', 'ERR', 'EXIT', 'RETURN'])}`,
  () => 'trap - DEBUG ERR RETURN',
  () => 'shopt -s lastpipe',
  (dice) => `echo ${dice.pick(names)} | read v`,
  (dice) => `shopt -s expand_aliases\nalias ${dice.pick(['q', 'ka'])}=${dice.pick(names)}`,
  () => 'unalias q 2> err',
  () => 'set -e',
  () => 'set +e',
  () => 'kn',
  (dice) => `[[ ${dice.pick(names)} =~ (.*) ]]`,
  (dice) => `${dice.pick(variables)}=\${BASH_REMATCH[1]}`,
  () => 'IFS=k',
  () => 'unset IFS',
  () => 'i=1',
  () => '((i++))',
  () => 'let i+=1',
  (dice) => `declare -f ${dice.pick(functions)} > out`,
  () => 'export -f f 2> err',
  () => 'exec 9<<< kb',
  () => 'read -u 9 v 2> err',
];

function nested(dice: Dice, depth: number): string {
  const body = (): string =>
    dice.some(1, 2, () => (dice.once(3) ? use(dice) : change(dice, depth + 1))).join('\n');
  return dice.pick([
    () => `if ${dice.pick([':', 'kn', '[ -n "$v" ]', '[[ $v == ka ]]'])}\nthen ${body()}\nelse ${body()}\nfi`,
    () => `if kn\nthen ${body()}\nfi`,
    () => `for ${dice.pick(variables)} in ${word(dice)} ${word(dice)}\ndo ${body()}\ndone`,
    () => `for j in 1 2\ndo ${body()}\ndone`,
    () => `j=0\nwhile ((j++ < 2))\ndo ${body()}\ndone`,
    () => `case $v in\nka) ${body()}\n;;\nkb) ${body()}\n;&\n*) ${body()}\n;;\nesac`,
    () => `{ ${body()}\n}`,
    () => `(${body()}\n)`,
    () => `kn || { ${body()}\n}`,
    () => `: && { ${body()}\n}`,
    () => `kn && { ${body()}\n}`,
    () => `{ ${body()}\n} | { ${body()}\n}`,
    () => `{ ${body()}\n} &\nwait`,
    () => `${dice.pick(functions)}() { ${body()}\n}`,
    () => `${dice.pick(functions)}() { local v=${word(dice)}\n${body()}\n}`,
    () => `while read v\ndo ${body()}\ndone <<< "${dice.pick(names)}"`,
    () => `for j in 1 2 3\ndo ${body()}\n${dice.pick(['break', 'continue'])}\n${body()}\ndone`,
    () => `eval '${body().replaceAll("'", '')}'`,
  ])();
}

function use(dice: Dice): string {
  return dice.pick([
    '$v',
    '"$v"',
    '$w',
    '"$w"',
    '$x',
    '${!x}',
    '"${!x}"',
    '${a[0]}',
    '"${a[0]}"',
    '${a[1]}',
    '"${a[@]}"',
    '${a[-1]} 2> err',
    '"${a[i]}"',
    '$1',
    '"$1"',
    '"$@"',
    '$2',
    '${m[p]}',
    '${m[q]}',
    '$r',
    'f',
    'g',
    'h',
    'f kc',
    'g kb',
    'q',
    'ka',
    'kb',
    '${v:-kc}',
    '${w:+kd}',
    '${v/ka/kb}',
    '${v#a}',
    '$(echo $v)',
    '$v$w',
    'command $v',
    'env $v',
    "bash -c '$v'",
    'bash -c "$v"',
    'eval "$v"',
    'eval $w',
    '${v%?}a',
    '($v)',
    '{ $v\n}',
    '$v | cat',
    '$v && $w',
    'kn || $v',
    'k${v#k}',
    '$REPLY',
    '$_',
    'builtin eval "$w"',
    'echo $v | bash',
    'bash <<< "$v"',
    'xargs -I% % <<< "$v"',
    'exec 2> err',
    'bash -c f',
    '${a[$i]}',
    '${a[@]:1:1}',
    '"${a[@]:0:1}"',
    '${v,,}',
    '${BASH_REMATCH[1]}',
  ]);
}
