import { useEffect, useRef, useState } from 'preact/hooks';
import { fetchJson, isNoReply } from './api.ts';
import { generation, link } from './store.ts';

/** The state of a fetch: loading, an error, or the data. */
export interface Fetched<Data> {
  readonly data: Data | undefined;
  readonly error: (Error & { hint?: string }) | undefined;
  reload(): void;
  set(change: (data: Data) => Data): void;
}

type Change<Data> = (data: Data) => Data;

interface State<Data> {
  /** The address of the data or the error. */
  readonly of: string;
  readonly data?: Data;
  readonly error?: Error;
}

// Without a connection the last data stay visible, and the frame says that they may be outdated.
function withError<Data>(before: State<Data>, address: string, error: Error): State<Data> {
  if (before.of !== address) return { of: address, error };
  return isNoReply(error) && before.data !== undefined ? before : { ...before, error };
}

/**
 * Fetches JSON from an address, again when it changes; older data stay until new ones arrive. A request without a reply
 * is repeated once there is a connection. A change that arrives during a fetch is also applied to the reply, which may
 * be older than the change.
 */
export function useFetched<Data>(address: string): Fetched<Data> {
  const [state, setState] = useState<State<Data>>({ of: '' });
  const [count, setCount] = useState(0);
  const wanted = useRef(address);
  const isUnanswered = useRef(false);
  const fetches = useRef({ begun: 0, shown: 0, open: new Set<Change<Data>[]>() });
  useEffect(() => {
    const { current } = fetches;
    const number = ++current.begun;
    const changes: Change<Data>[] = [];
    wanted.current = address;
    current.open.add(changes);
    const finish = (show: () => void) => {
      current.open.delete(changes);
      if (wanted.current !== address || number < current.shown) return;
      current.shown = number;
      show();
    };
    fetchJson<Data>(address).then(
      (data) =>
        finish(() => setState({ of: address, data: changes.reduce((one, change) => change(one), data) })),
      (error: Error) =>
        finish(() => {
          isUnanswered.current ||= isNoReply(error);
          setState((before) => withError(before, address, error));
        }),
    );
  }, [address, count, generation.value]);
  const isConnected = link.value.state === 'open';
  useEffect(() => {
    if (!isConnected || !isUnanswered.current) return;
    isUnanswered.current = false;
    setCount((before) => before + 1);
  }, [isConnected]);
  useEffect(
    () => () => {
      wanted.current = '';
    },
    [],
  );
  return {
    data: state.data,
    error: state.of === address ? state.error : undefined,
    reload: () => setCount((before) => before + 1),
    set(change) {
      for (const changes of fetches.current.open) changes.push(change);
      setState((before) => (before.data === undefined ? before : { ...before, data: change(before.data) }));
    },
  };
}
