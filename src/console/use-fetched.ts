import { useEffect, useState } from 'preact/hooks';
import { fetchJson } from './api.ts';
import { generation } from './store.ts';

/** The state of a fetch: loading, an error, or the data. */
export interface Fetched<Data> {
  readonly data: Data | undefined;
  readonly error: (Error & { hint?: string }) | undefined;
  reload(): void;
  set(change: (data: Data) => Data): void;
}

/** Fetches JSON from an address, again when it changes; older data stay until new ones arrive. */
export function useFetched<Data>(address: string): Fetched<Data> {
  const [state, setState] = useState<{ readonly of: string; readonly data?: Data; readonly error?: Error }>({
    of: '',
  });
  const [count, setCount] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    fetchJson<Data>(address).then(
      (data) => isCurrent && setState({ of: address, data }),
      (error: Error) =>
        isCurrent && setState((before) => ({ ...(before.of === address ? before : {}), of: address, error })),
    );
    return () => {
      isCurrent = false;
    };
  }, [address, count, generation.value]);
  return {
    data: state.data,
    error: state.of === address ? state.error : undefined,
    reload: () => setCount(count + 1),
    set: (change) =>
      setState((before) => (before.data === undefined ? before : { ...before, data: change(before.data) })),
  };
}
