// Ordinary uses of closed programs, each under a list that contains only what the command names: the kernel must let the
// helpers run that the program needs on this distribution.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { execAllowOf } from '../../../tests/support/exec-list.ts';
import { needLandlock, needPrograms } from '../../../tests/support/needs.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import { closedPrograms } from '../../policy/programs/closed-programs.ts';

interface Use {
  readonly names: string;
  readonly script: string;
}

const gitSetUp =
  'git init -q . && git config user.name a && git config user.email a@b && echo 1 > f && git add f && git commit -qm one';

/** Programs of one call, in lists of their own, and a script that fails if one of its steps does. */
const uses: readonly Use[] = [
  {
    names: 'git',
    script: `${gitSetUp} && git status -s && git log -p --stat && git diff HEAD && git blame f && git show`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && git checkout -qb x && echo 2 > g && git add g && git commit -qm two && git checkout -q - && git merge -q --no-ff -m m x && git rebase -q HEAD~1`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && echo 2 > f && git stash -q && git stash pop -q && git worktree add -q ../w-$$ && git gc -q && git fsck && git archive -o a.tar.gz HEAD`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && git clone -q "file://$PWD" c && cd c && git fetch -q && git pull -q && git push -q origin HEAD:new && git ls-remote`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && git -c protocol.file.allow=always submodule add -q "$PWD" sub && git submodule status && git submodule foreach "git log --oneline"`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && for b in x y; do git checkout -q -b $b HEAD && echo $b > $b && git add $b && git commit -qm $b && git checkout -q -; done && git merge -q -s octopus -m m x y`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && GIT_EDITOR=true git commit -q --amend && git bisect start && git bisect reset && PAGER=cat git -p log && git format-patch -1 && git am --abort; git tag -a v -m v`,
  },
  {
    names: 'git',
    script: `${gitSetUp} && echo 3 >> f && printf "y\\n" | git add -p && git commit -qm three && git range-diff HEAD~1..HEAD HEAD~1..HEAD && git shortlog -s HEAD`,
  },
  { names: 'ls grep', script: 'echo a > f; ls -la | grep f && ls --color=auto' },
  { names: 'egrep fgrep', script: 'echo ab > f && egrep "a|c" f && fgrep ab f' },
  {
    names: 'find xargs',
    script: 'echo a > f && find . -name f | xargs && find . -type f -print0 | xargs -0 echo',
  },
  { names: 'find cat', script: 'echo a > f && find . -name f -exec cat {} +' },
  { names: 'sed awk', script: 'echo a | sed s/a/b/ | awk "{ print \\$1 }" && echo x | sed -n "/x/p"' },
  { names: 'jq', script: 'echo "{\\"a\\":1}" | jq .a' },
  { names: 'rg', script: 'echo a > f && rg a' },
  {
    names: 'tar',
    script:
      'echo a > f && tar czf f.tgz f && tar tzf f.tgz && tar cjf f.tbz f && tar cJf f.txz f && tar xf f.txz',
  },
  { names: 'gzip gunzip zcat', script: 'echo a > f && gzip f && zcat f.gz && gunzip f.gz' },
  { names: 'zgrep gzip', script: 'echo a > f && gzip f && zgrep a f.gz' },
  { names: 'bzip2 bzcat', script: 'echo a > f && bzip2 f && bzcat f.bz2' },
  { names: 'xz xzcat', script: 'echo a > f && xz f && xzcat f.xz' },
  { names: 'zip unzip', script: 'echo a > f && zip -q f.zip f && unzip -l f.zip' },
  {
    names: 'gcc',
    script: 'echo "int main(void) { return 0; }" > a.c && gcc -c a.c && gcc -o a a.c && gcc -S a.c',
  },
  { names: 'g++', script: 'echo "int main() { return 0; }" > a.cc && g++ -o a a.cc' },
  { names: 'man', script: 'man -w git || man -w ls || true' },
  { names: 'ssh', script: 'ssh -V && ssh -G localhost' },
  { names: 'ssh-keygen', script: 'ssh-keygen -q -t ed25519 -N "" -f key && ssh-keygen -lf key.pub' },
  { names: 'curl', script: 'echo a > f && curl -s "file://$PWD/f" && curl --version' },
  { names: 'wget', script: 'wget --version' },
  { names: 'rsync mkdir', script: 'mkdir a b && echo x > a/f && rsync -a a/ b/' },
  { names: 'openssl', script: 'openssl version && echo a | openssl dgst -sha256 && openssl rand -hex 4' },
  {
    names: 'sqlite3',
    script: 'sqlite3 d.db "create table t (a); insert into t values (1); select * from t"',
  },
  { names: 'less', script: 'echo a | less' },
  { names: 'file', script: 'file /bin/sh' },
  { names: 'which', script: 'which ls' },
  {
    names: 'sort uniq head tail wc cut tr nl tac rev',
    script:
      'printf "b\\na\\na\\n" | sort | uniq -c | head -2 | tail -1 | cut -c1-9 | tr -d " " | nl | tac | rev | wc -l && sort -u /etc/passwd',
  },
  { names: 'diff cmp comm', script: 'echo a > a; echo a > b; diff -u a b && cmp a b && comm a b' },
  { names: 'diff3 diff', script: 'echo a > a; diff3 a a a' },
  { names: 'patch diff', script: 'echo a > a; echo b > b; diff -u a b > p; patch -s a p' },
  {
    names: 'cp mv rm mkdir rmdir touch ln chmod mktemp install',
    script:
      'touch a && cp a b && mv b c && ln -s c l && chmod 600 c && mkdir -p d/e && rmdir d/e && install -m 644 a d/a && f=$(mktemp) && rm "$f" && rm -r d',
  },
  {
    names: 'env printenv nice nohup timeout stdbuf',
    script:
      'env A=1 printenv A && nice printenv HOME && timeout 5 printenv HOME && stdbuf -oL printenv HOME && nohup printenv HOME',
  },
  {
    names: 'date id whoami uname hostname nproc df du stat ps',
    script: 'date && id && whoami && uname -a && nproc && df . && du -s . && stat . && ps',
  },
  {
    names: 'base64 md5sum sha256sum cksum od hexdump xxd strings',
    script:
      'echo a | base64 | base64 -d | md5sum && echo a > f && sha256sum f && cksum f && od f && hexdump -C f && xxd f && strings f',
  },
  {
    names: 'split csplit tee paste join fold seq expr dirname basename realpath readlink',
    script:
      'seq 9 | tee f && split -l 3 f && csplit -s f 3 && paste f f && join f f && fold -w 1 f && expr 1 + 1 && dirname /a/b && basename /a/b && realpath . && ln -sf f l 2> /dev/null; readlink -f f',
  },
  { names: 'column envsubst', script: 'echo "a b" | column -t && echo x | envsubst' },
  { names: 'ip ss', script: 'ip addr && ss -a' },
  { names: 'bc dc', script: 'echo 1+1 | bc && echo 1 1 + p | dc' },
  { names: 'nm objdump readelf size', script: 'readelf -h /bin/sh && objdump -f /bin/sh && size /bin/sh' },
];

