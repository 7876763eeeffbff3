// The rows of a log on the screen. There are a few more elements than fit; scrolling reuses them for other lines.
// 1. the scroll position determines the first row, 2. rows that are not loaded are requested, 3. at most one paint per
// frame. While the page follows the output, the worker sends the last lines with every state, and steps 1 and 2 are
// skipped.
import type { LogHandle } from '../bridge.ts';
import { isNarrow } from '../screen.ts';
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
  /** The height of the view; reading it from the element in every frame would make the browser lay out twice. */
  #viewHeight = 0;
  /** Where the view begins on the page. */
  #viewTop: number | undefined;
  /** The scroll position after the last scroll event. A browser changes the position of a view that grows at its end. */
  #lastTop = 0;
  #spaceHeight = -1;
  #frame = 0;
  #asked = '';
  #isFollowing: boolean;
  readonly #onFollow: (isFollowing: boolean) => void;
  #cols = 0;
  /** The scroll position that was last set to follow the output. */
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

  /** The state from which the rows are painted; that of `ShownLog` may be older. */
  get state(): LogState | undefined {
    return this.#state;
  }

  /** The first line on the screen. */
  firstLine = 0;

  update(state: LogState): void {
    // An incomplete line has changed if new bytes have arrived; otherwise it must not be requested again.
    if (this.#state && this.#state.bytes !== state.bytes) this.#known.delete(this.#state.lines - 1);
    if (this.#state && state.firstLine !== this.#state.firstLine) this.#known.clear();
    if (this.#state?.errors !== state.errors || this.#state?.found !== state.found) this.#asked = '';
    const moved = this.#state ? state.shift - this.#state.shift : 0;
    this.#state = state;
    if (moved !== 0 && !this.#isFollowing) this.#moveBy(moved);
    this.#request();
  }

  // Rows were added or dropped before the first one: scroll by the same amount, so that the visible lines stay in
  // place.
  #moveBy(rows: number): void {
    const top = this.#view.scrollTop + (rows * this.#rowHeight) / this.#scale();
    this.#resize();
    this.#setTop(Math.max(0, top));
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

  /** Measures the view, when its size has changed. */
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
    this.#viewHeight = this.#view.clientHeight;
    probe.remove();
    this.#wrapAt(cell);
    const fit = Math.ceil(this.#viewHeight / this.#rowHeight) + extraRows;
    while (this.#elements.length < fit) this.#elements.push(document.createElement('div'));
    this.#elements.length = fit;
    this.#rows.replaceChildren(...this.#elements);
    this.#asked = '';
    this.#stayInPlace();
    this.#tellFollow();
    this.#request();
  }

  // When something above the view changes its height, the view begins elsewhere: scroll by as much, so that the rows that
  // the reader looks at stay where they are on the screen.
  #stayInPlace(): void {
    const before = this.#viewTop;
    this.#viewTop = this.#view.getBoundingClientRect().top + window.scrollY;
    const moved = before === undefined ? 0 : this.#viewTop - before;
    if (this.#isFollowing || moved === 0) return;
    this.#setTop(Math.max(0, this.#lastTop + moved / this.#scale()));
  }

  #setTop(top: number): void {
    this.#view.scrollTop = top;
    this.#lastTop = top;
  }

  #wrapAt(cellWidth: number): void {
    const width = this.#view.clientWidth - this.#gutter() - 12;
    const cols = this.#options.isWrapped ? Math.max(10, Math.floor(width / (cellWidth || 8))) : 0;
    this.#view.style.setProperty('--cols', String(cols));
    if (cols === this.#cols) return;
    this.#cols = cols;
    this.#log.wrap(cols);
  }

  #gutter(): number {
    if (isNarrow.value) return 46;
    return this.#options.times === 'off' ? 62 : 128;
  }

  follow(isOn: boolean): void {
    if (this.#isFollowing !== isOn) this.#onFollow(isOn);
    this.#isFollowing = isOn;
    this.#asked = '';
    this.#tellFollow();
    this.#request();
  }

  #tellFollow(): void {
    this.#log.follow(this.#isFollowing ? this.#elements.length - extraRows + 1 : 0);
  }

  /** Scrolls to a line. */
  async show(line: number): Promise<void> {
    this.follow(false);
    const visual = await this.#log.visualOf(line);
    const middle = Math.floor(this.#viewHeight / this.#rowHeight / 3);
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
    const { scrollTop } = this.#view;
    // Browsers round a position; if the rounded one were kept, repeated changes would add up.
    if (Math.abs(scrollTop - this.#lastTop) >= 1) this.#lastTop = scrollTop;
    if (this.#isFollowing && Math.abs(scrollTop - this.#ownTop) < 2) return;
    // A view that gets another size scrolls as well; `measure` follows it.
    if (this.#isFollowing && this.#view.clientHeight !== this.#viewHeight) return;
    const isAtEnd = scrollTop + this.#viewHeight >= this.#spaceHeight - 4;
    // An ended command has no new output, but scrolling up must still turn following off.
    const mayFollow = this.#state?.isLive === true && !this.#state.isEnded;
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
    this.#setTop((visual * this.#rowHeight) / this.#scale());
    this.#request();
  }

  // A browser does not scroll beyond the height of the spacer.
  #resize(): void {
    const height = Math.ceil(((this.#state?.visual ?? 0) * this.#rowHeight) / this.#scale());
    if (height === this.#spaceHeight) return;
    this.#spaceHeight = height;
    this.#space.style.height = `${height}px`;
  }

  #paint(): void {
    const state = this.#state;
    if (!state) return;
    this.#resize();
    if (this.#isFollowing && state.tail.length > 0) this.#paintTail(state);
    else this.#paintPlace(state);
  }

  #paintPlace(state: LogState): void {
    const scale = this.#scale();
    const top = this.#view.scrollTop;
    const firstVisual = Math.max(0, Math.floor((top * scale) / this.#rowHeight) - Math.floor(extraRows / 2));
    if (this.#cols === 0) this.#paintAt(state.firstLine + firstVisual, firstVisual, top, scale);
    else void this.#paintWrapped(firstVisual, top, scale);
  }

  // All other writes come before the scroll position, so that the browser lays out once.
  #paintTail({ tail, tailVisual, visual }: LogState): void {
    this.firstLine = tail[0]?.line ?? 0;
    this.#keep(tail);
    for (const [index, element] of this.#elements.entries()) paintRow(element, tail[index], this.#options);
    this.#move(this.#spaceHeight - (visual - tailVisual) * this.#rowHeight);
    this.#ownTop = Math.max(0, this.#spaceHeight - this.#viewHeight);
    this.#view.scrollTop = this.#ownTop;
  }

  async #paintWrapped(visual: number, top: number, scale: number): Promise<void> {
    const line = await this.#log.lineAtVisual(visual);
    const begin = await this.#log.visualOf(line);
    if (!this.#isFollowing || this.#state?.tail.length === 0) this.#paintAt(line, begin, top, scale);
  }

  #paintAt(line: number, visual: number, top: number, scale: number): void {
    const state = this.#state;
    if (!state) return;
    const count = Math.min(this.#elements.length, Math.max(0, state.lines - line));
    this.firstLine = line;
    let isMissing = false;
    for (const [index, element] of this.#elements.entries()) {
      const row = index < count ? this.#known.get(line + index) : undefined;
      isMissing ||= index < count && row === undefined;
      paintRow(element, index < count ? (row ?? line + index) : undefined, this.#options);
    }
    // With a scaled position the rows are placed relative to the view.
    this.#move(scale === 1 ? visual * this.#rowHeight : top + visual * this.#rowHeight - top * scale);
    const asked = `${line} ${count} ${state.lines} ${state.bytes}`;
    if ((isMissing || this.#asked === '') && this.#asked !== asked && count > 0) {
      this.#asked = asked;
      void this.#fetch(Math.max(state.firstLine, line - 40), count + 80);
    }
  }

  #move(offset: number): void {
    this.#rows.style.transform = `translateY(${offset}px)`;
  }

  #keep(rows: readonly MarkedRow[]): void {
    if (this.#known.size > keptRows) this.#known.clear();
    for (const row of rows) this.#known.set(row.line, row);
  }

  async #fetch(from: number, count: number): Promise<void> {
    const rows = await this.#log.rows(from, count);
    // A row that is painted again gets a new element for its link, and the focus would be lost.
    this.#keep(rows.filter((row) => JSON.stringify(row) !== JSON.stringify(this.#known.get(row.line))));
    this.#request();
  }
}
