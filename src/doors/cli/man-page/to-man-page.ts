import type { Line, LineCommand, LineFlag } from '../completion/describe-command-line.ts';
import { exitMeanings } from './exit-meanings.ts';

/** The man page nacre(1). */
export function toMan(line: Line, version: string): string {
  const groups = Object.entries(line.groups).flatMap(([title, flags]) => [
    `.SS ${plain(title)}`,
    ...flags.flatMap(toFlag),
  ]);
  return [
    `.TH NACRE 1 "" "nacre ${plain(version)}" "User Commands"`,
    '.SH NAME',
    'nacre \\- run shell commands for agents and people, safely',
    '.SH SYNOPSIS',
    '.B nacre',
    '.I COMMAND',
    '[\\fIFLAG\\fR...] [\\fIWORD\\fR...]',
    '.SH DESCRIPTION',
    'nacre is the layer between AI agents or apps and the shell. Commands never hang, never lie about a result and leave',
    'nothing behind; it is decided from their parse tree what may run, and recorded what was asked and done.',
    '.SH COMMANDS',
    ...line.commands.flatMap(toCommand),
    '.SH OPTIONS',
    'Every command takes these. They can also be given by the environment variables that are named, and in files.',
    ...groups,
    '.SH FILES',
    '.TP',
    '.I ~/.config/nacre/config.yaml',
    "The user's settings; --config names another file.",
    '.TP',
    '.I nacre.yaml',
    "A project's settings, found from the working directory upwards. They can only tighten.",
    '.SH EXIT STATUS',
    '.BR "nacre run" " and " "nacre attach"',
    'exit as their command does. What other codes mean:',
    ...exitMeanings.flatMap(([code, meaning]) => ['.TP', `.B ${plain(code)}`, plain(meaning)]),
    '',
  ].join('\n');
}

function toCommand({ name, usage, summary, flags }: LineCommand): string[] {
  const words = usage === '' ? [] : [` \\fI${plain(usage)}\\fR`];
  return [
    '.SS',
    `\\fBnacre ${name}\\fR [\\fIFLAG\\fR...]${words.join('')}`,
    plain(summary),
    ...flags.flatMap(toFlag),
  ];
}

function toFlag({ names, placeholder, description, notes }: LineFlag): string[] {
  const spelled = names.map((name) => `\\fB${plain(name)}\\fR`).join(', ');
  const value = placeholder === '' ? '' : ` \\fI${plain(placeholder)}\\fR`;
  const more = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
  return ['.TP', `${spelled}${value}`, plain(`${description}${more}`)];
}

/** A dash is a minus sign that can be copied, and no line begins as a request does. */
function plain(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&');
}
