import { carried } from './carriers.ts';
import type { Dice } from './dice.ts';
import { quoted } from './quoting.ts';
import { stateful } from './stateful.ts';
import { valueFor } from './values.ts';

/** Stub programs that the scripts run; `kn` exits with status 1. */
export const stubs = ['ka', 'kb', 'kc', 'kd', 'kn'] as const;

/** Real programs that start other programs. */
export const helpers = 'bash sh env nice timeout nohup xargs find sed awk cat base64'.split(' ');

/** Returns a random script as a list of statements, to be joined with newlines. */
export function randomScript(dice: Dice): string[] {
  if (dice.once(3)) return stateful(dice);
  const statements = dice.some(1, 2, () => randomStatement(dice));
  return dice.once(4) ? [...stateful(dice).slice(0, 4), ...statements] : statements;
}

function randomStatement(dice: Dice): string {
  let code = simple(dice);
  for (let depth = dice.below(4); depth > 0; depth--) code = carried(dice, code);
  return code;
}

/** Returns a command that runs a stub, with its name written or computed in a random way. */
function simple(dice: Dice): string {
  const name = dice.pick(stubs);
  if (dice.once(3)) return named(dice, name);
  const value = valueFor(dice, name);
  const tail = dice.pick(['', '', ' a b', ' "$@"', ' < /dev/null']);
  return [...value.before, `${started(dice, value.use)}${tail}`].join('\n');
}

function started(dice: Dice, use: string): string {
  const prefix = dice.pick([
    '',
    '',
    '',
    '',
    'command ',
    'env ',
    'A=1 ',
    '! ',
    'command -p -- ',
    'exec ',
    'nice ',
    'eval ',
  ]);
  return prefix === 'exec ' ? `(exec ${use})` : prefix + use;
}

function named(dice: Dice, name: string): string {
  return dice.pick([
    () => `${quoted(dice, name)} a`,
    () => `{${name},a}`,
    () => `${name.slice(0, 1)}{${name.slice(1)},zz}`,
    () => `${name.slice(0, 1)}[${name.slice(1)}]`,
    () => `k?`,
    () => `\\\n${name}`,
    () => `> out ${name}`,
    () => `2>&1 A=1 ${name} < /dev/null`,
    () => `command -- ${quoted(dice, name)}`,
    () => `env -i PATH="$PATH" CASE="$CASE" ${quoted(dice, name)}`,
    () => `echo a | xargs ${quoted(dice, name)}`,
    () => `echo ${quoted(dice, name)} | xargs -I% %`,
    () => `find . -maxdepth 0 -exec ${quoted(dice, name)} {} +`,
    () => `timeout 1 ${quoted(dice, name)}`,
    () => `sed '1e ${name}' <<< a > out`,
    () => `awk 'BEGIN { system("${name}") }'`,
    () => `awk 'BEGIN { "${name}" | getline }'`,
    () => `sh -c ${quoted(dice, name)}`,
    () => `echo ${name} | sh`,
    () => `PATH=$PATH ${name}`,
    () => `hash -p "$(command -v ${name})" zz\nzz`,
    () => `enable -n echo\n${name}`,
    () => `bash -c '"$@"' _ ${quoted(dice, name)}`,
    () => `bash -c '$0' ${quoted(dice, name)}`,
    () => `jobs -x ${name}`,
    () => `coproc ${name}\nwait`,
    () => `coproc CO { ${name}\n}\nwait`,
  ])();
}
