/** Formats a limit in bytes for messages, without a needless fraction: `256 MB`. */
export function formatLimit(bytes: number): string {
  const unit = units.find(({ factor }) => bytes >= factor) ?? lastUnit;
  const value = bytes / unit.factor;
  return `${value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${unit.name}`;
}

const lastUnit = { name: 'bytes', factor: 1 };
const units = [
  { name: 'GB', factor: 1e9 },
  { name: 'MB', factor: 1e6 },
  { name: 'kB', factor: 1e3 },
];
