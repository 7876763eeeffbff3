// What can be typed after `nacre`, for completions and the man page, from the declarations that --help shows.
import { type Declarations, listSettings, type Setting } from '../../../settings/define.ts';
import { describeDefault, toPlaceholder } from '../../../settings/describe.ts';
import type { CommandLine } from '../../door.ts';

/** What may stand after a flag, or in place of a word. */
export type Expected =
  | { readonly kind: 'nothing' | 'anything' | 'file' | 'command' }
  | { readonly kind: 'one-of' | 'some-of'; readonly options: readonly string[] };

/** One flag, with the short form first where there is one. */
export interface LineFlag {
  readonly names: readonly string[];
  readonly description: string;
  /** The word that stands for the value; empty for a switch. */
  readonly placeholder: string;
  /** What gives the same, and what holds without it. */
  readonly notes: readonly string[];
  readonly expected: Expected;
}

/** One command of the command line. */
export interface LineCommand {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly flags: readonly LineFlag[];
  readonly words: Expected;
}

/** The whole command line. */
export interface Line {
  readonly commands: readonly LineCommand[];
  /** The flags that every command takes, under their headings. */
  readonly groups: Readonly<Record<string, readonly LineFlag[]>>;
}

/** Describes the command line by its declarations. */
export function describeLine({ doors, shared, groups }: CommandLine): Line {
  const commands = Object.entries(doors).map(([name, { summary, usage, flags, takesCommand }]) => ({
    name,
    summary,
    usage,
    flags: toFlags(flags),
    words: toWords(usage, takesCommand === true),
  }));
  const titled = Object.entries(groups).map(([title, declarations]) => [title, toFlags(declarations)]);
  return { commands, groups: { 'Every command': toFlags(shared), ...Object.fromEntries(titled) } };
}

/** The flags that every command takes. */
export function commonFlags({ groups }: Line): readonly LineFlag[] {
  return Object.values(groups).flat();
}

function toFlags(declarations: Declarations): LineFlag[] {
  return listSettings(declarations)
    .filter(({ flags }) => flags.length > 0)
    .map((setting) => ({
      names: [...setting.flags].sort((a, b) => a.length - b.length),
      description: setting.description,
      placeholder: toPlaceholder(setting),
      notes: toNotes(setting),
      expected: toExpected(setting),
    }));
}

function toNotes(setting: Setting): string[] {
  const isSwitch = setting.kind.type === 'boolean';
  return [...setting.env, ...(isSwitch ? [] : [`default: ${describeDefault(setting)}`])];
}

function toExpected({ kind, path }: Setting): Expected {
  if (kind.type === 'boolean') return { kind: 'nothing' };
  if (kind.type === 'choice') return { kind: 'one-of', options: kind.options };
  if (kind.type === 'list' && kind.options) return { kind: 'some-of', options: kind.options };
  return { kind: path ? 'file' : 'anything' };
}

// A usage names what is typed as it is in lower case, and what stands for something else in capitals.
function toWords(usage: string, takesCommand: boolean): Expected {
  if (takesCommand) return { kind: 'command' };
  const options = [...usage.matchAll(/(?<![\w.'-])[a-z][a-z-]*(?![\w.'])/g)].map(([word]) => word);
  if (options.length > 0) return { kind: 'one-of', options };
  if (usage.includes('FILE')) return { kind: 'file' };
  return { kind: usage === '' ? 'nothing' : 'anything' };
}
