import type { Assembly } from '../door.ts';
import { write } from '../say.ts';
import { describeLine } from './line/describe-line.ts';
import { toMan } from './line/to-man.ts';

/** Prints the man page. */
export async function open({ io, version, commandLine }: Assembly): Promise<number> {
  await write(io.stdout, toMan(describeLine(commandLine), version), io.interrupted);
  return 0;
}
