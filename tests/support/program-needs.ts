import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Test files that need something which may be missing. They are then left out as a whole, and the reporter names them; in
 * other files single tests skip themselves (`needs.ts`). `namespaces` means that bubblewrap works.
 */
const filesByNeed: Readonly<Record<string, readonly string[]>> = {
  chromium: ['tests/http/applet-pages.test.ts', 'tests/http/browser.test.ts'],
  git: [
    'features/bash/security.feature',
    'tests/cli/check.test.ts',
    'tests/cli/doctor.test.ts',
    'tests/docs-examples.test.ts',
    'tests/http/applets.test.ts',
    'tests/http/browser.test.ts',
    'tests/http/callers.test.ts',
    'tests/http/fuzz.test.ts',
    'tests/http/mcp.test.ts',
    'tests/http/operations.test.ts',
    'tests/http/rules.test.ts',
    'tests/http/shell.test.ts',
    'tests/http/tls.test.ts',
  ],
  namespaces: [
    'src/engine/run.test.ts',
    'src/sessions/sessions.test.ts',
    'src/worker/folders/sweep-processes.test.ts',
    'src/worker/processes/kept-daemons.test.ts',
    'src/worker/sandbox/own-files.test.ts',
    'src/worker/sandbox/sandbox.test.ts',
    'src/worker/sandbox/tighten-isolation.test.ts',
    'src/worker/supervision/fork-server.test.ts',
    'src/worker/supervision/keeper-script.test.ts',
    'src/worker/supervision/launch-message.test.ts',
    'src/worker/supervision/start-keeper.test.ts',
    'src/worker/supervision/survivors.test.ts',
    'src/worker/worker.test.ts',
    'tests/cli/doctor.test.ts',
    'tests/cli/init-entry.test.ts',
    'tests/cli/init-terminal.test.ts',
    'tests/cli/run.test.ts',
    'tests/cli/settings.test.ts',
    'tests/control/approvals.test.ts',
    'tests/control/control.test.ts',
    'tests/http/callers.test.ts',
    'tests/http/instructions.test.ts',
    'tests/http/rules.test.ts',
    'tests/mcp/instructions.test.ts',
    'tests/mcp/isolation.test.ts',
    'tests/mcp/live-settings.test.ts',
    'tests/mcp/supervision.test.ts',
  ],
  pgrep: ['src/worker/shell/shell-levels.test.ts', 'src/worker/worker.test.ts', 'tests/mcp/bash.test.ts'],
  ps: ['src/worker/limits/limit-enforcer.test.ts', 'src/worker/processes/ps-process-table.test.ts'],
  python3: [
    'src/engine/reading/terminal.test.ts',
    'src/engine/typing/judge-input.test.ts',
    'tests/cli/exec.test.ts',
    'tests/package/mcpb.test.ts',
  ],
  'ssh-keygen': ['src/engine/reading/terminal.test.ts'],
  'systemd-analyze': ['tests/packaging.test.ts'],
  top: ['src/engine/reading/terminal.test.ts'],
  vim: ['src/engine/reading/terminal.test.ts', 'tests/mcp/commands.test.ts'],
  less: ['src/engine/reading/terminal.test.ts', 'tests/mcp/commands.test.ts'],
};

/** The needs that are not met here, with the files that are left out. */
export const filesLeftOut: readonly (readonly [need: string, files: readonly string[]])[] = Object.entries(
  filesByNeed,
).filter(([need]) => (need === 'namespaces' ? !hasNamespaces() : !isInstalled(need)));

/** Whether a program is on the PATH, or at this path. */
export function isInstalled(name: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const paths = name.startsWith('/') ? [name] : folders.map((folder) => join(folder, name));
  return paths.some(isExecutable);
}

function hasNamespaces(): boolean {
  const args = ['--ro-bind', '/', '/', '--proc', '/proc', '--unshare-pid', 'true'];
  return spawnSync('bwrap', args, { stdio: 'ignore' }).status === 0;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
