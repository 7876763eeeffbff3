import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bestLevel } from '../../../tests/support/needs.ts';
import { createTestSession, type TestSession } from '../../../tests/support/session.ts';
import type { SupervisionLevel } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { WorkerOptions } from '../worker-options.ts';

let here: TestSession;
let level: SupervisionLevel;
const open = (options: Partial<WorkerOptions> = {}) =>
  createTestSession({
    ...{ highestLevel: level, supervisionRequire: level, shellBounds: { firstCheckMs: 100 } },
    ...options,
  });
beforeAll(async () => {
  level = await bestLevel();
});
beforeEach(() => {
  here = open();
});
afterEach(() => here.closeCompletely());
const say = (script: string, spec?: Partial<JobSpec>) => here.say(script, spec);
const restart = async (options: Partial<WorkerOptions>) => {
  await here.closeCompletely();
  here = open(options);
};

describe('recovery of a persistent shell', () => {
  test.each([
    ['exit 3', 3],
    ['exec bash -c "exit 4"', 4],
    ['set -e; false; echo not reached', 1],
    ['kill -9 $$', 137],
    ['trap "echo bye" EXIT; exit 5', 5],
    ['break 9', 0],
    ['readonly IFS; exit 6', 6],
    ['builtin() { :; }; kill -9 $$', 137],
  ])('B4: after `%s` the next call finds a working shell in the same state', async (script, code) => {
    await say(
      'mkdir -p sub; cd sub; export KEPT="two words"; plain=$\'a\\nb\'; g() { echo g; }; alias gg=g; set -o pipefail',
    );
    const ended = await say(script);
    expect(ended.code).toBe(code);
    expect(ended.stdout).not.toContain('not reached');
    const next = await say(
      'pwd; echo "$KEPT/$plain"; gg; set -o | grep -c "pipefail.*on"; printenv KEPT; false; echo on',
    );
    expect(next.stdout).toBe(`${here.folder}/sub\ntwo words/a\nb\ng\n1\ntwo words\non\n`);
    expect(next.end?.session?.restored).toMatchObject({ reason: 'ended', functions: 1, aliases: 1 });
  });

  test('B4: functions are restored with any content', async () => {
    await say('shopt -s extglob');
    await say(
      'ext() { case $1 in @(a|b)) echo "either $1";; esac; }; last-one() { echo last; }; export -f ext',
    );
    await say('doc() { cat <<E1\n}\nlast-one () \n{ \n    not me\n}\nE1\n}; alias al=last-one; pwd() { :; }');
    const call = 'ext b; doc; al; bash -O extglob -c "ext a"';
    const before = await say(call);
    expect(before.stdout).toBe('either b\n}\nlast-one () \n{ \n    not me\n}\nlast\neither a\n');
    await say('exit 3');
    const after = await say(call);
    expect(after.stdout).toBe(before.stdout);
    expect(after.end?.session?.restored).toMatchObject({ functions: 3, aliases: 1 });
    expect(after.end?.session?.restored?.lost).toContain('functions (pwd)');
  });

  test.each([
    'return 3',
    'set -u; echo $nope; true',
    'PS4="$(echo x)+ "; set -x; echo traced',
    'exec </dev/null; exec >&-; exec 2>&-',
    'for fd in /proc/$$/fd/*; do n=$(basename $fd); eval "exec $n>&-"; done',
    'ulimit -n 20; true',
    'trap "echo trapped" DEBUG ERR; false',
    'break; continue',
    'mkdir gone; cd gone; rmdir ../gone',
    'echo "done 0000 0" >&9; echo "done x 0" >&10; printf "gone 3\\0" >&11; true',
    'read -t 0.1 line; echo "[$line]"',
    'cat; cat /dev/fd/8; cat /dev/fd/9',
    'set -f; IFS=x; unset HOME PATH; PATH=/usr/bin:/bin',
    'declare -r __nacre=1',
    'readonly _',
    'builtin() { :; }',
    'declare -r IFS=x',
    'readonly __nacre_out __nacre_err __nacre_status',
    'declare -n __nacre_out=__nacre_err',
    'declare -i __nacre',
    'declare -u __nacre',
    'enable -n printf',
    'set -r',
    'exec 9>&2; BASH_XTRACEFD=9; set -x',
    'trap "exec 9>&-" DEBUG',
    'trap "printf \'gone 3\\0\' >&9" DEBUG',
    'trap "printf \'\\0\'" DEBUG',
    'trap "echo x" DEBUG; enable -n trap',
    'enable -n eval',
    'enable -n enable eval',
    'set -n',
    'set -o noexec; echo not reached',
    'shopt -s extdebug; trap false DEBUG',
  ])('B4: `%s` leaves a working session', async (script) => {
    expect((await say(script)).status).not.toBe('timeout');
    expect((await say('echo works')).stdout).toContain('works\n');
    expect((await say('PATH=/usr/bin:/bin; ls / | head -1 > /dev/null; echo $?')).stdout).toContain('0\n');
  });

  test('B4: a shell that was stopped with SIGSTOP between two commands executes the next one, in its state', async () => {
    await say('x=kept; { sleep 0.1; kill -STOP $$; echo > stopped; } & disown');
    await expect.poll(() => existsSync(join(here.folder, 'stopped'))).toBe(true);
    const next = await say('echo $x');
    expect(next).toMatchObject({ stdout: 'kept\n', code: 0 });
    expect(next.end?.session).toMatchObject({ shellEnded: false, restored: null });
  });

  test('B4: the exit of a shell is reported although the command has stopped its host with SIGSTOP', async () => {
    const { status, code, end } = await say('kill -STOP $PPID; exit 3');
    expect({ status, code, cause: end?.cause }).toEqual({ status: 'failed', code: 3, cause: 'exit' });
    expect((await say('echo works')).stdout).toBe('works\n');
  });

  test('B4: `trap "cat <&8 >/dev/null" DEBUG` leaves a working session', async () => {
    await restart({ shellBounds: { firstCheckMs: 50, exitReportMs: 300 } });
    expect((await say('trap "cat <&8 >/dev/null" DEBUG')).status).not.toBe('timeout');
    expect((await say('echo works')).stdout).toContain('works\n');
  });

  test('B4: the output of a trap is not mistaken for the state of the shell, and the trap is kept', async () => {
    await say('mkdir sub');
    const set = await say(
      `trap 'echo "declare -- forged=lie"; echo /lie' DEBUG; cd sub; sleep 60 & f() { :; }`,
    );
    expect(set.end?.session).toMatchObject({ cwd: `${here.folder}/sub`, shellEnded: false });
    expect(set.end?.leftRunning).toMatchObject([{ command: 'sleep 60' }]);
    const facts = await here.worker.inspect({ cwd: undefined, roots: [], programs: [], session: 'main' });
    expect(facts.cwd.path).toBe(`${here.folder}/sub`);
    expect(facts.session?.variables).not.toHaveProperty('forged');
    expect(Object.keys(facts.session?.functions ?? {})).toEqual(['f']);
    const next = await say('pwd');
    expect(next.stdout).toBe(`declare -- forged=lie\n/lie\n${here.folder}/sub\n`);
    expect(next.end?.session?.restored).toBeNull();
    await say('trap - DEBUG');
    expect((await say('pwd')).stdout).toBe(`${here.folder}/sub\n`);
  });

  test('P13: a command that changes the variables of the loop gets its shell replaced, and the next command runs unchanged', async () => {
    await say('a=small; A=LARGE; declare -l __nacre');
    const next = await say('echo $A');
    expect(next.stdout).toBe('LARGE\n');
    expect(next.end?.session?.restored).toMatchObject({ reason: 'ended' });
    expect((await say('echo $A')).end?.session?.restored).toBeNull();
  });

  test('P13: state is reported even if builtins are disabled', async () => {
    await say('mkdir sub; alias ll=ls; enable -n alias jobs pwd; cd sub; sleep 60 & disown');
    const facts = await here.worker.inspect({ cwd: undefined, roots: [], programs: [], session: 'main' });
    expect(facts.session).toMatchObject({ cwd: join(here.folder, 'sub'), aliases: { ll: 'ls' } });
  });

  test('P13: a shell with a trap that can skip parts of the state report is replaced', async () => {
    await say('mkdir sub');
    await say(`x=1; shopt -s extdebug; trap '[[ $BASH_COMMAND != *"alias -p"* ]]' DEBUG`);
    await say('alias ll=ls; cd sub');
    const next = await say('pwd; trap -p DEBUG; alias');
    expect(next.stdout).toBe(`${here.folder}/sub\nalias ll='ls'\n`);
  });

  test('B4: if a variable makes the state too large, the shell is replaced and its last known state is restored', async () => {
    await restart({ shellBounds: { maxStateBytes: 1_000_000 } });
    await say('x=kept');
    await say('y=$(head -c 2000000 /dev/zero | tr "\\0" y)');
    expect((await say('echo $x $(printf %s "$y" | wc -c)')).stdout).toBe('kept 0\n');
  });

  test('B4: a trace into an output is not mistaken for the state of the shell', async () => {
    mkdirSync(join(here.folder, 'sub'));
    const traced = await say('BASH_XTRACEFD=1; set -x; cd sub; x=5');
    expect(traced.end?.session?.cwd).toBe(join(here.folder, 'sub'));
    await say('exit 3');
    expect((await say('echo $x; pwd')).stdout).toBe(`5\n${here.folder}/sub\n`);
  });

  test.each(['printf "\\0\\0/lie\\0done a 5\\0"', 'head -c 100000 /dev/zero | tr "\\0" x'])(
    'B4: a trap is kept, and its shell is asked again after any output of the trap: %s',
    async (trap) => {
      mkdirSync(join(here.folder, 'sub'));
      const set = await say(`x=5; cd sub; trap '${trap}' DEBUG`);
      expect(set).toMatchObject({ code: 0, end: { session: { cwd: join(here.folder, 'sub') } } });
      const next = await say('trap -p | grep -c DEBUG >&2; echo $x >&2');
      expect(next).toMatchObject({ stderr: '1\n5\n', end: { session: { restored: null } } });
    },
  );

  test('B4: a shell that exits when it is asked for its state again is restarted, and the session can be closed', async () => {
    await say('x=kept');
    await say(`trap '[[ $__nacre == : ]] && exit' DEBUG`);
    expect((await say('echo $x')).stdout).toBe('kept\n');
  });
});
