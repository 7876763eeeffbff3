import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { decide } from '../../src/policy/decide.ts';
import { understand } from '../../src/policy/understand.ts';
import { processesWith } from '../support/processes.ts';
import { createTestWorker, type TestWorker } from '../support/worker.ts';

describe('P13: a command is judged by the state that a real persistent shell reports', () => {
  let here: TestWorker;
  beforeAll(() => {
    here = createTestWorker();
  });
  afterAll(async () => {
    await here.close();
    await vi.waitFor(() => expect(processesWith(`HOME=${here.folder}`)).toEqual([]), { timeout: 10_000 });
  });

  let sessions = 0;
  /** Runs `first` in a new shell, then judges `next` without running it. */
  const judgeAfter = async (first: string, next: string, names: readonly string[] | '*') => {
    const session = `s${sessions++}`;
    const inspect = () => here.worker.inspect({ cwd: undefined, roots: [], programs: [], session });
    const cwd = (await inspect()).cwd.path ?? '/';
    await here.run(first, { session, cwd, timeoutMs: 20_000 });
    const plan = understand({ kind: 'shell', script: next }, { lasting: true });
    return decide(plan, await inspect(), {
      allow: names === '*' ? { kind: 'all' } : { kind: 'names', names },
      allowSetting: 'ALLOWED_COMMANDS',
      danger: 'block',
    });
  };

  test.concurrent.each<[first: string, next: string, names: readonly string[] | '*']>([
    ['alias ll="touch x"', 'll', ['ll', 'ls']],
    ['ls() { touch "$@"; }', 'ls x', ['ls']],
    ['ls() { git "$@"; }; export -f ls', "bash -c 'ls -c core.pager=touch log'", ['bash', 'ls', 'git']],
    ['v=touch', '$v x', ['ls']],
    ["v='a[$(touch x)]'", '(( v ))', ['ls']],
    ["export v='a[$(touch x)]'", "bash -c '(( v ))'", ['bash']],
    ["a=(1 'b[$(touch x)]')", '(( a[1] ))', ['ls']],
    ["declare -A m=([k]='b[$(touch x)]')", 'echo $(( m[k] ))', ['echo']],
    ['declare -n r=PATH', 'r=.; ls', ['ls']],
    ['declare -i n', "n='a[$(touch x)]'", ['ls']],
    ['declare -l v', 'v=LS; $v', ['LS']],
    ['PATH=.:$PATH', 'ls', ['ls']],
    ['unset PATH', 'ls', ['ls']],
    ['set -o posix', 'ls', ['ls']],
    ['shopt -s lastpipe', 'ls', ['ls']],
    ['command_not_found_handle() { "$@"; }', 'ls', ['ls']],
    ['cd /', 'rm -rf *', '*'],
    ['cd /usr', 'rm -rf ../*', '*'],
    ['HOME=/usr', 'rm -rf ~', '*'],
    ['target=/', 'rm -rf "$target"', '*'],
    ['CDPATH=/', 'cd etc && rm -rf *', '*'],
    ['gone() { rm -rf "$1"; }', 'gone /', '*'],
  ])('after %s: %s is refused', async (first, next, names) => {
    const decision = await judgeAfter(first, next, names);
    expect(decision).toMatchObject({ verdict: 'deny' });
    expect(decision.rule).not.toBe('not_understood');
  });

  test.concurrent.each<[first: string, next: string, names: readonly string[]]>([
    ['true', 'ls', ['ls']],
    ['alias ll="ls -l"', 'll', ['ll', 'ls']],
    ['show() { ls "$1"; }', 'show src', ['ls']],
    ['a=(ls -l)', '"${a[@]}"', ['ls']],
    ['mkdir -p sub; cd sub; x=1; export y=2; declare -i n=3', 'n=4; echo "$x $y $n"', ['echo']],
    ['set -uo pipefail; shopt -s nullglob globstar', 'ls *.ts', ['ls']],
    [`x=$'line\\nbreak \\'quote\\' "double" \\\\'`, 'echo "$x"', ['echo']],
  ])('after %s: %s is allowed', async (first, next, names) => {
    const { verdict, reason } = await judgeAfter(first, next, names);
    expect({ verdict, reason }).toMatchObject({ verdict: 'allow' });
  });
});
