/** The charts' time ranges, in seconds, with their bucket counts. */
export const timeRanges = [
  { key: '15m', name: '15 minutes', seconds: 900, buckets: 60 },
  { key: '1h', name: '1 hour', seconds: 3600, buckets: 60 },
  { key: '1d', name: '1 day', seconds: 86_400, buckets: 96 },
  { key: '7d', name: '7 days', seconds: 604_800, buckets: 84 },
] as const;

export type TimeRange = (typeof timeRanges)[number];

interface Summary {
  readonly since: number;
  readonly until: number;
  readonly step_s: number;
}

/** Returns all a summary's times with their buckets. Undefined where nothing was counted. */
export function alignBuckets<B extends { readonly at: number }>(
  summary: (Summary & { readonly buckets: readonly B[] }) | undefined,
): { readonly times: readonly number[]; readonly buckets: readonly (B | undefined)[] } {
  if (!summary) return { times: [], buckets: [] };
  const { since, until, step_s, buckets } = summary;
  const byTime = new Map(buckets.map((bucket) => [bucket.at, bucket]));
  const starts = Array.from({ length: Math.floor((until - since) / step_s) + 1 }, (_, index) => since + index * step_s);
  return { times: starts.map((at) => at * 1000), buckets: starts.map((at) => byTime.get(at)) };
}
