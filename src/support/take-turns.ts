/**
 * Limits how many calls proceed in one turn of the event loop, so that other events are handled between turns. The
 * returned function returns undefined for the first `maxPerTurn` calls of a turn. Further calls get a promise that
 * resolves in a later turn, in order.
 */
export function createTurns(maxPerTurn: number): () => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let taken = 0;
  const nextTurn = () => {
    const resumed = waiting.splice(0, maxPerTurn);
    taken = resumed.length;
    if (taken > 0) setImmediate(nextTurn);
    for (const resume of resumed) resume();
  };
  return () => {
    if (taken === 0) setImmediate(nextTurn);
    if (taken < maxPerTurn) {
      taken += 1;
      return undefined;
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
}
