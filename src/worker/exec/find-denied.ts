import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { findProgram } from '../machine/inspect.ts';

/** The traces of an ended command: its exit code, the end of its stderr, and its text and directory. */
export interface DenialEvidence {
  readonly exitCode: number;
  readonly stderr: string;
  readonly script: string;
  readonly cwd: string;
}

/** The programs that a command may execute, and its PATH. */
export interface AllowedPrograms {
  readonly allow: readonly string[];
  readonly path: string;
}

const cannotExecute = 126;
const maxPrograms = 10;
const denied = ': Permission denied';

/**
 * The programs that the kernel refused to execute, by the messages on stderr. A message alone is no proof: the file must
 * exist, be readable and executable, and not be allowed. A redirection to such a file fails with the same words, so
 * without exit code 126 a path counts only if the command has no redirection.
 */
export function findDenied(evidence: DenialEvidence, allowed: AllowedPrograms): readonly string[] {
  const { exitCode, stderr, script } = evidence;
  if (!stderr.includes(denied)) return [];
  const lines = stderr.split('\n').filter((line) => line.endsWith(denied));
  const names = new Set(lines.map((line) => lastWord(line.slice(0, -denied.length))));
  const isSure = (name: string) => exitCode === cannotExecute || !name.includes('/') || !script.includes('>');
  return [...names].filter((name) => isSure(name) && isDenied(name, evidence, allowed)).slice(0, maxPrograms);
}

// `bash: line 1: /usr/bin/touch`, `env: ‘touch’`, `error: cannot run touch`.
function lastWord(text: string): string {
  return text.split(/[\s:'"`‘’]/).findLast((word) => word !== '') ?? '';
}

function isDenied(name: string, { cwd }: DenialEvidence, { allow, path }: AllowedPrograms): boolean {
  try {
    const found = name.includes('/') ? resolve(cwd, name) : findProgram(name, path);
    if (found === null) return false;
    const file = realpathSync(found);
    accessSync(file, constants.R_OK | constants.X_OK);
    return statSync(file).isFile() && !allow.some((one) => file === one || file.startsWith(`${one}/`));
  } catch {
    return false;
  }
}
