// Browser notifications about requests and prompts that need a person, while the page is in the background. Off until
// the user turns them on.
import { effect } from '@preact/signals';
import { choices, choose } from './choices.ts';
import { go } from './router.ts';
import { agentOf, awaitingInput, now } from './store.ts';
import { toAgentName, toTitle } from './words.ts';

interface Need {
  readonly id: string;
  readonly title: string;
  readonly command: string;
  readonly address: string;
}

/**
 * Turns notifications on, if the user permits them in the browser's prompt, or off. Returns why they stay off, or an
 * empty text.
 */
export async function setNotifies(isOn: boolean): Promise<string> {
  choose({ notifies: false });
  if (!isOn) return '';
  if (!('Notification' in window)) return 'This browser has no notifications here.';
  if ((await Notification.requestPermission()) !== 'granted') return 'The browser does not allow it.';
  choose({ notifies: true });
  return '';
}

/** Shows one notification for each new question, and for each command that starts to wait for input. */
export function startNotifications(): void {
  let known: ReadonlySet<string> | undefined;
  effect(() => {
    if (!now.value) return;
    const needs = listNeeds();
    const fresh = needs.filter(({ id }) => known !== undefined && !known.has(id));
    known = new Set(needs.map(({ id }) => id));
    const isOn = choices.value.notifies && 'Notification' in window && Notification.permission === 'granted';
    if (isOn && !document.hasFocus()) for (const need of fresh) show(need);
  });
}

function listNeeds(): readonly Need[] {
  const nameOf = (key: string, client: string) => {
    const agent = agentOf(key);
    return agent ? toAgentName(agent) : client;
  };
  return [
    ...(now.value?.questions ?? []).map(({ id, agent, client, asked }) => ({
      ...{ id, command: asked.command, address: '/approvals' },
      title: `${nameOf(agent, client)} asks to run`,
    })),
    ...awaitingInput.value.map(({ id, agent, command }) => ({
      ...{ id, command, address: `/commands/${id}` },
      title: `${nameOf(agent, 'A command')}: waits for input`,
    })),
  ];
}

// A notification has no buttons: questions are answered in the page only.
function show({ id, title, command, address }: Need): void {
  const notification = new Notification(title, { body: toTitle(command), tag: id });
  notification.onclick = () => {
    window.focus();
    go(address);
    notification.close();
  };
}
