import { notFound } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import { rightsOf } from '@recordbus/request/key-rights';
import { z } from 'zod';
import { setting, settingGroup } from './setting.ts';

const audiences = ['all', 'users', 'admins'] as const;

/** Who may read the API document (http §12.3). */
export type ApiAudience = (typeof audiences)[number];

export const openapi = settingGroup('API description', ['gateway', 'admin'], {
  'openapi.audience': setting(
    z.enum(audiences, `must be one of ${audiences.join(', ')}`),
    'all',
    'Who may read /api/v1/openapi.json and /docs: all, users (admins too) or admins. Others get 404.',
  ),
});

const readers: Readonly<Record<ApiAudience, ReadonlySet<Principal['type']>>> = {
  all: new Set(['guest', 'user', 'admin', 'service']),
  users: new Set(['user', 'admin', 'service']),
  admins: new Set(['admin']),
};

/** Throws 404, as for an unknown path, for callers whom the setting excludes. */
export function admitReader(principal: Principal, audience: ApiAudience): void {
  const isReader = readers[audience].has(principal.type) || seesSchema(principal);
  if (!isReader) throw notFound('route');
}

/** Whether a service key may read all definitions anyway. */
const seesSchema = (principal: Principal): boolean =>
  principal.type === 'service' && rightsOf(principal.scopes).has('collections:read');
