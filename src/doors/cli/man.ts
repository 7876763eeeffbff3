import type { CommandLineAccess, IoAccess, VersionAccess } from '../door.ts';
import { write } from '../say.ts';
import { describeLine } from './completion/describe-command-line.ts';
import { toMan } from './man-page/to-man-page.ts';

/** Prints the man page. */
export async function manDoor({
  io,
  version,
  commandLine,
}: IoAccess & CommandLineAccess & VersionAccess): Promise<number> {
  await write(io.stdout, toMan(describeLine(commandLine), version), io.interrupted);
  return 0;
}
