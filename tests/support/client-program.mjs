// A client as a process of its own: it starts the server that its arguments name, reports the server's pid on stderr, and
// relays stdin and stdout. If it is killed, the server reads the end of its stdin.
import { spawn } from 'node:child_process';

const [program, ...words] = process.argv.slice(2);
const server = spawn(program, words, { stdio: ['pipe', 'pipe', 'ignore'] });
process.stderr.write(`${server.pid}\n`);
process.stdin.pipe(server.stdin);
server.stdout.pipe(process.stdout);
for (const stream of [server.stdin, process.stdout]) stream.on('error', () => {});
server.on('exit', () => process.exit());
