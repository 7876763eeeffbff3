import type { ProgramCall } from '../options/program-call.ts';
import type { DangerFound, DangerRule } from './danger-rule.ts';

/** Killing every process, as `kill -9 -1` does. */
export const processRules: readonly DangerRule[] = [
  {
    rule: 'kill_all',
    programs: ['kill'],
    test: testKill,
    matches: [
      'kill -9 -1',
      'kill -KILL -1',
      'kill -s KILL -- -1',
      'kill -- -1',
      'kill -n 9 -1',
      'kill -TERM 123 -1',
      'kill -1',
      'sudo kill -9 -1',
      '/bin/kill -9 -1',
      'kill --signal 9 -1',
      'kill -9 $((-1))',
      'kill -9 -$((1))',
      'kill -9 -01',
    ],
    spares: [
      'kill -1 1234',
      'kill -9 1234',
      'kill %1',
      'kill -l',
      'kill -HUP "$PID"',
      'kill -9 -1234',
      'kill -s HUP 1',
    ],
  },
  {
    rule: 'kill_all',
    programs: ['killall5'],
    test: (call) => ({ at: call.self, reason: 'it kills every process' }),
    matches: ['killall5 -9'],
    spares: ['killall node'],
  },
  {
    rule: 'kill_all',
    programs: ['pkill', 'killall'],
    test: testPattern,
    matches: ['pkill -9 .', 'killall -9 -r .', 'pkill -9 -v node', "pkill -KILL ''", "pkill -f '.*'"],
    spares: ['pkill -f server', 'pkill -9 -u "$USER" node', 'pkill -9 -f vite', 'pkill .x'],
  },
];

function testPattern({ args, name }: ProgramCall): DangerFound | undefined {
  const others =
    name === 'pkill' ? args.find(({ text }) => /^(?:-[a-zA-Z]*v|--inverse)$/.test(text ?? '')) : undefined;
  if (others !== undefined) return { at: others, reason: 'it kills every process that does not match' };
  const at = args.find((arg) => /^(?:\^?\.?[*+]?\$?)$/.test(arg.text ?? 'unknown'));
  return at && { at, reason: 'its pattern matches every process' };
}

function testKill({ args }: ProgramCall): DangerFound | undefined {
  const words = args.map((arg) => arg.text);
  const first = words[0] ?? '';
  // The first word with a dash is the signal; the words after it are targets.
  const named = /^(?:-s|-n|--signal)$/.test(first);
  const targets = named ? 2 : /^-./.test(first) && first !== '--' ? 1 : 0;
  const index = words.findIndex(
    (word, at) => /^\s*-0*(?:x0*)?1\s*$/i.test(word ?? '') && (at >= targets || words.length === 1),
  );
  const at = args[index];
  return at && { at, reason: 'it kills every process it is permitted to signal' };
}
