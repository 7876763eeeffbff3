/** A select field for a filter; the first option, with an empty value, means no filter. */
export function FilterSelect({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly onChange: (value: string) => void;
}) {
  const isListed = options.some(([one]) => one === value);
  return (
    <label class="choose">
      <span class="sr">{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
        {!isListed && <option value={value}>{value}</option>}
      </select>
    </label>
  );
}
