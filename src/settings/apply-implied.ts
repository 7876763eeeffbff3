import type { CheckedCandidate } from './candidate.ts';
import type { Setting } from './define.ts';

/**
 * Adds the candidates that a chosen value implies for other settings, as a preset implies `allowedCommands`. An implied
 * candidate has the source of the choice. If that source also sets the other setting itself, two lists are
 * merged, and any other implied value is ignored.
 */
export function applyImplied(
  candidates: readonly CheckedCandidate[],
  settings: readonly Setting[],
): readonly CheckedCandidate[] {
  return candidates.filter(impliesOthers).reduce((all, choice) => {
    const implied = Object.entries(choice.setting.implies[choice.value] ?? {});
    return implied.reduce((sum, [name, value]) => addImplied(sum, choice, find(settings, name), value), all);
  }, candidates);
}

function impliesOthers(
  candidate: CheckedCandidate,
): candidate is CheckedCandidate & { readonly value: string } {
  return typeof candidate.value === 'string' && Object.hasOwn(candidate.setting.implies, candidate.value);
}

function find(settings: readonly Setting[], name: string): Setting {
  const setting = settings.find((one) => one.name === name);
  if (setting === undefined) throw new Error(`There is no setting ${name} to imply a value for.`);
  return setting;
}

function addImplied(
  candidates: readonly CheckedCandidate[],
  { source, where, value: impliedBy }: CheckedCandidate & { readonly value: string },
  setting: Setting,
  value: unknown,
): readonly CheckedCandidate[] {
  const own = candidates.find(
    (candidate) => candidate.source === source && candidate.setting.name === setting.name,
  );
  if (own === undefined) {
    const implied = { setting, source, where, raw: value, value, impliedBy };
    // The first candidate wins, so insert `implied` next to the others of its source to keep its priority.
    const at = candidates.findIndex((candidate) => candidate.source === source);
    return [...candidates.slice(0, at), implied, ...candidates.slice(at)];
  }
  if (!Array.isArray(own.value) || !Array.isArray(value)) return candidates;
  const sum = { ...own, value: [...new Set([...value, ...own.value])], impliedBy };
  return candidates.map((candidate) => (candidate === own ? sum : candidate));
}
