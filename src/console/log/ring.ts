// The rows of a log on the screen. There are as many elements as fit, plus some; scrolling fills them with other lines.
// 1. the scroll position gives the first row, 2. rows that are not known are asked for, 3. at most one paint a frame.
import type { LogHandle } from '../bridge.ts';
import type { LogState, MarkedRow } from '../worker/messages.ts';
import { paintRow } from './paint-row.ts';

/** How rows are shown. */
export interface RingOptions {
  readonly isWrapped: boolean;
  readonly times: 'off' | 'since' | 'clock';
  readonly startedAt: number | undefined;
  readonly chosen: readonly [number, number] | undefined;
  /** The line of the current match. */
  readonly current: number | undefined;
}

const extraRows = 16;
const keptRows = 4_000;
const maxHeight = 15_000_000;

/** Shows one log in an element. */
export class Ring {
  readonly #view: HTMLElement;
  readonly #space: HTMLElement;
  readonly #rows: HTMLElement;
  readonly #log: LogHandle;
  readonly #known = new Map<number, MarkedRow>();
  #elements: HTMLElement[] = [];
  #state: LogState | undefined;
  #options: RingOptions;
  #rowHeight = 20;
  #frame = 0;
  #asked = '';
  #isFollowing: boolean;
  readonly #onFollow: (isFollowing: boolean) => void;
  #cols = 0;
  /** The scroll position that following set last. */
  #ownTop = -1;

