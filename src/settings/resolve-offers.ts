// From what was given to the values in force:
// 1. flags, environment and files are read into offers, each naming where it stands
// 2. every offer is checked, also those that another source outranks; all problems stop the start together
// 3. the first of flag, environment and user file wins; without any, the default holds
// 4. the project file then tightens the result, and can do nothing else
import { NacreError } from '../contract/failure.ts';
import { type Declarations, listSettings, type Setting, type Values } from './define.ts';
import { type CheckedOffer, checkOffer, type Offers, type SettingProblem, type Source } from './offer.ts';
import { offersFromFlags, type ParsedFlags } from './parse-flags.ts';
import { type Environment, offersFromEnvironment, warnOfUnknown } from './read-environment.ts';
import { takeGifts } from './take-gifts.ts';
import { tighten } from './tighten.ts';

/** What settings can come from without reading files, and what was read elsewhere. */
export interface OfferSources {
  readonly flags?: ParsedFlags | undefined;
  readonly env?: Environment | undefined;
  /** What the project's and the user's files gave, or the program that nacre is part of. */
  readonly more?: readonly Offers[] | undefined;
}

/** A value that a higher place outranks. */
export interface Outranked {
  readonly source: Source;
  readonly where: string;
  readonly value: unknown;
}

/** Where a value came from, and what tightened it. */
export interface Origin {
  readonly source: Source;
  /** The flag, the variable, the line of a file, or `default`. */
  readonly where: string;
  /** The choice of another setting that gave it, or a part of it, such as a preset. */
  readonly givenBy?: string | undefined;
  /** The line of the project file that changed the value or set a limit beside it. */
  readonly tightenedBy?: string;
  /** What lower places gave in vain, highest first. */
  readonly outranked?: readonly Outranked[] | undefined;
}

/** The settings in force. */
export interface ResolvedSettings<D extends Declarations> {
  readonly values: Values<D>;
  /** What a project file demands beside a value: both must hold. */
  readonly limits: Partial<Values<D>>;
  readonly origins: { readonly [K in keyof D]: Origin };
  readonly warnings: readonly string[];
}

/** Resolves every declared setting, or throws one `settings_invalid` that lists all that is wrong. */
export function resolveOffers<D extends Declarations>(
  sources: OfferSources,
  declarations: D,
): ResolvedSettings<D> {
  const settings = listSettings(declarations);
  const { offers, problems } = gather(sources, settings);
  const decided = settings.map((setting) => decideValue(setting, offers));
  const all = [...problems, ...decided.flatMap(({ problem }) => problem ?? [])];
  if (all.length > 0) throw settingsInvalid(all);
  const pick = (part: (decided: Decided) => unknown) =>
    Object.fromEntries(
      decided.map((one) => [one.name, part(one)]).filter(([, value]) => value !== undefined),
    );
  return {
    values: pick(({ value }) => value) as Values<D>,
    limits: pick(({ limit }) => limit) as Partial<Values<D>>,
    origins: pick(({ origin }) => origin) as { readonly [K in keyof D]: Origin },
    warnings: warnOfUnknown(sources.env ?? {}, settings),
  };
}

/** The error that stops the start. */
export function settingsInvalid(problems: readonly SettingProblem[]): NacreError {
  const lines = problems.map(({ where, message }) => `${where}: ${message}`);
  const [only = ''] = lines;
  const message = lines.length === 1 ? only : `${lines.length} settings are wrong:\n- ${lines.join('\n- ')}`;
  return new NacreError('settings_invalid', message, {
    hint: 'Correct or remove what is named; nothing was started.',
    details: { problems },
  });
}

interface Gathered {
  readonly offers: readonly CheckedOffer[];
  readonly problems: readonly SettingProblem[];
}

function gather(sources: OfferSources, settings: readonly Setting[]): Gathered {
  const none: Offers = { offers: [], problems: [] };
  const read = [
    sources.flags ? offersFromFlags(sources.flags, settings) : none,
    offersFromEnvironment(sources.env ?? {}, settings),
    ...(sources.more ?? []),
  ];
  const checked = read.flatMap(({ offers }) => offers.map(checkOffer));
  const problems = [...read.flatMap((one) => one.problems), ...checked.filter(isProblem)];
  return { offers: takeGifts(checked.filter(isOffer), settings), problems };
}

function isOffer(checked: CheckedOffer | SettingProblem): checked is CheckedOffer {
  return 'setting' in checked;
}

function isProblem(checked: CheckedOffer | SettingProblem): checked is SettingProblem {
  return !isOffer(checked);
}

interface Decided {
  readonly name: string;
  readonly value?: unknown;
  readonly limit?: unknown;
  readonly origin?: Origin;
  readonly problem?: SettingProblem;
}

function decideValue(setting: Setting, offers: readonly CheckedOffer[]): Decided {
  const { name } = setting;
  const mine = offers.filter((offer) => offer.setting.name === name);
  const [winner, ...losers] = mine.filter(({ source }) => source !== 'project');
  const value = winner ? winner.value : setting.schema.parse(undefined);
  const origin: Origin = {
    source: winner?.source ?? 'default',
    where: winner?.where ?? 'default',
    ...(winner?.givenBy !== undefined && { givenBy: winner.givenBy }),
    ...(losers.length > 0 && { outranked: losers.map(toOutranked) }),
  };
  const project = mine.find(({ source }) => source === 'project');
  return project ? decideTightened(setting, value, origin, project) : { name, value, origin };
}

function toOutranked({ source, where, value }: CheckedOffer): Outranked {
  return { source, where, value };
}

function decideTightened(setting: Setting, base: unknown, origin: Origin, project: CheckedOffer): Decided {
  const { name, schema, key } = setting;
  const { value, limit } = tighten(setting, base, project.value);
  // Two lists that share nothing can leave what the schema refuses, such as no tools at all.
  if (value !== undefined && !schema.safeParse(value).success) {
    const given = `${JSON.stringify(project.given)} and the value of ${origin.where}`;
    return { name, problem: { where: project.where, message: `${key}: ${given} leave nothing in common.` } };
  }
  const changed = limit !== undefined || JSON.stringify(value) !== JSON.stringify(base);
  return { name, value, limit, origin: changed ? { ...origin, tightenedBy: project.where } : origin };
}
