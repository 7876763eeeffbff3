import { useEffect, useRef } from 'preact/hooks';
import { isDark } from '../choices.ts';
import { toTone } from '../words.ts';
import type { Bar } from './lay-out.ts';

/** Draws bars on a canvas if there are too many for elements; bars in the same 3 pixels are merged. */
export function ManyBars({ bars }: { readonly bars: readonly Bar[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context) return;
    const { width, height } = element.getBoundingClientRect();
    const scale = window.devicePixelRatio;
    element.width = width * scale;
    element.height = height * scale;
    context.scale(scale, scale);
    const colours = {
      bad: toColour(element, '--bad'),
      warn: toColour(element, '--warn'),
      wait: toColour(element, '--wait'),
      run: toColour(element, '--run'),
    };
    const quiet = toColour(element, '--bar');
    let last = -10;
    for (const { card, from, to } of bars) {
      const x = Math.floor((from * width) / 3) * 3;
      const tone = toTone(card.state) as keyof typeof colours;
      if (x === last && colours[tone] === undefined) continue;
      last = x;
      context.fillStyle = colours[tone] ?? quiet;
      context.fillRect(x, 4, Math.max(2.5, (to - from) * width), 18);
    }
  }, [bars, isDark.value]);
  return <canvas class="many" ref={canvas} />;
}

// A canvas understands no `light-dark()`, but the computed colour of an element has only the one that applies.
function toColour(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  return getComputedStyle(element).color;
}
