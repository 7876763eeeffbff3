import type { ExAction } from './ex-commands.ts';

/** Returns the effects of a script for `ed`: shell commands, files that it writes, and commands that are not known. */
export function edActions(script: string): ExAction[] {
  const actions: ExAction[] = [];
  let typing = false;
  for (const line of script.split('\n').slice(0, 4_096)) {
    if (typing) {
      typing = line !== '.';
      continue;
    }
    actions.push(...edLine(line));
    typing = /^[aic][pln]*$/.test(withoutAddress(line));
  }
  return actions;
}

/** Removes the address of a command: numbers, marks, patterns and offsets. */
function withoutAddress(line: string): string {
  let at = 0;
  while (at < line.length) {
    const character = line.charAt(at);
    if (character === '/' || character === '?') {
      for (at++; at < line.length && line.charAt(at) !== character; at++) if (line.charAt(at) === '\\') at++;
      at++;
    } else if (character === "'") at += 2;
    else if (/[\d.$%,;+\s^-]/.test(character)) at++;
    else break;
  }
  return line.slice(at);
}

function edLine(line: string): ExAction[] {
  const text = withoutAddress(line);
  if (text.startsWith('!')) return [{ kind: 'run', text: text.slice(1) }];
  if (/^(?:[aicdjlnpPqQuhH=]|k[a-z]|[mt][\d.$+-]*|z\d*|y)?[pln]*$/.test(text)) return [];
  if (/^s(?:[^\s\\!].*)?$/.test(text)) return [];
  const [, name = '', file] = /^([eErfwW]q?)(?:\s+(.*))?$/.exec(text) ?? [];
  if (name !== '' && file?.startsWith('!')) return [{ kind: 'run', text: file.slice(1) }];
  // `e` and `f` name the file that a later `w` writes.
  if (/^(?:[wW]q?|[eEf])$/.test(name)) return file === undefined ? [] : [{ kind: 'write', text: file }];
  if (name !== '' && !name.includes('q')) return [];
  const listed = /^[gv](.)((?:(?!\1)[^\\]|\\.)*)\1(.*)$/.exec(text)?.[3];
  return listed !== undefined && !listed.endsWith('\\') ? edLine(listed) : [{ kind: 'refuse', text: line }];
}
