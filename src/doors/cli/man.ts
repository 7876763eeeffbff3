import type { CommandLineAccess, IoAccess, VersionAccess } from '../door.ts';
import { print } from '../print.ts';
import { describeCommandLine } from './completion/describe-command-line.ts';
import { toManPage } from './man-page/to-man-page.ts';

/** `nacre man`. */
export async function manDoor({
  io,
  version,
  commandLine,
}: IoAccess & CommandLineAccess & VersionAccess): Promise<number> {
  await print(io.stdout, toManPage(describeCommandLine(commandLine), version), io.interrupted);
  return 0;
}
