import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, prefixOf, wordText } from '../words/arg.ts';
import type { DangerFound, DangerRule } from './danger-rule.ts';
import { findProtectedPlace } from './protected-places.ts';

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
      'kill -9 $(ps -eo pid=)',
      'ps -eo pid= | xargs kill -9',
      'pgrep . | sort | xargs kill',
      'kill -9 1',
      'cd /proc; for p in [0-9]*; do kill -9 $p; done',
      'for p in $(seq 1 65535); do kill -9 $p; done',
      'for ((i = 2; i < 65536; i++)); do kill -9 $i; done',
      "kill -9 $(ps aux | awk '{print $2}')",
      "ps aux | awk '{print $2}' | xargs kill -9",
      'kill -9 {2..65535}',
      'kill 1',
      "pgrep -f '' | xargs kill",
      'kill -s TERM 1',
    ],
    spares: [
      'kill -1 1234',
      'kill -9 1234',
      'kill %1',
      'kill -l',
      'kill -HUP "$PID"',
      'kill -9 -1234',
      'kill -s HUP 1',
      "kill $(ps aux | grep vite | awk '{print $2}')",
      'kill $(lsof -ti:3000)',
      'node a.js & p=$!; kill $p',
      'for i in 1 2 3; do sleep $i & kill $!; done',
      'kill $(jobs -p)',
      'pgrep -f vite | xargs kill',
      "ps -eo pid,args | grep vite | awk '{print $1}' | xargs kill",
      "ps aux | awk '/vite/ {print $2}' | xargs kill",
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
    programs: ['pkill', 'killall', 'skill'],
    test: testPattern,
    matches: [
      'pkill -9 -u root',
      'killall -u root',
      'pkill -9 .',
      'killall -9 -r .',
      'pkill -9 -v node',
      "pkill -KILL ''",
      "pkill -f '.*'",
      'pkill --signal 9 -U 0',
      'skill -KILL -u root',
      'killall systemd',
      'killall -9 -y 10h',
      'pkill -9 init',
      'pkill -9 -f ..',
      "pkill -9 '[a-z]'",
      'pkill -f /',
      'pkill -9 -P 1',
      "pkill -9 -t '?'",
    ],
    spares: [
      'pkill -f server',
      'pkill -9 -u "$USER" node',
      'killall -o 1h node',
      'pkill -9 -f vite',
      'pkill .x',
      'killall -HUP systemd',
      'pkill initdb',
    ],
  },
  {
    rule: 'kill_all',
    programs: ['fuser'],
    test: (call) => {
      const kills = call.args.some((arg) => /^(?:-[a-zA-Z]*k[a-zA-Z]*|--kill)$/.test(wordText(arg)));
      const at = kills ? call.args.find((arg) => isRootOrSystem(call, arg)) : undefined;
      return at && { at, reason: 'it kills every process that uses a system directory' };
    },
    matches: ['fuser -k /', 'fuser -km /usr'],
    spares: ['fuser -k 3000/tcp', 'fuser -v /', 'fuser -k ./data.db'],
  },
];

function isRootOrSystem({ cwd, home }: ProgramCall, arg: Arg): boolean {
  return !prefixOf(arg).startsWith('-') && findProtectedPlace(arg, cwd, home) !== undefined;
}

