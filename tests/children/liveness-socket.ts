// Keeps a folder alive, as a server does, until it is killed.
import { keepAlive } from '../../src/worker/folders/living-folder.ts';

keepAlive(process.argv[2] ?? '');
setInterval(() => {}, 60_000);
