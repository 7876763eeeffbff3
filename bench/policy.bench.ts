// The time of a policy decision: 99th percentile over everyday commands and over long ones.
import { readFileSync } from 'node:fs';
import { decideCommand } from '../src/policy/decide-command.ts';
import { report } from './measure.ts';

interface Case {
  readonly command: string;
  readonly allow: readonly string[] | '*';
}

const corpus = readFileSync('tests/policy/corpus.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line): Case => JSON.parse(line));

const programs =
  'git npm node cat grep sed awk jq curl find xargs echo printf read docker bash mkdir cp mv ls'.split(' ');

/** Long commands of the kinds that agents write; `size` 1 is about 4 KB. */
const long = (size: number): Readonly<Record<string, string>> => {
  const times = (count: number) => Math.max(1, Math.round(count * size));
  const rows = <T>(count: number, row: (index: number) => T) =>
    Array.from({ length: times(count) }, (_, index) => row(index));
  const file = rows(90, (line) => `  const value${line} = compute("x;y|z", ${line});`).join('\n');
  const items = rows(120, (id) => ({ id, name: `a;b ${id}` }));
  const step = (i: number) => `step${i}() { local n="$1"; echo "step ${i}: $n"; git log -1 "$n"; }`;
  return {
    'a file by heredoc': `cat > src/a.ts <<'EOF'\n${file}\nEOF`,
    'a file with values': `cat > a.env <<EOF\n${'KEY=${VALUE:-default} # $HOME\n'.repeat(times(120))}EOF`,
    'a commit message': `git commit -m "$(cat <<'EOF'\n${'- fix: handle `x` && $y; see docs\n'.repeat(times(100))}EOF\n)"`,
    'a chain of steps': 'npm run build && git add -A && git commit -m "step" || echo "failed: $?"; '.repeat(
      times(50),
    ),
    'a pipeline': `cat a.log ${'| grep -v "x|y" | sed -E "s/a/b/g" '.repeat(times(100))}`,
    'loops and tests':
      'for f in src/*.ts; do if [[ -f $f && -s $f ]]; then n=$(grep -c x "$f"); (( n > 3 )) && echo "$f: $n"; fi; done\n'.repeat(
        times(30),
      ),
    'a script for bash': `bash <<'EOF'\n${'x=$(git rev-parse HEAD); echo "${x:0:7}"\n'.repeat(times(90))}EOF`,
    'a script with functions': `${rows(40, step).join('\n')}\n${rows(40, (i) => `step${i} HEAD~${i}`).join('\n')}`,
    'JSON for curl': `curl -s -X POST http://localhost/x -d '${JSON.stringify({ items })}'`,
    'many files': `git add ${rows(150, (i) => `src/components/part-${i}.tsx`).join(' ')}`,
    'inline code': `node -e '${'const a = require("./package.json"); console.log(a.name);\n'.repeat(times(65))}'`,
    'arrays and arithmetic': `${'items+=("a b" "c"); total=$((total + ${#items[@]} * 2)); echo "${items[@]:0:2}"\n'.repeat(times(50))}`,
  };
};

const times = (rounds: number, cases: readonly Case[]): number[] => {
  const figures: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const { command, allow } of cases) {
      const start = performance.now();
      decideCommand(command, allow);
      figures.push(performance.now() - start);
    }
  }
  return figures;
};

const percentile = (figures: readonly number[], share: number): number =>
  [...figures].sort((one, other) => one - other)[Math.floor(figures.length * share)] ?? Number.NaN;

const casesOf = (size: number) =>
  Object.values(long(size)).flatMap((command): Case[] => [
    { command, allow: programs },
    { command, allow: '*' },
  ]);
const longest = casesOf(1);
/** Commands of all lengths up to 4 KB, equally distributed. */
const everyLength = [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1].flatMap(casesOf);

times(3, corpus);
times(30, longest);
const everyday = times(10, corpus);
console.log(`${corpus.length} commands, p50 ${percentile(everyday, 0.5).toFixed(3)} ms`);
report('a decision on an everyday command, p99', percentile(everyday, 0.99), 1, 'ms');
for (const [kind, command] of Object.entries(long(1))) {
  const figures = times(150, [
    { command, allow: programs },
    { command, allow: '*' },
  ]);
  report(`${kind}, ${(command.length / 1_000).toFixed(1)} KB, p50`, percentile(figures, 0.5), 1, 'ms');
}
/** A loop that takes about as long as a decision and allocates nothing; its p99 is the noise of the machine. */
const counting = (count: number): number => {
  const start = performance.now();
  let sum = 0;
  for (let at = 0; at < count; at++) sum = (sum + at * 7) % 1_000_003;
  return performance.now() - start + sum * 0;
};

for (let round = 0; round < 200; round++) counting(100_000);
const all: number[] = [];
const idle: number[] = [];
for (let round = 0; round < 20; round++) {
  all.push(...times(1, everyLength));
  for (const _ of everyLength) idle.push(counting(100_000));
}
const [p50, p99] = [percentile(idle, 0.5).toFixed(2), percentile(idle, 0.99).toFixed(2)];
console.log(`noise of the machine: a plain loop, alternating with the next, p50 ${p50} ms, p99 ${p99} ms`);
report(
  'a decision on a command of any length up to 4 KB, p99 over all kinds',
  percentile(all, 0.99),
  1,
  'ms',
);
console.log(`commands of 4 KB only: p99 ${percentile(times(60, longest), 0.99).toFixed(2)} ms`);
