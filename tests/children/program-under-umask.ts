// Creates an instance of nacre under umask 777, and another one under a usual umask.
import { createNacre } from '../../src/index.ts';

const before = process.umask(0o777);
const refused: unknown = await createNacre().catch((error: unknown) => error);
process.umask(before);
const nacre = await createNacre({ outlive: 'off' });
const { output } = await nacre.tools.bash.run({ command: 'echo works' });
await nacre.close();
console.log(
  JSON.stringify({ refused: refused instanceof Error ? refused.message : 'created', next: output }),
);
