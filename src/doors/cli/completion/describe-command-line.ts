// Describes everything that can be typed after `nacre`, for completion scripts and the man page, from the same
// declarations as `--help`.
import { type Declarations, listSettings, type Setting } from '../../../settings/define.ts';
import { toDefaultNotes, toPlaceholder } from '../../../settings/describe.ts';
import type { CommandLine, DoorExample } from '../../door.ts';

/** The value that is expected after a flag, or as a positional argument. */
export type ExpectedValue =
  | { readonly kind: 'nothing' | 'anything' | 'file' | 'command' }
  | { readonly kind: 'one-of' | 'some-of'; readonly options: readonly string[] };

/** One flag; a short name such as `-f` comes first. */
export interface DescribedFlag {
  readonly names: readonly string[];
  readonly description: string;
  /** Placeholder for the value, such as `PATH`; empty for a switch. */
  readonly placeholder: string;
  /** Environment variables of the same setting, and its default. */
  readonly notes: readonly string[];
  readonly expected: ExpectedValue;
}

/** One subcommand of `nacre`. */
export interface DescribedCommand {
  readonly name: string;
  readonly summary: string;
  /** Further sentences after the summary; empty if there are none. */
  readonly details: string;
  readonly usage: string;
  readonly examples: readonly DoorExample[];
  readonly flags: readonly DescribedFlag[];
  readonly argument: ExpectedValue;
}

/** Every subcommand, and the flags that all of them accept. */
export interface DescribedCommandLine {
  readonly commands: readonly DescribedCommand[];
  /** Flags that every subcommand accepts, by their heading. */
  readonly groups: Readonly<Record<string, readonly DescribedFlag[]>>;
}

/** Describes the command line from the declarations in `doors/catalog.ts`. */
export function describeCommandLine({ doors, shared, groups }: CommandLine): DescribedCommandLine {
  const commands = Object.entries(doors).map(([name, entry]) => ({
    name,
    summary: entry.summary,
    details: entry.details ?? '',
    usage: entry.usage,
    examples: entry.examples,
    flags: toFlags(entry.flags),
    argument: toArgument(entry.usage, entry.takesCommand === true),
  }));
  const titled = Object.entries(groups).map(([title, declarations]) => [title, toFlags(declarations)]);
  return { commands, groups: { 'Every command': toFlags(shared), ...Object.fromEntries(titled) } };
}

/** All flags in `groups`. */
export function commonFlags({ groups }: DescribedCommandLine): readonly DescribedFlag[] {
  return Object.values(groups).flat();
}

function toFlags(declarations: Declarations): DescribedFlag[] {
  return listSettings(declarations)
    .filter(({ flags }) => flags.length > 0)
    .map((setting) => ({
      names: [...setting.flags].sort((a, b) => a.length - b.length),
      description: setting.description,
      placeholder: toPlaceholder(setting),
      notes: [...setting.env, ...toDefaultNotes(setting)],
      expected: toExpected(setting),
    }));
}

function toExpected({ kind, path }: Setting): ExpectedValue {
  if (kind.type === 'boolean') return { kind: 'nothing' };
  if (kind.type === 'choice') return { kind: 'one-of', options: kind.options };
  if (kind.type === 'list' && kind.options) return { kind: 'some-of', options: kind.options };
  return { kind: path ? 'file' : 'anything' };
}

// In `usage`, literal words are lowercase and placeholders are uppercase.
function toArgument(usage: string, takesCommand: boolean): ExpectedValue {
  if (takesCommand) return { kind: 'command' };
  const options = [...usage.matchAll(/(?<![\w.'-])[a-z][a-z-]*(?![\w.'])/g)].map(([word]) => word);
  if (options.length > 0) return { kind: 'one-of', options };
  if (usage.includes('FILE')) return { kind: 'file' };
  return { kind: usage === '' ? 'nothing' : 'anything' };
}
