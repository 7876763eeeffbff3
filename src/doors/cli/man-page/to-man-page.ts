import type {
  DescribedCommand,
  DescribedCommandLine,
  DescribedFlag,
} from '../completion/describe-command-line.ts';
import { exitMeanings } from './exit-meanings.ts';

/** The man page of `nacre man`, in troff. */
export function toManPage(line: DescribedCommandLine, version: string): string {
  const groups = Object.entries(line.groups).flatMap(([title, flags]) => [
    `.SS ${plain(title)}`,
    ...flags.flatMap(toFlag),
  ]);
  return [
    `.TH NACRE 1 "" "nacre ${plain(version)}" "User Commands"`,
    // Justified text would put several spaces between the words of a long command line.
    '.ad l',
    '.SH NAME',
    'nacre \\- run shell commands for agents and people, safely',
    '.SH SYNOPSIS',
    '.B nacre',
    '.I COMMAND',
    '[\\fIFLAG\\fR...] [\\fIARGUMENT\\fR...]',
    '.SH DESCRIPTION',
    'nacre is the layer between AI agents or apps and the shell. Commands never hang, never misreport a result and leave',
    'nothing behind. The policy decides from their parse tree what may run, and an audit log records every request and outcome.',
    '.SH COMMANDS',
    ...line.commands.flatMap(toCommand),
    '.SH OPTIONS',
    'Every command accepts these flags. You can also set them in files and with the environment variables shown.',
    ...groups,
    '.SH FILES',
    '.TP',
    '.I ~/.config/nacre/config.yaml',
    "The user's settings; --config names another file to use instead.",
    '.TP',
    '.I nacre.yaml',
    "A project's settings, found in the working directory or above it. They can only make settings stricter.",
    '.SH EXIT STATUS',
    '.BR "nacre run" " and " "nacre attach"',
    'exit with the exit code of their command. Other codes:',
    ...exitMeanings.flatMap(([code, meaning]) => ['.TP', `.B ${plain(code)}`, plain(meaning)]),
    '',
  ].join('\n');
}

function toCommand({ name, usage, summary, details, examples, flags }: DescribedCommand): string[] {
  const words = usage === '' ? [] : [` \\fI${plain(usage)}\\fR`];
  return [
    '.SS',
    `\\fBnacre ${name}\\fR [\\fIFLAG\\fR...]${words.join('')}`,
    plain(`${summary} ${details}`.trimEnd()),
    ...flags.flatMap(toFlag),
    ...examples.flatMap(([line, meaning]) => ['.TP', `.B ${plain(line)}`, plain(meaning)]),
  ];
}

function toFlag({ names, placeholder, description, notes }: DescribedFlag): string[] {
  const spelled = names.map((name) => `\\fB${plain(name)}\\fR`).join(', ');
  const value = placeholder === '' ? '' : ` \\fI${plain(placeholder)}\\fR`;
  const more = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
  return ['.TP', `${spelled}${value}`, plain(`${description}${more}`)];
}

/** Escapes text for troff: `-` stays an ASCII minus, and a leading `.` or `'` does not start a request. */
function plain(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&');
}
