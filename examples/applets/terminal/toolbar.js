import { keys, toSequence, withModifiers } from './keys.js';

/**
 * Fills `container` with a button for each key and returns a function that applies the pressed modifiers to typed text.
 * style.css shows the toolbar on touch screens only.
 */
export function createToolbar(container, terminal) {
  const modifiers = new Map();
  const isOn = (name) => modifiers.get(name)?.getAttribute('aria-pressed') === 'true';
  const release = () => {
    for (const button of modifiers.values()) button.setAttribute('aria-pressed', 'false');
  };
  const press = (key, button) => {
    if (key.modifier !== undefined) return button.setAttribute('aria-pressed', String(!isOn(key.modifier)));
    const application = terminal.modes.applicationCursorKeysMode;
    const sequence = toSequence(key, { ctrl: isOn('ctrl'), alt: isOn('alt'), application });
    release();
    terminal.input(sequence);
  };
  for (const key of keys) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = key.name;
    button.setAttribute('aria-label', key.label ?? key.name);
    if (key.modifier !== undefined) {
      modifiers.set(key.modifier, button);
      button.setAttribute('aria-pressed', 'false');
    }
    // Without this, the button takes the focus and the on-screen keyboard closes.
    button.addEventListener('pointerdown', (event) => event.preventDefault());
    button.addEventListener('mousedown', (event) => event.preventDefault());
    button.addEventListener('click', () => press(key, button));
    container.append(button);
  }
  return (text) => {
    // Longer text is pasted or composed, or the terminal's reply to a program; modifiers wait for a key.
    if (text.length !== 1) return text;
    const typed = withModifiers(text, { ctrl: isOn('ctrl'), alt: isOn('alt') });
    release();
    return typed;
  };
}
