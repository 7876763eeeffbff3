import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtCli } from '../support/build.ts';
import { collect, createPlace, endOf, sleep, startReal, survivors } from '../support/nacre.ts';
import { processesWith } from '../support/processes.ts';

const place = createPlace();

// An executable without blanks in its path, for commands inside nacre.
const shim = join(place.cwd, 'n');
writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' '${builtCli}' "$@"\n`, { mode: 0o755 });

function bash(script: string) {
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['-c', `n() { '${process.execPath}' '${builtCli}' "$@"; }; ${script}`],
    {
      cwd: place.cwd,
      env: { ...place.env, N: 'n', SHIM: shim },
      timeout: 10_000,
    },
  );
  return { status, stdout: stdout.toString(), stderr: stderr.toString() };
}

describe('the built nacre', () => {
  it('runs a command to its exit code, and leaves no folder behind', async () => {
    const ended = await endOf(startReal(['run', 'echo out; echo err >&2; exit 7'], place));
    expect(ended).toEqual({ code: 7, stdout: 'out\n', stderr: 'err\n' });
    expect(bash('ls .local/state/nacre/run').stdout).toBe('');
  });

  it('fails if its output cannot be written, but not if its reader has gone', () => {
    for (const command of ['check ls', 'run "echo lost"', 'init --print']) {
      const { status, stderr } = bash(`n ${command} > /dev/full`);
      expect(status, command).toBe(1);
      expect(stderr, command).toContain('nacre: stdout cannot be written: ENOSPC');
    }
    expect(bash('n run "exit 3" > /dev/full')).toMatchObject({ status: 3, stderr: '' });
    // Still running when the output is lost, so nacre stops it.
    expect(bash('n run "echo x; sleep 60" > /dev/full').status).toBe(1);
    expect(bash('set -o pipefail; n man | head -n 1')).toMatchObject({ status: 0, stderr: '' });
  });

  it('forwards 3 MB of binary output unchanged', () => {
    const bytes = randomBytes(3_000_000);
    writeFileSync(join(place.cwd, 'binary'), bytes);
    expect(bash('$N run "cat binary" > copy').status).toBe(0);
    expect(readFileSync(join(place.cwd, 'copy')).equals(bytes)).toBe(true);
    expect(bash('$N run "cat binary" | (sleep 0.2; cat) > copy').status).toBe(0);
    expect(readFileSync(join(place.cwd, 'copy')).equals(bytes)).toBe(true);
  });

  it('exits without an error message when its reader closes the pipe', async () => {
    expect(bash('set -o pipefail; $N run yes | head -1; echo $?')).toEqual({
      status: 0,
      stdout: 'y\n141\n',
      stderr: '',
    });
    expect(bash('$N --help | head -1; $N config | head -1')).toMatchObject({ status: 0, stderr: '' });
    expect(await survivors(place.mark)).toEqual([]);
  });

  it('exits with its command on SIGINT, SIGTERM and SIGHUP', async () => {
    const exits = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map(async (signal) => {
      const child = startReal(['run', 'echo begun; sleep 69.5'], place);
      const output = collect(child.stdout);
      while (output.text() === '') await sleep(10);
      child.kill(signal);
      return once(child, 'exit');
    });
    expect(await Promise.all(exits)).toEqual([
      [130, null],
      [143, null],
      [129, null],
    ]);
    expect(processesWith(place.mark)).toEqual([]);
  });

  it('reports a removed working directory, and still prints its version', () => {
    mkdirSync(join(place.cwd, 'gone'));
    const inGone = (command: string) =>
      bash(`cd gone && rmdir ../gone; ${command}; code=$?; mkdir ../gone; exit $code`);
    expect(inGone('$N run pwd')).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/^nacre: The working directory .*gone/),
    });
    expect(inGone('$N --version')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d/) });
  });

  it('runs inside itself without warnings', () => {
    expect(bash(`$N run "$SHIM run 'echo inner'"`)).toEqual({ status: 0, stdout: 'inner\n', stderr: '' });
  });
});
