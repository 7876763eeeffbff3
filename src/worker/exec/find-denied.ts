import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
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
const denied = /: permission denied(?: \(os error 13\))?$/i;

/**
 * The programs that the kernel refused to execute, by the messages on stderr. A message alone is no proof: the file must
 * exist, be readable and executable, and not be allowed. Without exit code 126, the message must also not be about a file
 * that the command failed to open or create.
 */
export function findDenied(evidence: DenialEvidence, allowed: AllowedPrograms): readonly string[] {
  const { exitCode, stderr } = evidence;
  const names = stderr.split('\n').flatMap((printed) => {
    // A terminal puts CR before LF.
    const line = printed.replace(/(?<!\r)\r+$/, '');
    const text = withoutReason(line, exitCode);
    const name = text === undefined ? '' : lastWord(text);
    return name !== '' && (exitCode === cannotExecute || isSure(name, line, evidence)) ? [name] : [];
  });
  return [...new Set(names)].filter((name) => isDenied(name, evidence, allowed)).slice(0, maxPrograms);
}

// bash writes the reason in the language of the locale; exit code 126 says that it is about a program.
function withoutReason(line: string, exitCode: number): string | undefined {
  if (denied.test(line)) return line.replace(denied, '');
  const end = line.lastIndexOf(': ');
  const isOther = /: (?:No such file|Is a directory|Not a directory|Exec format|cannot execute)/.test(line);
  return exitCode === cannotExecute && end > 0 && !isOther ? line.slice(0, end) : undefined;
}

// `bash: line 1: /usr/bin/touch`, `env: ‘touch’`, `error: cannot run touch`.
function lastWord(text: string): string {
  return text.split(/[\s:'"`‘’]/).findLast((word) => word !== '') ?? '';
}

// `mkdir: cannot create directory ‘test’`, `cat: test`, and bash's message about `> /usr/bin/x` have the same form.
function isSure(name: string, line: string, { script, cwd }: DenialEvidence): boolean {
  if (/cannot (?!run|exec|spawn|start)/.test(line)) return false;
  if (!name.includes('/')) return !existsSync(join(cwd, name));
  const targets = [...script.matchAll(/>[|&]?\s*["']?([^\s"']+)/g)].map(([, target = '']) => target);
  return !targets.some((target) => target === name || /[$`*?~{[\\]/.test(target));
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
