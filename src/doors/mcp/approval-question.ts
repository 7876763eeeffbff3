import type { CommandChanges } from '../../contract/changes.ts';
import type { ApprovalRequest } from '../../engine/approval/approval.ts';
import { escapeControls } from '../../support/escape-controls.ts';
import { describeChange } from '../../tools/common/describe-changes.ts';

/**
 * The approval question to the client's user, in at most five lines, because clients collapse longer texts: the
 * command, its machine and directory, the reason, its variables and stdin, and how to see parts that were cut.
 */
export function toApprovalQuestion({ decision, asked, id, changes }: ApprovalRequest): string {
  const { command, on, cwd, into, sandbox } = asked;
  const script =
    command.kind === 'shell' ? command.script : command.argv.map((word) => JSON.stringify(word)).join(' ');
  const place = [
    ...(on === undefined ? [] : [`on ${on}`]),
    `in ${cwd}`,
    ...(into === null ? [] : [`typed into ${into}`]),
    ...(sandbox === null ? [] : [`sandbox ${sandbox}`]),
  ];
  const data = describeData(asked);
  const lines = [
    showPart(script, maxCommandChars),
    showPart(place.join(', '), maxLineChars),
    showPart(`why: ${decision.reason}`, maxLineChars),
    ...(data === '' ? [] : [showPart(`with ${data}`, maxLineChars)]),
    ...(changes ? [showPart(describeHeld(changes), maxCommandChars)] : []),
  ];
  const isCut = lines.some((line) => line.isCut);
  const last = isCut ? `Too long to show here: nacre show ${id} prints all of it.` : toOffer(changes);
  return [...lines.map(({ text }) => text), last].join('\n');
}

function toOffer(changes: ApprovalRequest['changes']): string {
  return changes
    ? `Accept to apply these changes; nacre changes ${changes.id} shows them.`
    : 'Accept to run it once.';
}

function describeHeld({ created, changed, deleted, mode, changes }: CommandChanges): string {
  const paths = changes.map(describeChange).join(', ');
  return `it has run; not applied yet: ${created} created, ${changed} changed, ${deleted} deleted, ${mode} mode: ${paths}`;
}

const maxCommandChars = 400;
const maxLineChars = 160;

function describeData({ env, input }: ApprovalRequest['asked']): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [...variables, ...(input === null ? [] : [`stdin: ${input}`])].join(', ');
}

/** One line of the question; of a longer text its beginning and end, with its length between them. */
function showPart(text: string, maxChars: number): { readonly text: string; readonly isCut: boolean } {
  const line = toVisibleLine(text.slice(0, maxRead));
  if (text.length <= maxRead && line.length <= maxChars) return { text: line, isCut: false };
  const end = toVisibleLine(text.slice(-maxRead)).slice(-maxChars / 4);
  const start = line.slice(0, maxChars - end.length);
  const shown = `${start.toWellFormed()} [… of ${text.length} characters …] ${end.toWellFormed()}`;
  return { text: shown, isCut: true };
}

// A text of this length exceeds `maxCommandChars` even after each run of blanks is replaced with a short mark.
const maxRead = 20_000;

// Makes every character visible on one line: line breaks become ⏎, and a run of blanks becomes its length, because
// blanks could push the rest of a command out of view, or to the beginning of a line, where it would look like a line
// of the question.
function toVisibleLine(text: string): string {
  return escapeControls(
    text
      .replace(/[^\S\n\t ]|⏎|␣/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)
      .replace(/[\t ]{3,}/g, (run) => ` ␣×${run.length} `)
      .replaceAll('\t', ' ')
      .replaceAll('\n', ' ⏎ '),
  );
}
