/** The numbers of `capget` and `capset` on this architecture. */
export const capabilityCalls = process.arch === 'arm64' ? { get: 90, set: 91 } : { get: 125, set: 126 };
