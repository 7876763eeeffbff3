import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';

const errors = [
  { text: ': Value too large for defined data type', explain: explainOwner },
  { text: ': File too large', explain: () => tooLarge },
  { text: 'File size limit exceeded', explain: () => tooLarge },
] as const;

const tooLarge =
  'A layer copies a file before its first change, but no file larger than changes_file_bytes: raise that setting.';

/**
 * Explains errors that a program gets only because its changes are tracked or held, by the last lines of its stderr: programs
 * print the names of the errors EOVERFLOW and EFBIG, which say nothing about layers.
 */
export function explainLayerErrors(stderr: string, cwd: string): string | undefined {
  for (const line of stderr.split('\n')) {
    const found = errors.find(({ text }) => line.includes(text));
    if (found) return found.explain(line.slice(0, line.indexOf(found.text)), cwd);
  }
  return undefined;
}

// As in "bash: line 1: PATH", "touch: cannot touch 'PATH'", "[Errno 75] …: 'PATH'".
function explainOwner(before: string, cwd: string): string {
  const path =
    before
      .slice(-maxPathChars)
      .split(/: |'|"/)
      .filter(Boolean)
      .at(-1) ?? '';
  const found = lstatSync(resolve(cwd, path), { throwIfNoEntry: false });
  const isOthers = found && (found.uid !== process.getuid?.() || found.gid !== process.getgid?.());
  const subject = isOthers
    ? `${JSON.stringify(path)} belongs to user ${found.uid} and group ${found.gid}`
    : 'A file or folder belongs to another user or group';
  return `${subject}: a layer can copy only files of your own user and group, so it was not changed. Change its owner, or run the command with changes: direct.`;
}

const maxPathChars = 4_096;
