import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDescriptors, processesWith } from '../../../tests/support/processes.ts';
import { replaceFiles } from '../../../tests/support/replace-files.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import type { JobSpec } from '../../contract/job.ts';

describe.each(['group', 'unshare', 'namespace'] as const)('a persistent shell at level %s', (level) => {
  let here: TestWorker;
  let mark = '';
  beforeEach(() => {
    here = createTestWorker({ highestLevel: level, supervisionRequire: level });
    mark = `HOME=${here.folder}`;
  });
  afterEach(async () => {
    await here.close();
    await expect.poll(() => processesWith(mark)).toEqual([]);
  });

  const place = async () =>
    (await here.worker.inspect({ cwd: undefined, roots: [], programs: [], session: 'main' })).cwd.path ?? '/';
  const say = async (script: string, more: Partial<JobSpec> = {}) => {
    const cwd = await place();
    const { state, stdout, stderr } = await here.run(script, {
      session: 'main',
      cwd,
      timeoutMs: 20_000,
      ...more,
    });
    return { stdout, stderr, status: state.status, code: state.end?.exitCode, end: state.end };
  };

  test('B3: directory, variables, functions, options and aliases survive from call to call', async () => {
    await say(
      'mkdir -p "a b"; cd "a b"; plain=1; export loud=2; f() { echo "f:$1"; }; shopt -s nullglob; set -u; alias hi="echo alias"',
    );
    const { stdout, stderr } = await say('pwd; echo $plain $loud; f x; hi there; echo *.none; printenv loud');
    expect(stderr).toBe('');
    expect(stdout).toBe(`${here.folder}/a b\n1 2\nf:x\nalias there\n\n2\n`);
  });

  test('B5: keeps both outputs apart, and tells line numbers as of one command', async () => {
    await say(':\n:\n:');
    const first = await say('echo out; echo err >&2; (exit 3)');
    expect(first).toMatchObject({ stdout: 'out\n', stderr: 'err\n', code: 3, status: 'failed' });
    expect((await say('nosuch-program-x')).stderr).toBe(
      'bash: line 1: nosuch-program-x: command not found\n',
    );
    const long = `# ${'ä'.repeat(200)}\nprintf '%s ' "$LINENO" 'it'"'"'s ä€😀 \\303' "\u0001"\nnosuch-program-y`;
    expect(await say(long)).toMatchObject({
      stdout: "2 it's ä€😀 \\303 \u0001 ",
      stderr: 'bash: line 3: nosuch-program-y: command not found\n',
    });
    expect((await say('echo a; echo b > /dev/stdout; echo c | tee /dev/stderr')).stdout).toBe('a\nb\nc\n');
  });

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

  test('B4: functions come back whatever they hold', async () => {
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
    'trap "cat <&8 >/dev/null" DEBUG',
    'trap "printf \'\\0\'" DEBUG',
    'trap "echo x" DEBUG; enable -n trap',
    'enable -n eval',
    'enable -n enable eval',
    'set -n',
    'set -o noexec; echo not reached',
    'shopt -s extdebug; trap false DEBUG',
  ])('B4: `%s` leaves a session that goes on', async (script) => {
    expect((await say(script)).status).not.toBe('timeout');
    expect((await say('echo works')).stdout).toContain('works\n');
    expect((await say('PATH=/usr/bin:/bin; ls / | head -1 > /dev/null; echo $?')).stdout).toContain('0\n');
  });

  test('B4: what a trap prints is not taken for the state of its shell, and the trap stays', async () => {
    await say('mkdir sub');
    const set = await say(
      `trap 'echo "declare -- told=lie"; echo /lie' DEBUG; cd sub; sleep 60 & f() { :; }`,
    );
    expect(set.end?.session).toMatchObject({ cwd: `${here.folder}/sub`, shellEnded: false });
    expect(set.end?.leftRunning).toMatchObject([{ command: 'sleep 60' }]);
    const facts = await here.worker.inspect({ cwd: undefined, roots: [], programs: [], session: 'main' });
    expect(facts.cwd.path).toBe(`${here.folder}/sub`);
    expect(facts.session?.variables).not.toHaveProperty('told');
    expect(Object.keys(facts.session?.functions ?? {})).toEqual(['f']);
    const next = await say('pwd');
    expect(next.stdout).toBe(`declare -- told=lie\n/lie\n${here.folder}/sub\n`);
    expect(next.end?.session?.restored).toBeNull();
    await say('trap - DEBUG');
    expect((await say('pwd')).stdout).toBe(`${here.folder}/sub\n`);
  });

  test.each(['suspend -f', 'kill -STOP 0', 'kill -STOP $PPID; exit'])(
    'B4: a timeout ends `%s` as well',
    async (script) => {
      await say('x=kept');
      expect((await say(script, { timeoutMs: 300 })).status).toBe('timeout');
      expect((await say('echo $x')).stdout).toBe('kept\n');
    },
  );

  test('P13: what lays hands on how the shell reads its orders costs the shell, not the meaning of the next', async () => {
    await say('a=small; A=LARGE; declare -l __nacre');
    const next = await say('echo $A');
    expect(next.stdout).toBe('LARGE\n');
    expect(next.end?.session?.restored).toMatchObject({ reason: 'ended' });
    expect((await say('echo $A')).end?.session?.restored).toBeNull();
  });

  test('P13: builtins that were turned off are told of all the same', async () => {
    await say('mkdir sub; alias ll=ls; enable -n alias jobs pwd; cd sub; sleep 60 & disown');
    const facts = await here.worker.inspect({ cwd: undefined, roots: [], programs: [], session: 'main' });
    expect(facts.session).toMatchObject({ cwd: join(here.folder, 'sub'), aliases: { ll: 'ls' } });
  });

  test('P13: a trap that can skip what is told costs the shell', async () => {
    await say('mkdir sub');
    await say(`x=1; shopt -s extdebug; trap '[[ $BASH_COMMAND != *"alias -p"* ]]' DEBUG`);
    await say('alias ll=ls; cd sub');
    const next = await say('pwd; trap -p; alias');
    expect(next.stdout).toBe(`${here.folder}/sub\nalias ll='ls'\n`);
  });

  test('B4: `cd -` goes where it would have gone, after every restart', async () => {
    await say('mkdir one two; cd one; cd ../two');
    await say('exit 3');
    expect((await say('cd -')).stdout).toBe(`${here.folder}/one\n`);
    await say('unset OLDPWD');
    await say('exit 3');
    expect((await say('cd -')).stderr).toContain('OLDPWD not set');
  });

  test('B4: a command whose outputs were replaced is not run, and the next one gets new ones', async () => {
    await say('x=kept; cd /');
    replaceFiles(join((await here.worker.report()).folder, 'shells/0/pipes'));
    const lost = await say(`touch ${here.folder}/never`);
    expect(lost).toMatchObject({ code: 126, end: { session: { ran: false, shellEnded: false } } });
    const next = await say(`echo $x; pwd; ls ${here.folder}/never`);
    expect(next).toMatchObject({ stdout: 'kept\n/\n', end: { session: { ran: true } } });
  });

  test('P13: what is known of it is made anew when it has changed, and only then', async () => {
    const facts = async () =>
      (await here.worker.inspect({ cwd: undefined, roots: [], programs: [], session: 'main' })).session;
    await say('x=1');
    const first = await facts();
    await say(': $RANDOM');
    expect(await facts()).toBe(first);
    await say('unset RANDOM; RANDOM=one');
    expect((await facts())?.variables?.RANDOM).toBe('one');
    await say('RANDOM=two');
    expect((await facts())?.variables?.RANDOM).toBe('two');
    await say('f() { :; }');
    expect(Object.keys((await facts())?.functions ?? {})).toEqual(['f']);
  });

  test('is free of an earlier background child’s late output, which is kept for its own command', async () => {
    const cwd = await place();
    const id = await here.start('(sleep 0.4; echo late) & echo now', { session: 'main', cwd });
    await here.worker.wait(id, 10_000);
    expect((await here.output(id)).stdout).toBe('now\n');
    expect((await say('sleep 0.8; echo second')).stdout).toBe('second\n');
    await expect.poll(async () => (await here.output(id)).stdout).toBe('now\nlate\n');
  });

  test('E2: a timeout ends the command with all it started, and what was in the background before lives on', async () => {
    // Others on the machine may run the same test.
    const base = 70_000_000 + Math.floor(Math.random() * 1e6) * 10;
    const sleeping = (one: number) => processesWith(`sleep\u0000${base + one}\u0000`);
    await say(`sleep ${base + 1} & echo $! > pid; x=kept`);
    const late = await say(
      `(setsid sleep ${base + 2} &); ( (while :; do :; done) & ); sleep ${base + 3}; touch never`,
      { timeoutMs: 300 },
    );
    expect(late).toMatchObject({ status: 'timeout', end: { survivors: [] } });
    expect(sleeping(2)).toEqual([]);
    expect(sleeping(3)).toEqual([]);
    expect(sleeping(1)).toHaveLength(1);
    expect((await say('echo $x; kill -0 $(cat pid) && echo alive; ls never')).stdout).toBe('kept\nalive\n');
  });

  test('takes commands of any size, binary output and output without an end of line', async () => {
    const long = `echo ${'x'.repeat(300_000)} | wc -c`;
    expect((await say(long)).stdout).toBe('300001\n');
    expect((await say('printf "no end"')).stdout).toBe('no end');
    expect((await say('head -c 1000 /dev/zero | tr "\\0" "\\377"')).end?.exitCode).toBe(0);
    expect((await say('echo next')).stdout).toBe('next\n');
  });

  test('moves where it is told to, and to the nearest directory that is left when its own is gone', async () => {
    mkdirSync(join(here.folder, 'x y/z'), { recursive: true });
    expect((await say('pwd', { cwd: join(here.folder, 'x y/z') })).stdout).toBe(`${here.folder}/x y/z\n`);
    rmSync(join(here.folder, 'x y'), { recursive: true });
    expect((await say('pwd')).stdout).toBe(`${here.folder}\n`);
  });

  test('B4: a path that is too long, or a file in the place of its directory, costs the directory and no more', async () => {
    await say(`x=kept; d=$(printf 'd%.0s' {1..200}); for i in {1..25}; do mkdir $d; cd $d; done`);
    expect((await say('echo $x')).stdout).toBe('kept\n');
    expect((await say('rm -r ~/ddd*; cd ~/; mkdir sub; cd sub; rmdir ../sub; touch ../sub; y=1')).code).toBe(
      0,
    );
    expect((await say('pwd; echo $y')).stdout).toBe(`${here.folder}\n1\n`);
    await say('mkdir two; cd two');
    await say('exit 3');
    rmSync(join(here.folder, 'two'), { recursive: true });
    writeFileSync(join(here.folder, 'two'), '');
    expect((await say('pwd')).stdout).toBe(`${here.folder}\n`);
  });

  test('B4: goes into the directory that has taken the place of its own', async () => {
    await say('mkdir build; cd build');
    await say(':');
    rmSync(join(here.folder, 'build'), { recursive: true });
    mkdirSync(join(here.folder, 'build'));
    expect((await say('touch made; ls; pwd')).stdout).toBe(`made\n${here.folder}/build\n`);
  });

  test('lends its state to a command that runs beside it, and gets nothing back', async () => {
    await say('mkdir -p d; cd d; v="it\'s"; f() { echo "f $v"; v=changed; }; alias al=f; export E=1');
    const beside = await here.run('pwd; al; printenv E; nosuch-x; cd /', {
      beginsAs: 'main',
      cwd: await place(),
    });
    expect(beside.stdout).toBe(`${here.folder}/d\nf it's\n1\n`);
    expect(beside.stderr).toContain('line 1: nosuch-x');
    expect((await say('pwd; echo $v')).stdout).toBe(`${here.folder}/d\nit's\n`);
  });

  test('grows by nothing in many commands', async () => {
    await say(':');
    const before = openDescriptors();
    for (let round = 0; round < 100; round += 1) await say('echo x; true');
    expect(openDescriptors()).toBeLessThanOrEqual(before + 2);
  });

  test('survives the loss of its folder', async () => {
    await say('x=1; cd /');
    rmSync(join((await here.worker.report()).folder, 'shells'), { recursive: true });
    expect((await say('echo $x; pwd')).stdout).toBe('1\n/\n');
  });

  test('B4: says that its folder cannot be used, and goes on when it can', async () => {
    await say('x=1; cd /');
    const shells = join((await here.worker.report()).folder, 'shells');
    rmSync(shells, { recursive: true });
    writeFileSync(shells, '');
    const closed = {
      code: 'resources_unavailable',
      message: expect.stringContaining(`own folder ${shells}`),
    };
    await expect(say('echo $x')).rejects.toMatchObject(closed);
    await expect(say('echo $x')).rejects.toMatchObject(closed);
    rmSync(shells);
    expect((await say('echo $x; pwd')).stdout).toBe('1\n/\n');
  });

  test('B4: a state that no shell can be brought into is given up, but for the directory', async () => {
    await say('cd /; x=1; PS4="\\$(test -e $OLDPWD/slow && sleep 1000)"; set -x; exit 3');
    await say('cd /; PS4="\\$(test -e $OLDPWD/slow && sleep 1000)"; set -x');
    await say(`touch ${here.folder}/slow; exit 3`, { timeoutMs: 300 });
    const next = await say('pwd');
    expect(next.stdout).toBe('/\n');
    expect(next.end?.session?.restored?.lost).toEqual(['everything but the directory']);
  });

  test('B4: a variable larger than what is read of a state costs the shell, and no more', async () => {
    await say('x=kept');
    await say('y=$(head -c 70000000 /dev/zero | tr "\\0" y)');
    expect((await say('echo $x $(printf %s "$y" | wc -c)')).stdout).toBe('kept 0\n');
  });

  test('B4: variables of many megabytes stay', async () => {
    await say(
      'y=$(head -c 10000000 /dev/zero | tr "\\0" y); z=$(head -c 1000000 /dev/zero | tr "\\0" "\\$")',
    );
    expect((await say('printf %s "$y" | wc -c; printf %s "$z" | wc -c')).stdout).toBe('10000000\n1000000\n');
    await say('exit');
    expect((await say('printf %s "$y" | wc -c; printf %s "$z" | wc -c')).stdout).toBe('10000000\n1000000\n');
  });

  test('B4: a trace into an output is not taken for the state of its shell', async () => {
    mkdirSync(join(here.folder, 'sub'));
    const traced = await say('BASH_XTRACEFD=1; set -x; cd sub; x=5');
    expect(traced.end?.session?.cwd).toBe(join(here.folder, 'sub'));
    await say('exit 3');
    expect((await say('echo $x; pwd')).stdout).toBe(`5\n${here.folder}/sub\n`);
  });

  test.each(['printf "\\0\\0/lie\\0done a 5\\0"', 'head -c 100000 /dev/zero | tr "\\0" x'])(
    'B4: a trap stays, and its shell is asked again, whatever it prints: %s',
    async (trap) => {
      mkdirSync(join(here.folder, 'sub'));
      const set = await say(`x=5; cd sub; trap '${trap}' DEBUG`);
      expect(set).toMatchObject({ code: 0, end: { session: { cwd: join(here.folder, 'sub') } } });
      const next = await say('trap -p | grep -c DEBUG >&2; echo $x >&2');
      expect(next).toMatchObject({ stderr: '1\n5\n', end: { session: { restored: null } } });
    },
  );

  test('B4: a trap that does not end while a state is told costs the shell, and no more', async () => {
    await say('x=kept');
    await say(`trap '[[ $BASH_COMMAND == *"declare -p"* ]] && sleep 1000' DEBUG`);
    expect((await say('echo $x')).stdout).toBe('kept\n');
  }, 60_000);

  test('B4: a shell that exits when it is asked for its state again is restarted, and the session can be closed', async () => {
    await say('x=kept');
    await say(`trap '[[ $__nacre == : ]] && exit' DEBUG`);
    expect((await say('echo $x')).stdout).toBe('kept\n');
  });

  test('B4: a shell that ends while it has nothing to do costs no command', async () => {
    await say('x=1; sleep 60 & (sleep 0.1; kill -KILL $$; touch killed) > /dev/null 2>&1 &');
    await here.run('until [[ -e killed ]]; do sleep 0.01; done; sleep 0.1');
    const next = await say('echo $x; pgrep -x sleep | wc -l');
    expect(next).toMatchObject({ code: 0, end: { session: { restored: { reason: 'ended' } } } });
    expect(next.stdout).toMatch(/^1\n[1-9]/);
  });

  test('ends its processes when it is idle, with its state kept', async () => {
    await here.close();
    here = createTestWorker({ highestLevel: level, supervisionRequire: level, sessionIdleMs: 100 });
    await say('x=1; cd /tmp');
    await expect
      .poll(async () => (await here.worker.listSessions())[0]?.status, { timeout: 5_000 })
      .toBe('idle');
    const next = await say('echo $x; pwd');
    expect(next.stdout).toBe(`1\n${realpathSync('/tmp')}\n`);
    expect(next.end?.session?.restored).toMatchObject({ reason: 'idle' });
    expect(await here.worker.closeSession('main')).toBe(true);
    expect(await here.worker.closeSession('main')).toBe(false);
  });
});
