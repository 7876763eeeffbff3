import { archivePrograms } from './archives.ts';
import { awkPrograms } from './awk.ts';
import { buildPrograms } from './builds.ts';
import { builtinPrograms } from './builtins.ts';
import { compilerPrograms } from './compilers.ts';
import { containerPrograms } from './containers.ts';
import { databasePrograms } from './databases.ts';
import { declarationPrograms } from './declarations.ts';
import { documentPrograms } from './documents.ts';
import { editorPrograms } from './editors.ts';
import { envRunnerPrograms } from './env-runners.ts';
import { filePrograms } from './files.ts';
import { findPrograms } from './find.ts';
import { gitPrograms } from './git.ts';
import { interpreterPrograms } from './interpreters.ts';
import { javaPrograms } from './java.ts';
import { javascriptRuntimePrograms } from './javascript-runtimes.ts';
import { launcherPrograms } from './launchers.ts';
import { nodePackagePrograms } from './node-packages.ts';
import { parallelPrograms } from './parallel.ts';
import { printingPrograms } from './printing.ts';
import type { ProgramEntry } from './program.ts';
import { remotePrograms } from './remote.ts';
import { scriptToolPrograms } from './script-tools.ts';
import { scriptingPrograms } from './scripting.ts';
import { searchPrograms } from './search.ts';
import { sedPrograms } from './sed.ts';
import { shellPrograms } from './shells.ts';
import { systemPackagePrograms } from './system-packages.ts';
import { systemToolPrograms } from './system-tools.ts';
import { terminalPrograms } from './terminals.ts';
import { textToolPrograms } from './text-tools.ts';
import { tracerPrograms } from './tracers.ts';
import { transferPrograms } from './transfers.ts';
import { userWrapperPrograms } from './user-wrappers.ts';
import { versionControlPrograms } from './version-control.ts';
import { watcherPrograms } from './watchers.ts';
import { wrapperPrograms } from './wrappers.ts';

/** All program entries. */
export const programs: readonly ProgramEntry[] = [
  ...archivePrograms,
  ...awkPrograms,
  ...builtinPrograms,
  ...declarationPrograms,
  ...filePrograms,
  ...findPrograms,
  ...gitPrograms,
  ...interpreterPrograms,
  ...printingPrograms,
  ...sedPrograms,
  ...shellPrograms,
  ...userWrapperPrograms,
  ...launcherPrograms,
  ...parallelPrograms,
  ...remotePrograms,
  ...tracerPrograms,
  ...watcherPrograms,
  ...envRunnerPrograms,
  ...nodePackagePrograms,
  ...searchPrograms,
  ...editorPrograms,
  ...transferPrograms,
  ...databasePrograms,
  ...terminalPrograms,
  ...buildPrograms,
  ...javaPrograms,
  ...compilerPrograms,
  ...containerPrograms,
  ...textToolPrograms,
  ...scriptToolPrograms,
  ...scriptingPrograms,
  ...documentPrograms,
  ...versionControlPrograms,
  ...systemToolPrograms,
  ...systemPackagePrograms,
  ...javascriptRuntimePrograms,
  ...wrapperPrograms,
];

const byName = new Map(programs.flatMap((program) => program.names.map((name) => [name, program] as const)));

/** Finds the entry for a program's base name; a version suffix is ignored (`python3.11`, `clang-15`). */
export function programNamed(name: string): ProgramEntry | undefined {
  return byName.get(name) ?? byName.get(withoutNumber(name)) ?? byName.get(name.replace(/\.exe$/i, ''));
}

function withoutNumber(name: string): string {
  let end = name.length;
  while (end > 0 && /[\d.]/.test(name.charAt(end - 1))) end--;
  if (!/^[.]?\d/.test(name.slice(end, end + 2))) return name;
  return name.charAt(end - 1) === '-' ? name.slice(0, end - 1) : name.slice(0, end);
}
