// Counts the characters that a model reads: the tool list and the replies to 30 typical commands, compared with other
// MCP servers.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { report } from './measure.ts';
import { installPeers } from './peers.ts';

const prepare =
  'git init -q . && git config user.email a@b.c && git config user.name a && printf "# title\\n" > README.md && mkdir -p src && seq 40 > src/a.txt && printf "{}\\n" > package.json && git add . && git commit -qm first && echo change >> README.md';
const commands = [
  ...['pwd', 'ls', 'ls -la', 'ls src', 'cat README.md', 'cat package.json', 'cat src/a.txt'],
  ...[
    'git status',
    'git status --short',
    'git diff',
    'git log --oneline',
    'git branch',
    'git rev-parse HEAD',
  ],
  ...[
    'grep -rn title .',
    'grep -c 1 src/a.txt',
    'find . -name "*.txt"',
    'wc -l src/a.txt',
    'head -3 src/a.txt',
  ],
  ...[
    'node --version',
    'node -e "console.log(1+1)"',
    'echo hello',
    'true',
    'false',
    'mkdir -p out',
    'rm -r out',
  ],
  ...[
    'test -f missing',
    'cat missing',
    'seq 300',
    'echo warning >&2; echo done',
    'printf "%s\\n" a b c | sort',
  ],
];

const peers = installPeers();
const folder = mkdtempSync(join(tmpdir(), 'nacre-tokens-'));
const rows: { name: string; list: number; replies: number; extra: number }[] = [];
try {
  for (const { name, connect } of peers) {
    const client = await connect();
    const work = join(folder, String(rows.length));
    const shown = (command: string) => client.run(`cd ${work} && ${command}`);
    mkdirSync(work);
    runPlainly(work, prepare);
    let replies = 0;
    let output = 0;
    for (const command of commands) {
      const text = await shown(command).catch((error: unknown) => String(error));
      replies += text.length;
      output += runPlainly(work, command);
    }
    rows.push({ name, list: await client.listedChars(), replies, extra: replies - output });
    await client.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

console.log(`characters that a model reads; ${commands.length} replies`);
for (const { name, list, replies, extra } of rows)
  console.log(`  ${name}: tool list ${list}, replies ${replies}, of these ${extra} are not output`);
const own = rows.find(({ name }) => name === 'nacre');
report('the tool list of the default family', own?.list ?? Number.NaN, 7_168, 'characters');
// Exit code, names of streams and indentation; a server that reports none of these needs 6.
const each = (own?.extra ?? Number.NaN) / commands.length;
report('characters of a reply that are not output', each, 64, 'characters');

/** Runs a command without any server; returns the length of its output. */
function runPlainly(cwd: string, command: string): number {
  const { stdout, stderr } = spawnSync('bash', ['-c', command], { cwd, encoding: 'utf8' });
  return stdout.length + stderr.length;
}
