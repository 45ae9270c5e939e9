import type { Client } from './client.ts';
import type { IdsByCollection } from './data-set.ts';

/** A change and the event that it causes. */
interface Change {
  readonly event: string;
  /** The record's `code`. */
  readonly code: string;
  /** Makes the change. Calls `onSend` right before its request. */
  make(admin: Client, onSend: () => void): Promise<void>;
}

const visited = ['IS', 'JP', 'KE', 'NZ', 'PE', 'CH'];

/** Not in the data set. The next run removes one that an interrupted run left. */
const atlantis = { code: 'XA', name: 'Atlantis', capital: 'Poseidonis', flag: '🏝️', location: { lat: 31.3, lng: -24 } };

const path = '/api/v1/records/countries';

/** Plans the changes: updates to some countries, and another one's create, update and delete. */
export function planChanges(ids: IdsByCollection): Change[] {
  const countries = ids.countries ?? new Map<string, string>();
  let atlantisId = '';
  const visits = visited.map(
    (code): Change => ({
      event: 'countries.update',
      code,
      async make(admin, onSend) {
        const record = `${path}/${countries.get(code)}`;
        const { visits } = await admin.call<{ visits: number | null }>('GET', record);
        onSend();
        await admin.call('PATCH', record, { visits: (visits ?? 0) + 1, visited_at: new Date().toISOString() });
      },
    }),
  );
  return [
    ...visits,
    {
      event: 'countries.create',
      code: atlantis.code,
      async make(admin, onSend) {
        onSend();
        const { id } = await admin.call<{ id: string }>('POST', path, { ...atlantis, status: 'user-assigned' });
        atlantisId = id;
      },
    },
    {
      event: 'countries.update',
      code: atlantis.code,
      async make(admin, onSend) {
        onSend();
        await admin.call('PATCH', `${path}/${atlantisId}`, { area_km2: 12_000 });
      },
    },
    {
      event: 'countries.delete',
      code: atlantis.code,
      async make(admin, onSend) {
        onSend();
        await admin.call('DELETE', `${path}/${atlantisId}`);
      },
    },
  ];
}

/** Deletes the country that an interrupted run left. */
export async function removeLeftovers(admin: Client, ids: IdsByCollection): Promise<void> {
  const id = ids.countries?.get(atlantis.code);
  if (id) await admin.call('DELETE', `${path}/${id}`);
}
