import { setTimeout } from 'node:timers/promises';
import { findUserById, visibleRecord } from '@recordbus/accounts';
import type { RequestContext } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { ProfileMap } from '@recordbus/settings';
import type { AuthParts } from '../auth-parts.ts';
import type { Profile } from '../identity/provider-profile.ts';
import type { SignedIn } from '../sign-in/complete-sign-in.ts';

/** How long a sign-in's answer waits for the picture (oauth §4.4). */
const waitMs = 3000;

interface NewUser {
  readonly id: string;
  readonly profile: Profile;
  /** The fields that the app sent. They take nothing from the profile. */
  readonly record: Readonly<Record<string, unknown>>;
}

/**
 * Stores the provider's picture in a new user's file fields that the settings name; returns the session with the
 * current record (oauth §4.4). Never throws: a picture that cannot be fetched is a warning in the log.
 */
export async function withPicture(
  parts: Pick<
    AuthParts,
    'accountHooks' | 'database' | 'settings' | 'encryption' | 'schema' | 'inBackground' | 'log' | 'nowSec'
  >,
  collection: Collection,
  { id, profile, record }: NewUser,
  session: SignedIn,
  context: RequestContext,
): Promise<SignedIn> {
  const map = parts.settings.getNamed('oauth2.profile.<collection>', collection.name);
  const fields = pictureFields(collection, map).filter((name) => !Object.hasOwn(record, name));
  const { avatar_url: url } = profile;
  // When one identity is exchanged in parallel, the exchange that created the user requests the picture.
  const isNew = 'record' in session && session.record.id === id;
  if (!isNew || url === null || fields.length === 0) return session;
  const warn = (error: unknown) =>
    parts.log.warn({ err: error, collection: collection.name, user: id }, "cannot store a new user's picture");
  const stored = parts.accountHooks.takePicture(collection.name, { id, url, fields }, context).then(() => true);
  const settled = stored.catch(warn);
  parts.inBackground(async () => void (await settled));
  if (!(await Promise.race([settled, setTimeout(waitMs, false, { ref: false })]))) return session;
  const current = await readRecord(parts, collection, id).catch(warn);
  return current ? { ...session, record: current } : session;
}

const pictureFields = ({ fields }: Collection, map: ProfileMap): string[] =>
  fields.filter(({ name, type }) => type === 'file' && map[name] === 'avatar_url').map(({ name }) => name);

async function readRecord(
  { database, nowSec, ...deps }: Pick<AuthParts, 'database' | 'encryption' | 'schema' | 'nowSec'>,
  collection: Collection,
  id: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const user = await findUserById(database.query, collection, id);
  const session = { factors: ['oauth2'], signedInAtSec: nowSec() };
  return user && visibleRecord(database.query, deps, collection, user, session);
}
