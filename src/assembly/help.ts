import { type Display, toTextWidth } from '../doors/display.ts';
import type { DoorEntry, DoorExample, DoorGroup } from '../doors/door.ts';
import { type Layout, layOutRows, wrap, wrapCommand } from '../doors/lay-out.ts';
import { sharedFlags } from '../doors/shared-flags.ts';
import type { SettingGroups } from '../settings/define.ts';
import { type HelpRow, toHelpRows } from '../settings/to-help-rows.ts';

/** Options for help texts. */
export interface HelpOptions {
  readonly display: Display;
  /** The settings under their headings. */
  readonly settings: SettingGroups;
  /** True for `--help --all`: the flags of all settings are listed as well. */
  readonly all: boolean;
}

/** The text of `nacre --help`. */
export function toOverview(groups: Readonly<Record<string, DoorGroup>>, options: HelpOptions): string {
  const layout = toLayout(options);
  const commands = Object.entries(groups).map(([title, doors]) => {
    const rows = Object.entries(doors).map(([name, { summary }]) => ({ left: name, right: summary }));
    return toSection(title, alignWith(groups, rows), layout);
  });
  return join([
    wrap('nacre: run shell commands for agents and people, safely.', layout.width),
    toUsageLine('COMMAND [FLAG...] [ARGUMENT...]', layout),
    ...commands,
    toExamples(overviewExamples, layout),
    wrap('nacre COMMAND --help shows the flags and examples of one command.', layout.width),
    ...toSettings('nacre', options, layout),
  ]);
}

/** The text of `nacre COMMAND --help`. */
export function toUsage(name: string, entry: DoorEntry, options: HelpOptions): string {
  const layout = toLayout(options);
  return join([
    wrap([entry.summary, ...(entry.details === undefined ? [] : [entry.details])].join(' '), layout.width),
    toUsageLine(`${name} [FLAG...] ${entry.usage}`.trimEnd(), layout),
    toSection('Flags', toHelpRows({ ...entry.flags, ...sharedFlags }), layout),
    toExamples(entry.examples, layout),
    ...toSettings(`nacre ${name}`, options, layout),
  ]);
}

const overviewExamples: readonly DoorExample[] = [
  ['nacre init claude-code', 'Let an agent run commands through nacre.'],
  ["nacre run 'npm test'", 'Run a command and kill everything it started when it ends.'],
  ["nacre check 'git push --force'", 'See whether a command would be allowed, and why.'],
];

type Section = readonly string[];

function toLayout({ display }: HelpOptions): Layout {
  return { width: toTextWidth(display), paint: display.paint };
}

function join(sections: readonly Section[]): string {
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function toUsageLine(words: string, { width, paint }: Layout): Section {
  const [first = '', ...more] = wrap(`nacre ${words}`, width - 7);
  return [`${paint.heading('Usage:')} ${first}`, ...more.map((line) => `       ${line}`)];
}

function toSection(title: string, rows: readonly HelpRow[], layout: Layout): Section {
  return [layout.paint.heading(`${title}:`), ...layOutRows(rows, layout)];
}

// Pads every name to the longest one of all groups, so that the summaries of all groups start in one column.
function alignWith(
  groups: Readonly<Record<string, DoorGroup>>,
  rows: readonly HelpRow[],
): readonly HelpRow[] {
  const widest = Math.max(
    ...Object.values(groups).flatMap((doors) => Object.keys(doors).map((name) => name.length)),
  );
  return rows.map(({ left, right }) => ({ left: left.padEnd(widest), right }));
}

function toExamples(examples: readonly DoorExample[], { width, paint }: Layout): Section {
  return [
    paint.heading('Examples:'),
    ...examples.flatMap(([line, meaning]) => [
      ...wrapCommand(line, width - 2).map((one) => `  ${paint.name(one)}`),
      ...wrap(meaning, width - 4).map((one) => `    ${paint.faint(one)}`),
    ]),
  ];
}

function toSettings(command: string, { settings, all }: HelpOptions, layout: Layout): readonly Section[] {
  const { width } = layout;
  if (!all)
    return [wrap(`${command} --help --all also lists the flags of all settings, such as --allow.`, width)];
  const sections = Object.entries(settings)
    .map(([title, declarations]) => [title, toHelpRows(declarations)] as const)
    .filter(([, rows]) => rows.length > 0)
    .map(([title, rows]) => toSection(title, rows, layout));
  return [wrap(settingPlaces, width), ...sections];
}

const settingPlaces =
  'Every command accepts the flags below. You can also set them with environment variables, in the nacre.yaml of a ' +
  'project (which can only make them stricter) and in ~/.config/nacre/config.yaml, or in the file that --config names.';
