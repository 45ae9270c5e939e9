/** Internal paths for `LiveReads` at the records service. */
export const livePaths = {
  open: '/internal/live/open',
  snapshot: '/internal/live/snapshot',
  candidates: '/internal/live/candidates',
  judge: '/internal/live/judge',
  isCurrent: '/internal/live/is-current',
  channel: '/internal/live/channel',
} as const;