function testPattern({ args, name }: ProgramCall): DangerFound | undefined {
  const others =
    name === 'pkill' ? args.find(({ text }) => /^(?:-[a-zA-Z]*v|--inverse)$/.test(text ?? '')) : undefined;
  if (others !== undefined) return { at: others, reason: 'it kills every process that does not match' };
  const byUser = args.findIndex(({ text }) => /^(?:-[uU]|--e?uid|--user)$/.test(text ?? ''));
  const pattern = args.filter(
    (arg, index) =>
      !/^-/.test(prefixOf(arg)) && index !== byUser + 1 && wordText(args[index - 1]) !== '--signal',
  );
  const byAge = args.find(({ text }) => /^(?:-[yo]|--younger-than|--older-than)$/.test(text ?? ''));
  if (name === 'killall' && byAge !== undefined && pattern.length < 2)
    return { at: byAge, reason: 'it kills every process of that age' };
  const user = args[byUser];
  if (user !== undefined && pattern.length === 0)
    return { at: user, reason: 'it kills every process of a user' };
  const at = args.find((arg) => /^(?:\^?\.?[*+]?\$?)$/.test(arg.text ?? 'unknown'));
  if (at !== undefined) return { at, reason: 'its pattern matches every process' };
  const selected = args.find(({ text }, index) => {
    const before = wordText(args[index - 1]);
    return text !== undefined && (isEveryName(text) || (/^-[Pt]$/.test(before) && /^[01?]$/.test(text)));
  });
  if (selected !== undefined && args.indexOf(selected) !== byUser + 1)
    return { at: selected, reason: 'it matches almost every process' };
  const init = args.find((arg, index) =>
    index !== byUser + 1 || byUser < 0 ? /^(?:systemd|init)$/.test(wordText(arg)) : false,
  );
  const signal = /^-(?:0|HUP|SIGHUP|1)$/.test(args[0]?.text ?? '');
  return init === undefined || signal
    ? undefined
    : { at: init, reason: 'it ends the first process, and with it the machine or container' };
}

/** Returns true for a pattern without a letter outside of brackets, such as `..`, `[a-z]` or `/`. */
function isEveryName(pattern: string): boolean {
  const rest = pattern.replace(/\[[^\][]*\]/g, '.');
  return rest !== '' && !/[\p{L}\p{N}_%@:=-]/u.test(rest);
}

/** `$(ps -eo pid=)` without a filter, and the numbers that `seq` prints. */
const everyProcess =
  /^[$(`]{1,2}\s*(?:seq\s[^|]*|ps\s+-?(?:[aAe]\b|[aAe][a-zA-Z]|ax)[^|]*(?:\|\s*(?:awk ['"]\{\s*print\s+\\?\$\d\s*\}['"]|awk ['"]NR\s*>=?\s*\d\s*\{\s*print\s+\\?\$\d\s*\}['"]|(?:tail|sort|sed|cut|tr)\b[^|]*))*|pgrep(?:\s+-u\s+(?:root|0))?|pidof\s+(?:init|systemd)|pgrep\s+['"]?\.?['"]?)[)`]$/;

/** `$(ps -eo pid=)`, the number of a loop, or the folders in /proc. */
function isEveryProcess({ pieces: [piece] }: Arg, cwd: readonly string[] | undefined): boolean {
  if (typeof piece !== 'object') return false;
  // A counter, as in `$((i + 1))`, reaches every number.
  if (piece.hole === 'number') return piece.text === '' || /^\$\(\(.{0,40}[+*]/.test(piece.text);
  if (piece.hole === 'glob') return cwd?.includes('/proc') === true;
  // `-1` is how `listedProcesses` marks a list of all processes.
  return everyProcess.test(piece.text) || /^(?:\/proc\/|-1\n?$)/.test(piece.from ?? '');
}

/** `{2..99999}`, which the walk represents by its first and last number. */
function isRange(first: Arg, last: Arg | undefined): boolean {
  return last?.pos === first.pos && Math.abs(Number(wordText(last)) - Number(wordText(first))) > 999;
}

function testKill({ args, cwd }: ProgramCall): DangerFound | undefined {
  const words = args.map((arg) => arg.text);
  const first = words[0] ?? '';
  // The first word with a dash is the signal; the words after it are targets.
  const named = /^(?:-s|-n|--signal)$/.test(first);
  const targets = named ? 2 : /^-./.test(first) && first !== '--' ? 1 : 0;
  const index = words.findIndex(
    (word, at) => /^\s*-0*(?:x0*)?1\s*$/i.test(word ?? '') && (at >= targets || words.length === 1),
  );
  const signal = named ? (words[1] ?? '') : targets === 1 ? first.slice(1) : 'TERM';
  const ofInit = words.findIndex((word, at) => word === '1' && at >= targets);
  const init = args[ofInit];
  if (init !== undefined && /^(?:SIG)?(?:TERM|KILL|9|15|INT|2|QUIT|3)$/i.test(signal))
    return { at: init, reason: 'it ends the first process, and with it the machine or container' };
  const every = args.find((arg, at) => isEveryProcess(arg, cwd) || isRange(arg, args[at + 1]));
  const at = args[index] ?? every;
  return at && { at, reason: 'it kills every process it is permitted to signal' };
}
