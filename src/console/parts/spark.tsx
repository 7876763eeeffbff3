/** A line of figures as an area; `label` says what it shows. */
export function Spark({
  values,
  label,
  tone = 'run',
  height = 22,
  isDecorative = false,
}: {
  readonly values: readonly number[];
  readonly label: string;
  readonly tone?: string;
  readonly height?: number;
  /** True if the text beside it has the same content. */
  readonly isDecorative?: boolean;
}) {
  const shown = values.length < 2 ? [0, ...values, ...values].slice(0, 2) : values;
  const most = Math.max(1, ...shown);
  const width = shown.length - 1;
  const points = shown.map((value, x) => `${x},${(height - 1 - (value / most) * (height - 3)).toFixed(1)}`);
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: it has a label, or the words beside it say the same
    <svg
      class={`spark ${tone}`}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      {...(isDecorative ? { 'aria-hidden': true } : { role: 'img' as const, 'aria-label': label })}
    >
      <path class="fill" d={`M0,${height}L${points.join('L')}L${width},${height}Z`} />
      <path class="edge" d={`M${points.join('L')}`} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
