import { useEffect, useRef, useState } from 'preact/hooks';

const restsMs = 700;

/** Listeners for the element that shows the value. */
interface Aim {
  readonly onPointerMove: () => void;
  readonly onPointerDown: () => void;
  readonly onPointerLeave: () => void;
}

/**
 * Delays updates of a value while the pointer moves over the element with the listeners, so that the row under the
 * pointer does not move just before a click. A resting pointer delays nothing.
 */
export function useSteady<Value>(value: Value): readonly [Value, Aim] {
  const [isAiming, setAiming] = useState(false);
  const shown = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const rest = () => {
    clearTimeout(timer.current);
    setAiming(false);
  };
  const aim = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(rest, restsMs);
    setAiming(true);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  if (!isAiming) shown.current = value;
  return [shown.current, { onPointerMove: aim, onPointerDown: aim, onPointerLeave: rest }];
}
