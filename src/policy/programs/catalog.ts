import { archivePrograms } from './archives.ts';
import { awkPrograms } from './awk.ts';
import { buildPrograms } from './builds.ts';
import { builtinPrograms } from './builtins.ts';
import { codeOptionPrograms } from './code-options.ts';
import { compilerPrograms } from './compilers.ts';
import { containerPrograms } from './containers.ts';
import { databasePrograms } from './databases.ts';
import { declarationPrograms } from './declarations.ts';
import { developmentTools } from './development-tools.ts';
import { documentPrograms } from './documents.ts';
import { editorPrograms } from './editors.ts';
import { envRunnerPrograms } from './env-runners.ts';
import { filePrograms } from './files.ts';
import { findPrograms } from './find.ts';
import { frameworkTools } from './framework-tools.ts';
import { gitPrograms } from './git.ts';
import { hiddenStarters } from './hidden-starters.ts';
import { interpreterPrograms } from './interpreters.ts';
import { javaPrograms } from './java.ts';
import { javascriptRuntimePrograms } from './javascript-runtimes.ts';
import { launcherPrograms } from './launchers.ts';
import { moreInterpreterPrograms } from './more-interpreters.ts';
import { nodePackagePrograms } from './node-packages.ts';
import { parallelPrograms } from './parallel.ts';
import { printingPrograms } from './printing.ts';
import type { ProgramEntry } from './program.ts';
import { refusedPrograms } from './refused-programs.ts';
import { remotePrograms } from './remote.ts';
import { scriptToolPrograms } from './script-tools.ts';
import { scriptingPrograms } from './scripting.ts';
import { searchPrograms } from './search.ts';
import { sedPrograms } from './sed.ts';
import { shellPrograms } from './shells.ts';
import { starterPrograms } from './starters.ts';
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
  ...starterPrograms,
  ...moreInterpreterPrograms,
  ...codeOptionPrograms,
  ...refusedPrograms,
  ...developmentTools,
  ...frameworkTools,
  ...hiddenStarters,
];

const byName = new Map(programs.flatMap((program) => program.names.map((name) => [name, program] as const)));

/** Finds the entry for a program's base name; a version suffix is ignored (`python3.11`, `clang-15`), and so are other forms of a name. */
export function programNamed(name: string): ProgramEntry | undefined {
  const found = byName.get(name) ?? byName.get(withoutNumber(name));
  if (found !== undefined || !/[-.]/.test(name)) return found;
  const plain = name.replace(variant, '').replace(triple, '');
  return plain === name ? undefined : (byName.get(plain) ?? byName.get(withoutNumber(plain)));
}

/** The form that a distribution or a cross compiler adds to a name: `vim.tiny`, `x86_64-linux-gnu-gcc-12`. */
const variant = /\.(?:exe|basic|tiny|nox|gtk3|athena|huge|real|distrib|debianutils|bin)$/i;
const triple =
  /^(?:x86_64|i[3-6]86|aarch64|arm\w{0,9}|riscv64|powerpc\w{0,9}|s390x|mips\w{0,9}|sparc\w{0,9})-(?:\w{1,20}-){1,3}|-(?:x86_64|i[3-6]86|aarch64)-linux-gnu$/;

function withoutNumber(name: string): string {
  let end = name.length;
  while (end > 0 && /[\d.]/.test(name.charAt(end - 1))) end--;
  if (!/^[.]?\d/.test(name.slice(end, end + 2))) return name;
  return name.charAt(end - 1) === '-' ? name.slice(0, end - 1) : name.slice(0, end);
}
