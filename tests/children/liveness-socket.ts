// Keeps a folder alive, as a server does, until it is killed.
import { openLivenessSocket } from '../../src/worker/folders/liveness-socket.ts';

openLivenessSocket(process.argv[2] ?? '');
setInterval(() => {}, 60_000);
