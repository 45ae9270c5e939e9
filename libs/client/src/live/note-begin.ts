import type { Follower } from './hub.ts';

/**
 * Notes whether a follower has begun. After `resync` it begins again: if the connection ends before the snapshot, it
 * must not resume after the `resync` cursor, since the snapshot would never come.
 */
export function noteBegin(follower: Follower, type: string): void {
  if (type !== 'resync') follower.hasBegun = true;
  else if (follower.request.snapshot) follower.hasBegun = false;
}