beforeEach((context) => needLandlock(context));

// One worker for all: its list follows the command, as that of a server follows `nacre allow`.
let here: TestWorker;
let allow = execAllowOf([]);
beforeAll(() => {
  here = createTestWorker({ highestLevel: 'namespace', exec: 'auto', execAllow: () => allow() });
});
afterAll(() => here.close());

describe('a closed program does its ordinary work under enforcement', () => {
  test.for(uses)('$names: $script', async ({ names, script }, context) => {
    needPrograms(context, ...names.split(' '));
    allow = execAllowOf(names.split(' '));
    const cwd = mkdtempSync(join(here.folder, 'use-'));
    const { state, stderr } = await here.run(script, { cwd });
    expect(state.enforcement?.exec).toBe('enforced');
    expect(state.end?.deniedPrograms).toBeUndefined();
    expect(stderr).not.toContain('Permission denied');
    expect([state.end?.exitCode, stderr]).toEqual([0, expect.any(String)]);
  });

  test('every other one at least prints its version, or says that it has none', async () => {
    const used = new Set(uses.flatMap(({ names }) => names.split(' ')));
    const others = closedPrograms.filter((name) => !used.has(name) && /^[a-z]/.test(name));
    allow = execAllowOf(others);
    const { state, stdout, stderr } = await here.run(
      `for one in ${others.join(' ')}; do type -P "$one" > /dev/null && echo "$one" && "$one" --version < /dev/null > /dev/null 2>> errors; done; printf '' >> errors; echo "$(<errors)" >&2`,
    );
    expect(state.end?.deniedPrograms).toBeUndefined();
    expect(stderr).not.toContain('Permission denied');
    expect(stdout.split('\n').length).toBeGreaterThan(10);
  });
});
