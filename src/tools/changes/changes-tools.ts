// The tools of the family `changes`: list_changes, show_changes, apply_changes, discard_changes, undo_changes.
import { z } from 'zod';
import type { ShownChange } from '../../contract/changes.ts';
import { toNacreError } from '../../contract/failure.ts';
import type { ToolChanges } from '../../engine/changes/changes.ts';
import { toYamlReply, type YamlValue } from '../../output/yaml-reply.ts';
import { escapeControls } from '../../support/escape-controls.ts';
import { defineTool } from '../common/define-tool.ts';
import { describeChange, toChangesReply } from '../common/describe-changes.ts';
import type { Tool, ToolReply } from '../common/tool.ts';

const id = z.string().min(1).max(100).describe('The id of the command that made the changes');
const paths = z
  .array(z.string().min(1).max(4_096))
  .min(1)
  .max(1_000)
  .optional()
  .describe('Only these files or folders; all by default');
const force = z
  .boolean()
  .default(false)
  .describe('Also replace files that another program has changed since');
const list = z.strictObject({});
const show = z.strictObject({
  id,
  paths,
  max_chars: z.int().min(100).max(200_000).default(20_000).describe('Characters of diff at most'),
});
const change = z.strictObject({ id, paths, force });
const discard = z.strictObject({ id, paths });

/** Input of `list_changes`. */
export type ListChangesInput = z.input<typeof list>;
/** Input of `show_changes`. */
export type ShowChangesInput = z.input<typeof show>;
/** Input of `apply_changes` and `undo_changes`. */
export type ApplyChangesInput = z.input<typeof change>;
/** Input of `discard_changes`. */
export type DiscardChangesInput = z.input<typeof discard>;

const output = z.looseObject({ id: z.string().optional(), state: z.string().optional() });
const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const writes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };
const maxFiles = 200;
// Agents can also use older changes, because the replies to their commands contained the ids.
const maxEntries = 100;
// The maximum number of `onTopOf` ids in each entry; the newest are shown.
const maxOnTopOf = 10;

/** `list_changes`: the changes that are kept, the newest first. */
export function listChanges(changes: ToolChanges): Tool {
  return defineTool({
    name: 'list_changes',
    title: 'List changes',
    description:
      'Lists changes of commands that are held (not in the workspace) or applied (can be undone), the newest first.',
    annotations: reads,
    input: list,
    output: z.looseObject({ changes: z.array(z.looseObject({ id: z.string() })) }),
    async run(_, context) {
      const kept = await changes.list(context);
      const entries = kept
        .slice(-maxEntries)
        .toReversed()
        .map((entry) => ({
          id: entry.id,
          state: entry.state,
          command: entry.command.slice(0, 200).toWellFormed(),
          ended_at: entry.endedAt,
          ...entry.counts,
          ...(entry.onTopOf.length > 0 && { on_top_of: entry.onTopOf.slice(-maxOnTopOf) }),
        }));
      const more = kept.length - entries.length;
      return toReply({ changes: entries, ...(more > 0 && { more_changes: more }) });
    },
    fail,
  });
}

/** `show_changes`: the changed paths of one command, with a diff of text files. */
export function showChangesTool(changes: ToolChanges): Tool {
  return defineTool({
    name: 'show_changes',
    title: 'Show changes',
    description:
      'Shows what a command changed: a unified diff of text files, sizes of others. For applied changes it shows what undoing them would change. Example: {"id":"cmd_4f9c1a20b7e3"}',
    annotations: reads,
    input: show,
    output,
    async run({ id, paths, max_chars }, context) {
      const shown = await changes.show({ id, paths }, { maxFiles, maxChars: max_chars }, context);
      return toReply({ ...toChangesReply(shown), diff: shown.changes.map(toDiff).join('') });
    },
    fail,
  });
}

function toDiff(change: ShownChange): string {
  const { before, after, diff, note } = change;
  const sizes = [before, after].map((one) => (one ? `${one.bytes} bytes` : 'nothing')).join(' → ');
  const modes =
    before && after && before.mode !== after.mode
      ? `, mode ${octal(before.mode)} → ${octal(after.mode)}`
      : '';
  const details =
    diff === undefined
      ? ` (${[note, sizes].filter(Boolean).join(', ')}${modes})`
      : modes && ` (${modes.slice(2)})`;
  // A line break in a name could pass for a line of the difference.
  return `${escapeControls(describeChange(change))}${details}\n${diff ?? ''}`;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

/** `apply_changes`: moves held changes into the workspace. */
export function applyChanges(changes: ToolChanges): Tool {
  return defineTool({
    name: 'apply_changes',
    title: 'Apply changes',
    description:
      'Applies held changes to the workspace, all or by path. Files that another program has changed since are left alone and named in conflicts. Example: {"id":"cmd_4f9c1a20b7e3","paths":["src/a.ts"]}',
    annotations: writes,
    input: change,
    output,
    run: async (action, context) => toReply(toChangesReply(await changes.apply(action, context))),
    fail,
  });
}

/** `discard_changes`: forgets held changes. */
export function discardChanges(changes: ToolChanges): Tool {
  return defineTool({
    name: 'discard_changes',
    title: 'Discard changes',
    description: 'Forgets held changes, all or by path. Applied changes stay, but can no longer be undone.',
    annotations: writes,
    input: discard,
    output,
    run: async (action, context) => toReply(toChangesReply(await changes.discard(action, context))),
    fail,
  });
}

/** `undo_changes`: restores the files from before a command. */
export function undoChanges(changes: ToolChanges): Tool {
  return defineTool({
    name: 'undo_changes',
    title: 'Undo changes',
    description:
      'Restores the files from before a command whose changes were applied; the changes are held afterwards. Files that were changed since are left alone and named in conflicts. Example: {"id":"cmd_4f9c1a20b7e3"}',
    annotations: writes,
    input: change,
    output,
    run: async (action, context) => toReply(toChangesReply(await changes.undo(action, context))),
    fail,
  });
}

function toReply(structured: Readonly<Record<string, YamlValue>>, isError = false): ToolReply {
  return { text: toYamlReply(structured), structured, isError };
}

function fail(error: unknown): ToolReply {
  const { code, message, hint } = toNacreError(error);
  return toReply({ error: message, code, ...(hint !== undefined && { hint }) }, true);
}
