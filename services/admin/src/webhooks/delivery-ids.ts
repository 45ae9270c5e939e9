/** Delivery ids are UUIDv7 (`system.delivery_id`, `system.new_id`), so a time range is an id range. */
const idAtMs = (atMs: number): string => {
  const hex = Math.min(atMs, 0xffff_ffff_ffff).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};

/** A second's smallest id (unix). */
export const firstIdAt = (atSec: number): string => idAtMs(atSec * 1000);

/** The smallest id after a second (unix). */
export const firstIdAfter = (atSec: number): string => idAtMs((atSec + 1) * 1000);
