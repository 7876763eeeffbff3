import type { JobSpec } from '../../src/contract/job.ts';
import type { TestWorker } from './worker.ts';

// bubblewrap has one process more above the shell, so ids are compared with one another.
const script = `read -r group session <<<"$(ps -o pgid=,sid= -p $$)"
echo $(($$ - PPID)) $(($$ - group)) $((session < $$)) $SHLVL $- $(umask); pwd; set -o; shopt; trap
grep -E 'Sig(Blk|Ign|Cgt)|^Cap|NoNewPrivs|Seccomp:|^[UG]id|^Groups' /proc/self/status
env | grep -vE '^NACRE_COMMAND_ID' | sort; cat /proc/self/uid_map; readlink /proc/self/ns/net
for fd in 0 1 2 3 4 5 6; do [[ -e /proc/$$/fd/$fd ]] && echo $fd; done
awk '{ print $5, $(NF - 2), $(NF - 1) }' /proc/self/mountinfo; read -rd '' init </proc/1/cmdline; echo "\${init##*/}"`;
// A script that is too long for a launch message: its keeper is always started by bubblewrap.
const longScript = `${script} ${'#'.repeat(9_000)}`;

const mountOfTest = /^\/\S*\/nacre-(?:test|child)-/;

/** Everything that a command finds in a namespace of bubblewrap and in one of the fork server. */
export async function compareNamespaces(here: TestWorker, spec: Partial<JobSpec> = {}) {
  const texts = [(await here.run(longScript, spec)).stdout];
  for (let count = 0; count < 4; count += 1) texts.push((await here.run(script, spec)).stdout);
  // Other tests mount and unmount file systems in their folders at any time.
  const isOfAnotherTest = (line: string) => mountOfTest.test(line) && !line.includes(here.folder);
  const toLines = (text = '') =>
    text
      .trimEnd()
      .split('\n')
      .filter((line) => !isOfAnotherTest(line));
  const [first = [], last = []] = [texts[0], texts.at(-1)].map(toLines);
  return {
    madeBy: [first.at(-1), last.at(-1)].map((init) => (init === 'bwrap' ? 'bubblewrap' : 'fork server')),
    byBubblewrap: first.slice(0, -1),
    byForkServer: last.slice(0, -1),
  };
}
