/** Formats a whole number with thousands separators: `12,345`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US', { maximumFractionDigits: 20 });
}

/** Formats a size with a decimal unit: `999 bytes`, `12.3 kB`, `255.9 MB`; whole mebibytes, as limits have, are `10 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes > 0 && bytes % mebibyte === 0) return `${bytes / mebibyte} MiB`;
  if (bytes < 1000) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  const steps = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** steps).toFixed(1)} ${units[steps - 1]}`;
}

const mebibyte = 1_048_576;
const units = ['kB', 'MB', 'GB', 'TB'] as const;
