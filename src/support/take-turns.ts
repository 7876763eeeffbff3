/**
 * Spreads work over turns of the event loop: in each turn `most` calls go on at once, and further ones wait for the next
 * turns, in order. Other events are handled in between.
 */
export function createTurns(most: number): () => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let taken = 0;
  const nextTurn = () => {
    const resumed = waiting.splice(0, most);
    taken = resumed.length;
    if (taken > 0) setImmediate(nextTurn);
    for (const resume of resumed) resume();
  };
  return () => {
    if (taken === 0) setImmediate(nextTurn);
    if (taken < most) {
      taken += 1;
      return undefined;
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
}
