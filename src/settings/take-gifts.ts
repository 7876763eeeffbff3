import type { Setting } from './define.ts';
import type { CheckedOffer } from './offer.ts';

/**
 * Adds what a choice gives to other settings, such as the list of a preset, as if it stood where the choice stands.
 * What the same place says itself comes first: a list is added to the given one, any other value holds in its place.
 */
export function takeGifts(
  offers: readonly CheckedOffer[],
  settings: readonly Setting[],
): readonly CheckedOffer[] {
  return offers.filter(isChoice).reduce((all, choice) => {
    const given = Object.entries(choice.setting.gives[choice.value] ?? {});
    return given.reduce((sum, [name, value]) => take(sum, choice, find(settings, name), value), all);
  }, offers);
}

function isChoice(offer: CheckedOffer): offer is CheckedOffer & { readonly value: string } {
  return typeof offer.value === 'string' && Object.hasOwn(offer.setting.gives, offer.value);
}

function find(settings: readonly Setting[], name: string): Setting {
  const setting = settings.find((one) => one.name === name);
  if (setting === undefined) throw new Error(`There is no setting ${name} to be given.`);
  return setting;
}

function take(
  offers: readonly CheckedOffer[],
  { source, where, value: givenBy }: CheckedOffer & { readonly value: string },
  setting: Setting,
  value: unknown,
): readonly CheckedOffer[] {
  const own = offers.find((offer) => offer.source === source && offer.setting.name === setting.name);
  if (own === undefined) {
    const gift = { setting, source, where, given: value, value, givenBy };
    // The first of several offers wins, so the gift stands where the offers of its source stand.
    const at = offers.findIndex((offer) => offer.source === source);
    return [...offers.slice(0, at), gift, ...offers.slice(at)];
  }
  if (!Array.isArray(own.value) || !Array.isArray(value)) return offers;
  const sum = { ...own, value: [...new Set([...value, ...own.value])], givenBy };
  return offers.map((offer) => (offer === own ? sum : offer));
}
