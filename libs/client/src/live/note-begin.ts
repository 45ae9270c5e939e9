import type { Follower } from './hub.ts';

/**
 * Notes what a message says of a follower's beginning. After `resync` its records are read again: a connection that ends
 * before the snapshot must not resume behind the cursor of the `resync`, since nothing would bring the snapshot.
 */
export function noteBegin(follower: Follower, type: string): void {
  if (type !== 'resync') follower.hasBegun = true;
  else if (follower.request.snapshot) follower.hasBegun = false;
}
