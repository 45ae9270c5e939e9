import { readerOf } from '@recordbus/accounts';
import { AppError } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { ProfileMap } from '@recordbus/settings';
import type { Profile } from '../identity/provider-profile.ts';

/** Returns a new account's fields from the profile. Values that a field refuses are left out (oauth §4.2). */
export async function profileFields(
  collection: Collection,
  map: ProfileMap,
  profile: Profile,
): Promise<Record<string, unknown>> {
  const accepted: [string, unknown][] = [];
  for (const [name, member] of Object.entries(map)) {
    const value = profile[member];
    if (value !== null && (await isAccepted(collection, name, value))) accepted.push([name, value]);
  }
  return Object.fromEntries(accepted);
}

async function isAccepted(collection: Collection, name: string, value: unknown): Promise<boolean> {
  try {
    await readerOf(collection).readChange(Object.fromEntries([[name, value]]));
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}
