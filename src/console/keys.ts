// Keyboard shortcuts. Letter keys do nothing in input fields, can be turned off, and never approve anything.
import { signal } from '@preact/signals';
import { choices } from './choices.ts';
import { copyText } from './notify.ts';
import { go, goBack } from './router.ts';

type Keys = Readonly<Record<string, () => void>>;
const layers: Keys[] = [];

/** Whether the list of keys is open. */
export const showsKeys = signal(false);

/**
 * Adds keys until the returned function is called; the last layer wins. Call it in a layout effect, so that the keys
 * work as soon as the element is visible.
 */
export function onKeys(keys: Keys): () => void {
  layers.push(keys);
  return () => void layers.splice(layers.indexOf(keys), 1);
}

const pages: Readonly<Record<string, string>> = {
  n: '/',
  c: '/commands',
  a: '/agents',
  p: '/approvals',
  u: '/audit',
  s: '/server',
};
let goesUntil = 0;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  );
}

/** Listens for keys on the whole page. */
export function listenForKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented) return;
    if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
      event.preventDefault();
      document.getElementById('anything')?.focus();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !choices.value.letters)
      return;
    const does = find(event);
    if (!does) return;
    event.preventDefault();
    does();
  });
}

// `timeStamp` is the time at which the key was pressed, so a busy page loses no key.
function find({ key, timeStamp }: KeyboardEvent): (() => void) | undefined {
  if (goesUntil > timeStamp && pages[key] !== undefined) {
    goesUntil = 0;
    return () => go(pages[key] ?? '/');
  }
  if (key === 'g')
    return () => {
      goesUntil = timeStamp + 1_500;
    };
  if (key === '?')
    return () => {
      showsKeys.value = !showsKeys.value;
    };
  if (key === 'Escape' && showsKeys.value)
    return () => {
      showsKeys.value = false;
    };
  return layers.findLast((layer) => layer[key] !== undefined)?.[key] ?? usual[key];
}

// Rows are links with the attribute `data-row`; j and k move the focus between them.
const move = (by: number) => () => {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus();
};
const usual: Keys = {
  j: move(1),
  k: move(-1),
  '/': () => document.querySelector<HTMLInputElement>('#find, #anything')?.focus(),
  Escape: () => {
    if (window.location.pathname !== '/') goBack();
  },
  y: () => void copyText(window.location.href, 'The address is copied.'),
};

/** All keys, for the dialog that lists them. */
export const keyList: readonly (readonly [string, string])[] = [
  ['g then n c a p u s', 'go to Now, Commands, Agents, Approvals, Audit, Server'],
  ['Ctrl K', 'find a command'],
  ['/', 'find in the output'],
  ['j k', 'row after, before'],
  ['Enter', 'open'],
  ['Esc', 'back'],
  ['[ ]', 'command before, after'],
  ['f', 'follow'],
  ['e E', 'error after, before'],
  ['n N', 'match after, before'],
  ['Shift ↑ ↓', 'choose lines of the output; Tab goes to their links'],
  ['t', 'times: since the start, by the clock, off'],
  ['w', 'wrap lines'],
  ['1 2', 'output, records'],
  ['y', 'copy the address'],
  ['x', 'stop the command; Enter confirms'],
  ['?', 'this list'],
];
