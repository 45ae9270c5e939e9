import { createHash, randomBytes } from 'node:crypto';
import type { Query } from '@recordbus/database';
import { unauthenticated } from '@recordbus/errors';
import { z } from 'zod';
import { type Owner, webhookOwner } from './webhook-owner.ts';

const seconds = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.int(message).min(min, message).max(max, message);
};
const colour = z.string().regex(/^#[0-9a-f]{6}$/i, 'must be a colour like #1a2b3c');

/** How the portal looks: like the product that it is part of (webhooks §10.2). */
const portalTheme = z.strictObject({
  title: z.string('must be a string').trim().max(100, 'must have at most 100 characters').optional(),
  mode: z.enum(['system', 'light', 'dark'], 'must be system, light or dark').optional(),
  accent: colour.optional(),
  bg_app: colour.optional(),
  bg_panel: colour.optional(),
  text_primary: colour.optional(),
  text_secondary: colour.optional(),
});

/** A new link's body (webhooks §10.1). */
export const newPortalLink = z.strictObject({
  owner: webhookOwner,
  expires_s: seconds(60, 86_400).default(900).describe('how long the link can be opened'),
  session_s: seconds(60, 86_400).default(3600).describe('how long the opened portal works'),
  theme: portalTheme.default({}),
});

/** What opening a link gives. */
export const openedPortal = z.object({
  session: z.string().describe('the value for the header X-Portal-Session'),
  owner: webhookOwner,
  expires_at: z.number().describe('unix seconds'),
  theme: portalTheme,
});

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const newToken = (): string => randomBytes(32).toString('base64url');

/** Makes a link's token, and drops links and sessions that have expired. */
export async function createPortalLink(
  query: Query,
  { collection, id }: Pick<Owner, 'collection' | 'id'>,
  { expires_s, session_s, theme }: z.output<typeof newPortalLink>,
): Promise<{ readonly token: string; readonly expiresAtSec: number }> {
  const token = newToken();
  await query({
    text: 'delete from system.portal_links where coalesce(session_expires_at, expires_at) < now()',
    values: [],
  });
  const [row] = await query<{ at: number }>({
    text: `insert into system.portal_links (link_hash, owner_collection, owner_id, theme, expires_at, session_seconds)
      values ($1, $2, $3, $4, now() + make_interval(secs => $5), $6)
      returning floor(extract(epoch from expires_at))::bigint as at`,
    values: [hashOf(token), collection.id, id, theme, expires_s, session_s],
  });
  return { token, expiresAtSec: row?.at ?? 0 };
}

/** Opens a link, once. Throws 401 for one that was opened before, has expired or never existed. */
export async function openPortalLink(query: Query, token: string): Promise<z.output<typeof openedPortal>> {
  const session = newToken();
  const [opened] = await query<Omit<z.output<typeof openedPortal>, 'session'>>({
    text: `update system.portal_links l
      set session_hash = $2, session_expires_at = now() + make_interval(secs => session_seconds)
      from system.collections c
      where link_hash = $1 and session_hash is null and expires_at > now() and c.id = l.owner_collection
      returning json_build_object('collection', c.name, 'id', l.owner_id) as owner, l.theme,
        floor(extract(epoch from l.session_expires_at))::bigint as expires_at`,
    values: [hashOf(token), hashOf(session)],
  });
  if (!opened) throw unauthenticated('the link was used or has expired; ask for a new one');
  return { session, ...opened };
}

/** Whether the portal session is open and belongs to this owner. */
export async function isPortalSession(
  query: Query,
  session: string,
  { collection, id }: Pick<Owner, 'collection' | 'id'>,
): Promise<boolean> {
  const rows = await query({
    name: 'portal.session',
    text: `select 1 from system.portal_links
      where session_hash = $1 and session_expires_at > now() and owner_collection = $2 and owner_id = $3`,
    values: [hashOf(session), collection.id, id],
  });
  return rows.length > 0;
}
