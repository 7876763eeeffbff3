/** One of the two views of a command. */
export function Tab({
  name,
  now: chosen,
  label,
  onChoose,
}: {
  readonly name: 'output' | 'records';
  readonly now: string;
  readonly label: string;
  readonly onChoose: (name: 'output' | 'records') => void;
}) {
  const isChosen = name === chosen;
  const other = name === 'output' ? 'records' : 'output';
  return (
    <button
      role="tab"
      type="button"
      id={`tab-${name}`}
      aria-selected={isChosen}
      aria-controls={isChosen ? `panel-${name}` : undefined}
      tabIndex={isChosen ? 0 : -1}
      onClick={() => onChoose(name)}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
        onChoose(other);
        document.getElementById(`tab-${other}`)?.focus();
      }}
    >
      {label}
    </button>
  );
}
