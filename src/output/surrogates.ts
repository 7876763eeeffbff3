/** The longest length up to `wanted` at which `text` can be cut without splitting a surrogate pair. */
export function safeCut(text: string, wanted: number): number {
  if (wanted <= 0) return 0;
  if (wanted >= text.length) return text.length;
  return isHigh(text.charCodeAt(wanted - 1)) && isLow(text.charCodeAt(wanted)) ? wanted - 1 : wanted;
}

/** The first index from `wanted` on at which `text` can start without splitting a surrogate pair. */
export function safeStart(text: string, wanted: number): number {
  if (wanted <= 0) return 0;
  return isHigh(text.charCodeAt(wanted - 1)) && isLow(text.charCodeAt(wanted)) ? wanted + 1 : wanted;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