  constructor(
    view: HTMLElement,
    log: LogHandle,
    options: RingOptions,
    follow: { readonly isOn: boolean; readonly onChange: (isFollowing: boolean) => void },
  ) {
    this.#view = view;
    this.#log = log;
    this.#options = options;
    this.#isFollowing = follow.isOn;
    this.#onFollow = follow.onChange;
    this.#space = document.createElement('div');
    this.#space.className = 'log-space';
    this.#rows = document.createElement('div');
    this.#rows.className = 'log-rows';
    this.#space.append(this.#rows);
    view.replaceChildren(this.#space);
    view.addEventListener('scroll', this.#scrolled, { passive: true });
    view.addEventListener('wheel', this.#wheel, { passive: true });
    this.measure();
  }

  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** The first line on the screen. */
  firstLine = 0;

  update(state: LogState): void {
    // A line that was not complete has changed.
    if (this.#state) this.#known.delete(this.#state.lines - 1);
    if (this.#state && state.firstLine !== this.#state.firstLine) this.#known.clear();
    if (this.#state?.errors !== state.errors || this.#state?.found !== state.found) this.#asked = '';
    this.#state = state;
    this.#request();
  }

  set(options: RingOptions): void {
    const isSame = options.isWrapped === this.#options.isWrapped;
    this.#options = options;
    if (!isSame) this.measure();
    this.#asked = '';
    this.#request();
  }

  /** Forgets the rows, because the query changed. */
  forget(): void {
    this.#known.clear();
    this.#asked = '';
    this.#request();
  }

  /** Measures the view; called when its size changes. */
  measure(): void {
    const probe = document.createElement('div');
    probe.className = 'ln';
    const text = document.createElement('span');
    text.className = 'tx probe';
    text.textContent = '0'.repeat(100);
    probe.append(text);
    this.#rows.append(probe);
    const cell = text.getBoundingClientRect().width / 100;
    this.#rowHeight = probe.getBoundingClientRect().height || 20;
    probe.remove();
    const gutter = this.#gutter();
    const cols = this.#options.isWrapped
      ? Math.max(10, Math.floor((this.#view.clientWidth - gutter - 12) / (cell || 8)))
      : 0;
    if (cols !== this.#cols) {
      this.#cols = cols;
      this.#log.wrap(cols);
    }
    this.#view.style.setProperty('--cols', String(cols));
    const fit = Math.ceil(this.#view.clientHeight / this.#rowHeight) + extraRows;
    while (this.#elements.length < fit) this.#elements.push(document.createElement('div'));
    this.#elements.length = fit;
    this.#rows.replaceChildren(...this.#elements);
    this.#asked = '';
    this.#request();
  }

  #gutter(): number {
    const isNarrow = window.matchMedia('(max-width: 760px)').matches;
    if (isNarrow) return 46;
    return this.#options.times === 'off' ? 62 : 128;
  }

  follow(isOn: boolean): void {
    if (this.#isFollowing !== isOn) this.#onFollow(isOn);
    this.#isFollowing = isOn;
    this.#request();
  }

  /** Scrolls to a line. */
  async show(line: number): Promise<void> {
    this.follow(false);
    const visual = await this.#log.visualOf(line);
    const middle = Math.floor(this.#view.clientHeight / this.#rowHeight / 3);
    this.#scrollTo(Math.max(0, visual - middle));
  }

  close(): void {
    cancelAnimationFrame(this.#frame);
    this.#view.removeEventListener('scroll', this.#scrolled);
    this.#view.removeEventListener('wheel', this.#wheel);
  }

  readonly #wheel = ({ deltaY }: WheelEvent) => {
    if (deltaY < 0 && this.#isFollowing) this.follow(false);
  };

  readonly #scrolled = () => {
    if (this.#isFollowing && Math.abs(this.#view.scrollTop - this.#ownTop) < 2) return;
    const { scrollTop, clientHeight, scrollHeight } = this.#view;
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - 4;
    // After the end there is nothing to follow, but following must still end when the reader scrolls up.
    const mayFollow = this.#state !== undefined && !this.#state.isEnded;
    if (isAtEnd !== this.#isFollowing && (mayFollow || !isAtEnd)) this.follow(isAtEnd);
    this.#request();
  };

  #request(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint();
    });
  }

  // Above 15 million pixels, which browsers do not support, the scroll position is scaled.
  #scale(): number {
    const whole = (this.#state?.visual ?? 0) * this.#rowHeight;
    return Math.max(1, whole / maxHeight);
  }

  #scrollTo(visual: number): void {
    this.#resize();
    this.#view.scrollTop = (visual * this.#rowHeight) / this.#scale();
    this.#request();
  }

  // A browser does not scroll beyond the height that the space has.
  #resize(): void {
    const height = Math.ceil(((this.#state?.visual ?? 0) * this.#rowHeight) / this.#scale());
    const wanted = `${height}px`;
    if (this.#space.style.height !== wanted) this.#space.style.height = wanted;
  }

  #paint(): void {
    const state = this.#state;
    if (!state) return;
    const scale = this.#scale();
    this.#resize();
    if (this.#isFollowing) {
      const bottom = this.#view.scrollHeight - this.#view.clientHeight;
      if (Math.abs(this.#view.scrollTop - bottom) > 1) {
        this.#view.scrollTop = bottom;
        this.#ownTop = this.#view.scrollTop;
      }
    }
    const top = this.#view.scrollTop;
    const firstVisual = Math.max(0, Math.floor((top * scale) / this.#rowHeight) - Math.floor(extraRows / 2));
    if (this.#cols === 0) this.#paintAt(state.firstLine + firstVisual, firstVisual, top, scale);
    else void this.#paintWrapped(firstVisual, top, scale);
  }

  async #paintWrapped(visual: number, top: number, scale: number): Promise<void> {
    const line = await this.#log.lineAtVisual(visual);
    const begin = await this.#log.visualOf(line);
    this.#paintAt(line, begin, top, scale);
  }

  #paintAt(line: number, visual: number, top: number, scale: number): void {
    const state = this.#state;
    if (!state) return;
    const count = Math.min(this.#elements.length, Math.max(0, state.lines - line));
    // With a scaled position the rows are placed relative to the view.
    const offset = scale === 1 ? visual * this.#rowHeight : top + visual * this.#rowHeight - top * scale;
    this.firstLine = line;
    let isMissing = false;
    for (const [index, element] of this.#elements.entries()) {
      const row = index < count ? this.#known.get(line + index) : undefined;
      isMissing ||= index < count && row === undefined;
      paintRow(element, index < count ? (row ?? line + index) : undefined, this.#options);
    }
    this.#rows.style.transform = `translateY(${offset}px)`;
    const asked = `${line} ${count} ${state.lines} ${state.bytes}`;
    if ((isMissing || this.#asked === '') && this.#asked !== asked && count > 0) {
      this.#asked = asked;
      void this.#fetch(Math.max(state.firstLine, line - 40), count + 80);
    }
  }

  async #fetch(from: number, count: number): Promise<void> {
    const rows = await this.#log.rows(from, count);
    if (this.#known.size > keptRows) this.#known.clear();
    for (const row of rows) this.#known.set(row.line, row);
    this.#request();
  }
}
