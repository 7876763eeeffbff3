import { useLayoutEffect } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { choices, choose, wrapsLines } from '../choices.ts';
import { onKeys } from '../keys.ts';
import { copyText } from '../notify.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { toAmount, toCount } from '../words.ts';
import type { ShownLog } from './use-log.ts';

const nextTimes = { since: 'clock', clock: 'off', off: 'since' } as const;

/** The toolbar of a log: errors, times, wrapping, copy and download. */
export function LogTools({ card, shown }: { readonly card: CommandCard; readonly shown: ShownLog }) {
  const isWrapped = wrapsLines();
  const { times } = choices.value;
  const errors = shown.state?.errors ?? 0;
  const changeTimes = () => choose({ times: nextTimes[times] });
  const changeWrap = () => choose({ wrap: !isWrapped });
  useLayoutEffect(() =>
    onKeys({
      e: () => void goToError(shown, 1),
      E: () => void goToError(shown, -1),
      t: changeTimes,
      w: changeWrap,
    }),
  );
  return (
    <div class="tools">
      {errors > 0 && (
        <button class="chip bad" type="button" onClick={() => void goToError(shown, 1)}>
          <b>{toCount(errors)}</b> {errors === 1 ? 'error line' : 'error lines'} <kbd>e</kbd>
        </button>
      )}
      <Toggle
        name="times-toggle"
        icon="clock"
        label={`Times: ${times === 'since' ? 'since the start' : times}`}
        title="Times (t)"
        isOn={times !== 'off'}
        onPress={changeTimes}
      />
      <Toggle icon="wrap" label="Wrap lines" title="Wrap lines (w)" isOn={isWrapped} onPress={changeWrap} />
      <Menu
        icon="copy"
        label="Copy"
        items={[
          [shown.chosen ? 'Chosen lines' : 'Output', () => void copy(shown, '')],
          ['Command and output', () => void copy(shown, `$ ${card.command}\n`)],
          ['Address of this page', () => void copyText(window.location.href, 'The address is copied.')],
        ]}
      />
      <Menu
        icon="download"
        label="Download"
        items={[
          ['Bytes as they were printed', () => download(card.id, 'raw', 'log')],
          ['Text without colours', () => download(card.id, 'text', 'txt')],
          ['Recording (asciicast)', () => download(card.id, 'cast', 'cast')],
        ]}
      />
    </div>
  );
}

function Toggle({
  name = '',
  icon,
  label,
  title,
  isOn,
  onPress,
}: {
  readonly name?: string;
  readonly icon: IconName;
  readonly label: string;
  readonly title: string;
  readonly isOn: boolean;
  readonly onPress: () => void;
}) {
  return (
    <button
      class={`icon-btn ${name}`}
      type="button"
      aria-pressed={isOn}
      aria-label={label}
      title={title}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}

// Clicking a link with `download` saves the reply without leaving the page.
function download(id: string, form: string, suffix: string): void {
  const link = document.createElement('a');
  link.href = `/api/commands/${id}/output?download=${form}`;
  link.download = `${id}.${suffix}`;
  link.click();
}

async function goToError({ log, ring, chosen, choose: set }: ShownLog, by: 1 | -1): Promise<void> {
  if (!log.current || !ring.current) return;
  const line = await log.current.matchFrom(chosen?.[0] ?? ring.current.firstLine, true, by);
  if (line < 0) return;
  set([line, line]);
  await ring.current.show(line);
}

async function copy({ log, chosen, state }: ShownLog, before: string): Promise<void> {
  const [first, last] = chosen ?? [0, (state?.lines ?? 0) - 1];
  const text = (await log.current?.text(first, last + 1)) ?? '';
  const count = Math.max(0, last - first + 1);
  await copyText(before + text, `${toAmount(count, 'line')} ${count === 1 ? 'is' : 'are'} copied.`);
}
